"""The table `vocabulary`: how many pages, sections and chunks have each word.

A commit counts the words of the pages that it changes, as they were and as they become, and adds the
difference. Counts are always made from the stored columns, so both sides of the difference agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain
from operator import sub
from typing import Any

import sqlalchemy as sa

from ...errors import DamagedPage
from ...search.word_counts import WordCounter
from ...types import FrontMatter, Vocabulary, WordCounts
from .rows import report_damage, to_front_matter
from .statements import among, increment, upsert
from .tables import documents, pages, vocabulary

VERSION_KEY = "vocabulary_version"

ROW_BATCH = 1000
"""How many rows are read or written at a time."""

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
    return _count(connection, statement, {"among": list(document_ids)})


def replace_counts(connection: sa.Connection, old: Counts, new: Counts) -> None:
    """Subtract the old counts and add the new ones; words that no page has any more are deleted."""
    changed = [word for word in sorted(old.keys() | new.keys()) if old.get(word) != new.get(word)]
    for start in range(0, len(changed), ROW_BATCH):
        rows = []
        for word in changed[start : start + ROW_BATCH]:
            differences = map(sub, new.get(word, _NONE), old.get(word, _NONE))
            rows.append({"word": word, **dict(zip(_COUNTS, differences, strict=True))})
        connection.execute(_ADD_COUNTS, rows)
    if removed := sorted(old.keys() - new.keys()):
        statement = _DELETE_UNUSED.where(among(vocabulary.c.word, connection.dialect.name))
        connection.execute(statement, {"among": removed})


def recount(connection: sa.Connection) -> None:
    """Replace all counts by those of the stored pages."""
    raise_version(connection)
    counts = _count(connection, _STORED, {})
    connection.execute(sa.delete(vocabulary))
    replace_counts(connection, {}, counts)


def read_vocabulary(connection: sa.Connection) -> Vocabulary:
    """Read all words with their counts, a few at a time: a large book has some hundred thousand."""
    words: dict[str, WordCounts] = {}
    # Most words of a large book are rare: they share a few counts.
    shared: dict[WordCounts, WordCounts] = {}
    chunks = 0
    with connection.execute(_VOCABULARY) as rows:
        for chunks, word, titles, headings, texts in chain.from_iterable(rows.partitions(ROW_BATCH)):  # noqa: B007 - every row has the number of chunks
            if word is not None:
                counts = WordCounts(titles, headings, texts)
                words[word] = shared.setdefault(counts, counts)
    return Vocabulary(words, chunks)


def _count(connection: sa.Connection, statement: sa.Select[Any], parameters: Mapping[str, object]) -> Counts:
    """Count the words of the pages that a statement reads, row by row: they may be all pages.

    A damaged row counts nothing: a commit that replaces it must not fail.
    """
    counter = WordCounter()
    page = None
    options = {"yield_per": ROW_BATCH}
    with connection.execute(statement, parameters, execution_options=options) as rows:
        for row in rows:
            if row.document_id != page:
                page = row.document_id
                counter.begin_page(str(row.title))
            if row.snippet is not None:
                with suppress(DamagedPage), report_damage(row.document_id):
                    front_matter = to_front_matter(row.front_matter or {})
                    text = make_searchable_text(row.snippet, row.order_index, front_matter)
                    counter.add_passage(row.section, text)
    return counter.counts()


def make_searchable_text(snippet: str, order_index: int, front_matter: FrontMatter) -> str:
    """Return the text that a chunk is found by: its own, and the front matter above it."""
    return f"{front_matter.text_above(order_index - 1)}\n{snippet}"


_RAISE_VERSION = increment(VERSION_KEY)
_ADD_COUNTS = upsert(vocabulary, add=_COUNTS)
_DELETE_UNUSED = sa.delete(vocabulary).where(*(vocabulary.c[name] <= 0 for name in _COUNTS))

# A page without chunks has one row without a text. Rows of another pipeline have no page.
_STORED = (
    sa.select(
        pages.c.document_id,
        pages.c.title,
        pages.c.front_matter,
        documents.c.section,
        documents.c.snippet,
        documents.c.order_index,
    )
    .select_from(pages.outerjoin(documents, documents.c.document_id == pages.c.document_id))
    .order_by(pages.c.document_id)
)

# One statement, so that counts and number of chunks belong together; without words it has one row.
_CHUNKS = (
    sa.select(sa.func.count().label("chunks"))
    .select_from(documents)
    .where(documents.c.document_id.is_not(None))
    .subquery()
)
_VOCABULARY = sa.select(_CHUNKS.c.chunks, *vocabulary.c).select_from(_CHUNKS.outerjoin(vocabulary, sa.true()))
