"""Write pages and their chunks to the tables in batches of rows, so that any number needs little memory."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from ...errors import InvalidInput
from ...ports import PageWrite
from ...search.word_counts import WordCounter
from .rows import Row, from_chunk, from_page
from .statements import among, upsert
from .tables import documents, pages
from .vocabulary import ROW_BATCH, make_searchable_text


def write_pages(
    connection: sa.Connection, writes: Iterable[tuple[str, PageWrite]], words: WordCounter | None = None
) -> None:
    """Write pages, each with its source, and delete the chunks that they no longer have.

    Args:
        connection: A connection with a transaction.
        writes: The pages with their sources.
        words: Counts the words of the pages.

    Raises:
        InvalidInput: A value can't be stored, or a page or chunk occurs twice. The transaction must end.
    """
    writer = _PageWriter(connection, words)
    for source, write in writes:
        writer.add(source, write)
    writer.finish_batch()


class _PageWriter:
    """Collects rows, and writes them when there are many."""

    def __init__(self, connection: sa.Connection, words: WordCounter | None) -> None:
        self._connection = connection
        self._words = words
        self._document_ids: set[str] = set()
        self._batch_documents: list[str] = []
        self._batch_chunks: set[str] = set()
        """The chunks of the pages that were added since the last batch ended."""
        self._page_rows: list[Row] = []
        self._chunk_rows: list[Row] = []

    def add(self, source: str, write: PageWrite) -> None:
        """Add a page and its chunks."""
        page = write.page
        self._page_rows.append(from_page(source, page, write.page_hash))
        _add_unique("document_id", page.document_id, self._document_ids)
        self._batch_documents.append(page.document_id)
        if self._words is not None:
            self._words.begin_page(page.title)
        for chunk in write.chunks:
            row = from_chunk(page, chunk)
            _add_unique("chunk_id", chunk.chunk_id, self._batch_chunks)
            if self._words is not None:
                text = make_searchable_text(row["snippet"], row["order_index"], page.front_matter)
                self._words.add_passage(row["section"], text)
            self._chunk_rows.append(row)
            if len(self._chunk_rows) >= ROW_BATCH:
                self._put_rows()
        if len(self._batch_chunks) + len(self._batch_documents) >= ROW_BATCH:
            self.finish_batch()

    def finish_batch(self) -> None:
        """Write the rows that wait, and delete the stale chunks of the pages of this batch."""
        if not self._batch_documents:
            return
        self._put_rows()
        dialect = self._connection.dialect.name
        stored = sa.select(documents.c.chunk_id).where(among(documents.c.document_id, dialect))
        existing = self._connection.scalars(stored, {"among": self._batch_documents})
        if stale := sorted(set(existing) - self._batch_chunks):
            delete = sa.delete(documents).where(among(documents.c.chunk_id, dialect))
            self._connection.execute(delete, {"among": stale})
        self._batch_documents, self._batch_chunks = [], set()

    def _put_rows(self) -> None:
        # Pages first: the chunks refer to them.
        for statement, rows in ((_PUT_PAGE, self._page_rows), (_PUT_CHUNK, self._chunk_rows)):
            if rows:
                self._connection.execute(statement, rows)
                rows.clear()


def _add_unique(name: str, value: str, values: set[str]) -> None:
    if value in values:
        raise InvalidInput(name, f"{value!r} occurs twice")
    values.add(value)


_PUT_PAGE = upsert(pages)
_PUT_CHUNK = upsert(documents, keep=["created_at"])
