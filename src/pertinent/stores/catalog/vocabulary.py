"""The table `vocabulary`: how many pages, sections and chunks have each word.

A commit counts the words of the pages that it changes, as they were and as they become, and adds the
difference. Counts are always made from the stored columns, so both sides of the difference agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import sub
from typing import Any

import sqlalchemy as sa

from ...search.word_counts import count_words
from ...types import Vocabulary, WordCounts
from .rows import Row, to_front_matter
from .statements import among, upsert
from .tables import documents, pages, vocabulary

VERSION_KEY = "vocabulary_version"

Counts = Mapping[str, WordCounts]

_COUNTS = ("titles", "headings", "texts")
_NONE = WordCounts(0, 0, 0)


def raise_version(connection: sa.Connection) -> None:
    """Raise the version of the vocabulary; other writers wait until this transaction ends.

    So no other transaction changes pages or counts between reading and writing them.
    """
    connection.execute(_RAISE_VERSION)


def count_stored(connection: sa.Connection, document_ids: Iterable[str]) -> Counts:
    """Count the words of these pages as they are stored."""
    statement = _STORED.where(among(pages.c.document_id, connection.dialect.name))
    return _count(connection.execute(statement, {"among": list(document_ids)}).all())


def count_rows(page_rows: Iterable[Row], chunk_rows: Iterable[Row]) -> Counts:
    """Count the words of pages that are going to be stored."""
    by_id = {row["document_id"]: row for row in page_rows}
    passages = (
        (document_id, row["section"], _searched_text(row, by_id[document_id]["front_matter"]))
        for row in chunk_rows
        for document_id in [row["document_id"]]
    )
    return count_words({document_id: row["title"] for document_id, row in by_id.items()}, passages)


def replace_counts(connection: sa.Connection, old: Counts, new: Counts) -> None:
    """Subtract the old counts and add the new ones; words that no page has any more are deleted."""
    changes = []
    for word in sorted(old.keys() | new.keys()):
        old_counts, new_counts = old.get(word, _NONE), new.get(word, _NONE)
        if old_counts != new_counts:
            differences = map(sub, new_counts, old_counts)
            changes.append({"word": word, **dict(zip(_COUNTS, differences, strict=True))})
    if changes:
        connection.execute(_ADD_COUNTS, changes)
    if removed := sorted(old.keys() - new.keys()):
        statement = _DELETE_UNUSED.where(among(vocabulary.c.word, connection.dialect.name))
        connection.execute(statement, {"among": removed})


def recount(connection: sa.Connection) -> None:
    """Replace all counts by those of the stored pages."""
    raise_version(connection)
    connection.execute(sa.delete(vocabulary))
    replace_counts(connection, {}, _count(connection.execute(_STORED).all()))


def to_vocabulary(rows: Sequence[Any]) -> Vocabulary:
    """Build the vocabulary from the rows of `VOCABULARY`."""
    words = {
        row.word: WordCounts(row.titles, row.headings, row.texts) for row in rows if row.word is not None
    }
    return Vocabulary(words, rows[0].chunks)


def _count(rows: Sequence[Any]) -> Counts:
    return count_words(
        {row.document_id: row.title for row in rows},
        (
            (row.document_id, row.section, _searched_text(row._mapping, row.front_matter))
            for row in rows
            if row.snippet is not None
        ),
    )


def _searched_text(chunk_row: Mapping[str, Any], front_matter: Mapping[str, Any] | None) -> str:
    """Return the text of a chunk; the first one of a page is also found by the front matter."""
    text: str = chunk_row["snippet"]
    if chunk_row["order_index"] != 1 or not front_matter:
        return text
    return f"{to_front_matter(front_matter).searchable_text}\n{text}"


_RAISE_VERSION = sa.text(
    f"INSERT INTO meta (key, value) VALUES ('{VERSION_KEY}', '1') "  # noqa: S608 - a constant
    "ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(meta.value AS BIGINT) + 1 AS TEXT)"
)
_ADD_COUNTS = upsert(vocabulary, add=_COUNTS)
_DELETE_UNUSED = sa.delete(vocabulary).where(*(vocabulary.c[name] <= 0 for name in _COUNTS))

# A page without chunks has one row without a text. Rows of another pipeline have no page.
_STORED = sa.select(
    pages.c.document_id,
    pages.c.title,
    pages.c.front_matter,
    documents.c.section,
    documents.c.snippet,
    documents.c.order_index,
).select_from(pages.outerjoin(documents, documents.c.document_id == pages.c.document_id))

# One statement, so that counts and number of chunks belong together; without words it has one row.
_CHUNKS = (
    sa.select(sa.func.count().label("chunks"))
    .select_from(documents)
    .where(documents.c.document_id.is_not(None))
    .subquery()
)
VOCABULARY = sa.select(_CHUNKS.c.chunks, *vocabulary.c).select_from(_CHUNKS.outerjoin(vocabulary, sa.true()))
