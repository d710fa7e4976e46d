"""The catalog in SQL: a SQLite file by default, PostgreSQL by its URL."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, NamedTuple, Self
from uuid import uuid4

import sqlalchemy as sa

from ...identity import storable
from ...ports import Description, Fingerprint, PageRecord, Written
from ...types import Chunk, Page
from . import database
from . import locks as turns
from .migrations import migrate
from .rows import Row, checked, from_chunk, from_page, to_chunk, to_page, unique
from .tables import documents, meta, pages, pending, sources

LOOK_SECONDS = 0.2
"""How often it is looked whether another writer has ended."""


class _Rows(NamedTuple):
    """Pages and their chunks as rows, checked before a transaction begins."""

    pages: list[Row]
    chunks: list[Row]
    document_ids: set[str]
    chunk_ids: set[str]

    @classmethod
    def of(cls, pages: Iterable[tuple[str, Written]]) -> Self:
        page_rows: list[Row] = []
        chunk_rows: list[Row] = []
        for source, (page, page_hash, chunks) in pages:
            page_rows.append(from_page(source, page, page_hash))
            chunk_rows += (from_chunk(page, chunk) for chunk in chunks)
        return cls(page_rows, chunk_rows, unique("document_id", page_rows), unique("chunk_id", chunk_rows))


class SqlCatalog:
    """`ports.Catalog` on SQLAlchemy Core; safe to call from many threads."""

    def __init__(self, engine: sa.Engine) -> None:
        """Take an engine whose database is migrated; `open` makes one from a URL."""
        self._engine = engine
        self._reader, self._writer = database.reader(engine), database.writer(engine)
        dialect = engine.dialect.name
        self._describe = _DESCRIBE[dialect]
        self._file = database.identify_file(engine.url)
        self._chunks_of = sa.select(documents.c.chunk_id).where(_among(documents.c.document_id, dialect))
        self._drop_chunks = sa.delete(documents).where(_among(documents.c.chunk_id, dialect))
        # A page's chunks go with it: the foreign key cascades.
        self._drop_pages = sa.delete(pages).where(_among(pages.c.document_id, dialect))
        self._drop_pending = sa.delete(pending).where(_among(pending.c.document_id, dialect))

    @classmethod
    def open(cls, url: str) -> Self:
        """Connect, and make or migrate the tables where that is needed."""
        engine = database.connect(database.parse(url))
        try:
            with database.translated(engine.url):
                if engine.dialect.name == "sqlite":
                    database.write_ahead(database.reader(engine))
                migrate(database.reader(engine), database.writer(engine))
        except BaseException:
            engine.dispose()
            raise
        return cls(engine)

    @classmethod
    def attach(cls, url: str) -> Self:
        """Take a database as another pipeline made it: nothing is created there, nor connected to yet."""
        return cls(database.connect(database.parse(url)))

    def __repr__(self) -> str:
        return f"SqlCatalog({database.masked(self._engine.url)!r})"

    def pages(self, source: str | None = None) -> list[PageRecord]:
        """Every page, or those of one source, by source and path."""
        if source is not None and not storable(source):
            return []
        wanted = _PAGES if source is None else _PAGES.where(pages.c.source == source)
        # Sorted here, since databases differ in how they order text.
        found = [PageRecord(*row) for row in self._read(wanted)]
        return sorted(found, key=lambda page: (page.source, page.source_path, page.document_id))

    def page(self, document_id: str) -> Page | None:
        """Give back the page as it was committed."""
        rows = self._read(_PAGE, document_id=document_id)
        return to_page(rows[0]) if rows else None

    def chunks(self, document_id: str) -> list[Chunk]:
        """List a page's chunks by position."""
        return [to_chunk(row) for row in self._read(_CHUNKS, document_id=document_id)]

    def chunk(self, chunk_id: str) -> Chunk | None:
        """One chunk; a row of another pipeline has no page, so its url and document id are empty."""
        rows = self._read(_CHUNK, chunk_id=chunk_id)
        return to_chunk(rows[0]) if rows else None

    def describe(self, chunk_ids: Sequence[str]) -> dict[str, Description]:
        """Path, slug and title of each chunk that there is, in one statement."""
        ids = [chunk_id for chunk_id in chunk_ids if storable(chunk_id)]
        if not ids:
            return {}
        # PostgreSQL takes the ids as an array, SQLite as JSON.
        parameter = ids if self._engine.dialect.name == "postgresql" else json.dumps(ids)
        with self._translated(), self._reader.connect() as connection:
            rows = connection.exec_driver_sql(self._describe, (parameter,)).all()
        return {chunk_id: Description(*description) for chunk_id, *description in rows}

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn an error of the database into ours, a SQLite file that was removed included."""
        with database.translated(self._engine.url):
            self._follow_file()
            yield

    def _follow_file(self) -> None:
        """Read from the file that is at the path now: a removed one would be read until the process ends."""
        if self._engine.dialect.name != "sqlite":
            return
        file = database.identify_file(self._engine.url)
        if file != self._file:
            self._engine.dispose()
            self._file = file
        if file is None:
            raise FileNotFoundError("its file is gone")

    @contextmanager
    def alone(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Let no other process write meanwhile; `waiting` is called again and again while one does."""
        on_server = self._engine.dialect.name == "postgresql"
        turn = turns.of_server(self._reader, self.catalog_id()) if on_server else turns.of_file(self._engine)
        with turn as take:
            while not take():
                waiting()
                time.sleep(LOOK_SECONDS)
            yield

    def begin(self, document_ids: Iterable[str]) -> None:
        """Note that these pages are about to change."""
        rows = [checked({"document_id": document_id}) for document_id in document_ids]
        if rows:
            with self._write() as connection:
                connection.execute(_PUT_PENDING, rows)

    def pending(self) -> list[str]:
        """Pages whose change began and did not end."""
        return sorted(row[0] for row in self._read(sa.select(pending.c.document_id)))

    def commit(
        self,
        source: str,
        written: Sequence[Written],
        removed: Sequence[str] = (),
    ) -> None:
        """Record pages and removals and end their change, in one transaction."""
        rows = _Rows.of((source, one) for one in written)
        gone = [document_id for document_id in removed if storable(document_id)]
        with self._write() as connection:
            connection.execute(self._drop_pages, {"among": gone})
            self._record(connection, rows)
            connection.execute(self._drop_pending, {"among": [*rows.document_ids, *gone]})

    def _record(self, connection: sa.Connection, rows: _Rows) -> None:
        if rows.pages:
            connection.execute(_PUT_PAGE, rows.pages)
            known = connection.scalars(self._chunks_of, {"among": list(rows.document_ids)})
            connection.execute(self._drop_chunks, {"among": list(set(known) - rows.chunk_ids)})
        if rows.chunks:
            connection.execute(_PUT_CHUNK, rows.chunks)

    def swap(self, fingerprint: Fingerprint, pages: Iterable[tuple[str, Written]]) -> None:
        """Record every page as a new build of the index has it, and that build as the one in use."""
        rows = _Rows.of(pages)
        before = self.fingerprint()
        with self._write() as connection:
            self._record(connection, rows)
            connection.execute(_PUT_META, _fingerprint_row(fingerprint))
            # A second process may have made the same build: it is no build to go back to.
            if before is not None and before.build != fingerprint.build:
                connection.execute(_PUT_META, _fingerprint_row(before, "previous"))
            connection.execute(sa.delete(meta).where(meta.c.key == "building"))

    def sources(self) -> Mapping[str, str]:
        """Name and location of each source."""
        return dict(sorted((row.name, row.location) for row in self._read(sa.select(sources))))

    def register(self, source: str, location: str) -> None:
        """Remember a source, or where it was read from this time."""
        row = checked({"name": source, "location": location})
        with self._write() as connection:
            connection.execute(_PUT_SOURCE, row)

    def forget(self, source: str) -> None:
        """No longer know a source."""
        with self._write() as connection:
            connection.execute(sa.delete(sources).where(sources.c.name == source))

    def fingerprint(self) -> Fingerprint | None:
        """Say what the index was made with; None before the first run."""
        return self._fingerprint("fingerprint")

    def previous(self) -> Fingerprint | None:
        """What the build was made with that the one in use took the place of."""
        return self._fingerprint("previous")

    def forget_previous(self) -> None:
        """No longer know the build before the one in use; its index was removed."""
        with self._write() as connection:
            connection.execute(sa.delete(meta).where(meta.c.key == "previous"))

    def building(self) -> Fingerprint | None:
        """What the build was begun with that has not come into use."""
        return self._fingerprint("building")

    def begin_build(self, fingerprint: Fingerprint) -> None:
        """Note that a build is being made."""
        with self._write() as connection:
            connection.execute(_PUT_META, _fingerprint_row(fingerprint, "building"))

    def catalog_id(self) -> str:
        """Tell this catalog from every other; the id is made when it is first asked for."""
        if not (rows := self._read(_META, key="catalog_id")):
            with self._write() as connection:
                # Two processes may ask at once: the first one's stays.
                connection.execute(_NEW_META, {"key": "catalog_id", "value": uuid4().hex})
            rows = self._read(_META, key="catalog_id")
        return str(rows[0][0])

    def _fingerprint(self, key: str) -> Fingerprint | None:
        rows = self._read(_META, key=key)
        return Fingerprint(**json.loads(rows[0][0])) if rows else None

    def set_fingerprint(self, fingerprint: Fingerprint) -> None:
        """Record what the index is made with from now on."""
        with self._write() as connection:
            connection.execute(_PUT_META, _fingerprint_row(fingerprint))

    def ping(self) -> None:
        """Run the statement that a search uses; raise CatalogFailure if it fails."""
        self.describe(["ping"])

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def _read(self, statement: sa.Executable, **values: object) -> Sequence[Any]:
        # Nothing can be stored under such a key, so there is nothing to find.
        if any(isinstance(value, str) and not storable(value) for value in values.values()):
            return []
        with self._translated(), self._reader.connect() as connection:
            return connection.execute(statement, values).all()

    @contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        with self._translated(), self._writer.begin() as connection:
            yield connection


def _fingerprint_row(fingerprint: Fingerprint, key: str = "fingerprint") -> dict[str, str]:
    return {"key": key, "value": json.dumps(asdict(fingerprint))}


def _among(column: sa.Column[Any], dialect: str) -> sa.ColumnElement[bool]:
    """`column` is one of the parameter `among`, however many there are, in one constant statement."""
    if dialect == "postgresql":
        return column == sa.any_(sa.bindparam("among", type_=sa.ARRAY(sa.Text)))
    each = sa.func.json_each(sa.bindparam("among", type_=sa.JSON)).table_valued("value")
    return column.in_(sa.select(each.c.value))


def _upsert(table: sa.Table, *, keep: Sequence[str] = ()) -> sa.TextClause:
    """Insert a row, or overwrite all of the one with its key but the columns in `keep`."""
    names = [column.name for column in table.c]
    (key,) = (column.name for column in table.primary_key)
    changes = ", ".join(f"{name} = excluded.{name}" for name in names if name not in (key, *keep))
    return sa.text(
        f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)}) "  # noqa: S608 - the names are our tables' own
        f"ON CONFLICT ({key}) DO {f'UPDATE SET {changes}' if changes else 'NOTHING'}"
    ).bindparams(*(sa.bindparam(column.name, type_=column.type) for column in table.c))


_PUT_PAGE = _upsert(pages)
_PUT_CHUNK = _upsert(documents, keep=["created_at"])
_PUT_PENDING = _upsert(pending)
_PUT_SOURCE = _upsert(sources)
_PUT_META = _upsert(meta)
_NEW_META = _upsert(meta, keep=["value"])

# Seed 003's own statement; SQLite has no arrays.
_DESCRIBE = {
    "postgresql": "SELECT chunk_id, source_path, slug, title FROM documents WHERE chunk_id = ANY(%s)",
    "sqlite": (
        "SELECT chunk_id, source_path, slug, title FROM documents "
        "WHERE chunk_id IN (SELECT value FROM json_each(?))"
    ),
}

_META = sa.select(meta.c.value).where(meta.c.key == sa.bindparam("key"))
_PAGE = sa.select(pages).where(pages.c.document_id == sa.bindparam("document_id"))
_PAGES = sa.select(
    pages.c.document_id,
    pages.c.url,
    pages.c.title,
    pages.c.source,
    pages.c.source_path,
    pages.c.page_hash,
    sa.select(sa.func.count())
    .select_from(documents)
    .where(documents.c.document_id == pages.c.document_id)
    .scalar_subquery(),
)
# What a chunk shares with its page is read from the page, where the title is whole.
_CHUNKS_AND_PAGES = sa.select(
    documents, pages.c.url, pages.c.title.label("page_title"), pages.c.source_type
).select_from(documents.outerjoin(pages, documents.c.document_id == pages.c.document_id))
_CHUNK = _CHUNKS_AND_PAGES.where(documents.c.chunk_id == sa.bindparam("chunk_id"))
_CHUNKS = _CHUNKS_AND_PAGES.where(documents.c.document_id == sa.bindparam("document_id")).order_by(
    documents.c.order_index
)
