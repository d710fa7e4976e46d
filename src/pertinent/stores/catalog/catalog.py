"""The catalog in SQL: a SQLite file by default, PostgreSQL by its URL."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any, Self
from uuid import uuid4

import sqlalchemy as sa

from ...errors import CatalogFailure
from ...identity import is_storable, point_id
from ...ports import Description, Fingerprint, PageRecord, PageWrite
from ...search.word_counts import WordCounter
from ...types import Chunk, CommitIds, Page, PointId, SectionName, Vocabulary
from . import commits, database, locks, queries, vocabulary
from .migrations import migrate
from .page_writes import write_pages
from .rows import check_row, to_chunk, to_page
from .statements import among, upsert
from .tables import meta, pages, pending, sources

LOCK_POLL_SECONDS = 0.2
"""How often a waiting writer tries to take the write lock."""


class SqlCatalog:
    """`ports.Catalog` on SQLAlchemy Core; safe to call from many threads."""

    def __init__(self, engine: sa.Engine, *, is_own: bool) -> None:
        """Take an engine whose database is migrated (`is_own`), or that of another pipeline."""
        self._engine, self._is_own = engine, is_own
        self._reader, self._writer = database.reading_engine(engine), database.writing_engine(engine)
        dialect = engine.dialect.name
        self._describe = queries.DESCRIBE[dialect]
        self._file = database.identify_file(engine.url)
        self._lock: locks.WriteLock | None = None
        self._next_commit: str | None = None
        self._writer_id = uuid4().hex
        """Identifies the pending marks of this object: a commit clears no marks of other writers."""
        # The foreign key cascades: a page's chunks are deleted with it.
        self._delete_pages = sa.delete(pages).where(among(pages.c.document_id, dialect))
        self._delete_pending = sa.delete(pending).where(
            among(pending.c.document_id, dialect), pending.c.writer == self._writer_id
        )

    @classmethod
    def open(cls, url: str, timeout: float = database.STATEMENT_SECONDS) -> Self:
        """Connect to the database, and create or migrate its tables.

        Args:
            url: The address of the database.
            timeout: How many seconds PostgreSQL has for a statement.

        Examples:
            >>> catalog = SqlCatalog.open("sqlite:////tmp/catalog.sqlite3")  # doctest: +SKIP
        """
        engine = database.create_engine(database.parse_url(url), timeout)
        try:
            with database.translate_errors(engine.url):
                reader = database.reading_engine(engine)
                if engine.dialect.name == "sqlite" and not database.is_read_only_file(engine.url):
                    database.enable_write_ahead_log(reader)
                migrate(reader, database.writing_engine(engine))
        except BaseException:
            engine.dispose()
            raise
        return cls(engine, is_own=True)

    @classmethod
    def attach(cls, url: str, timeout: float = database.STATEMENT_SECONDS) -> Self:
        """Use the database of another pipeline: nothing is created in it, and no connection is made yet."""
        return cls(database.create_engine(database.parse_url(url), timeout), is_own=False)

    def __repr__(self) -> str:
        return f"SqlCatalog({database.mask_password(self._engine.url)!r})"

    def is_empty(self) -> bool:
        """Whether there are no pages."""
        return not self._read(queries.ANY_PAGE)

    def has_chunks(self) -> bool:
        """Whether any page has chunks; rows that another pipeline wrote do not count."""
        return bool(self._read(queries.ANY_CHUNK))

    def pages(self, source: str | None = None) -> list[PageRecord]:
        """List all pages, or those of one source, ordered by source and path."""
        values = {} if source is None else {"source": source}
        rows = self._read(queries.PAGES_OF_SOURCE if values else queries.PAGES, **values)
        # Sorted here, since databases differ in how they order text.
        records = [PageRecord(*row) for row in rows]
        return sorted(records, key=lambda page: (page.source, page.source_path, page.document_id))

    def page_record(self, document_id: str) -> PageRecord | None:
        """Look up one page without its text, in one statement."""
        rows = self._read(queries.PAGE_RECORD, document_id=document_id)
        return PageRecord(*rows[0]) if rows else None

    def page(self, document_id: str) -> Page | None:
        """Read one page as it was committed."""
        rows = self._read(queries.PAGE, document_id=document_id)
        return to_page(rows[0]) if rows else None

    def chunks(self, document_id: str) -> list[Chunk]:
        """Read a page's chunks, ordered by position."""
        return [to_chunk(row) for row in self._read(queries.CHUNKS, document_id=document_id)]

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Read one chunk; a row that another pipeline wrote has no page, so its url is empty."""
        rows = self._read(queries.CHUNK, chunk_id=chunk_id)
        return to_chunk(rows[0]) if rows else None

    def describe(self, chunk_ids: Sequence[str]) -> dict[str, Description]:
        """Read path, slug and title of the chunks that exist, in one statement."""
        ids = [chunk_id for chunk_id in chunk_ids if is_storable(chunk_id)]
        if not ids:
            return {}
        # PostgreSQL takes the ids as an array, SQLite as JSON.
        parameter = ids if self._engine.dialect.name == "postgresql" else json.dumps(ids)
        with self._translate_errors(), self._reader.connect() as connection:
            rows = connection.exec_driver_sql(self._describe, (parameter,)).all()
        return {chunk_id: Description(*description) for chunk_id, *description in rows}

    def find_points(self, chunk_ids: Sequence[str]) -> dict[str, PointId]:
        """Derive each chunk's point id from its chunk id."""
        return {chunk_id: point_id(chunk_id) for chunk_id in chunk_ids if is_storable(chunk_id)}

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Translate database errors, and notice that the SQLite file was removed or replaced."""
        with database.translate_errors(self._engine.url):
            self._reconnect_if_file_replaced()
            yield

    def _reconnect_if_file_replaced(self) -> None:
        """Reconnect when the file at the path is another one: open connections would read the old one."""
        if self._engine.dialect.name != "sqlite":
            return
        file = database.identify_file(self._engine.url)
        if file != self._file:
            self._engine.dispose()
            self._file = file
        if file is None:
            raise FileNotFoundError("its file is gone")

    @contextmanager
    def write_lock(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Keep other processes from writing; `waiting` is called repeatedly while another one writes."""
        if self._engine.dialect.name == "postgresql":
            lock = locks.postgres_advisory_lock(self._reader, self.catalog_id())
        else:
            lock = locks.file_lock(self._engine)
        with lock as opened:
            while not opened.try_acquire():
                waiting()
                time.sleep(LOCK_POLL_SECONDS)
            self._lock = opened
            try:
                yield
            finally:
                self._lock = None
                # It fails on a full disk, or if the file is gone; then the commits stay in the log.
                with suppress(CatalogFailure), self._translate_errors():
                    database.merge_write_ahead_log(self._reader)

    def check_write_lock(self) -> None:
        """Raise CatalogFailure if the write lock was taken and is lost."""
        if self._lock is not None and not self._lock.is_held():
            raise CatalogFailure(
                f"the write lock of the catalog {database.mask_password(self._engine.url)} was lost, so "
                "another process may write to this index now: its session in PostgreSQL was ended, or its "
                "file was deleted. Nothing more was written. Run the command again, which completes the work"
            )

    def describe_lock_holder(self) -> str:
        """Say which process holds the write lock."""
        if self._engine.dialect.name == "postgresql":
            return locks.describe_postgres_holder(self._reader, self.catalog_id())
        return locks.describe_file_holder(self._engine)

    def begin(self, document_ids: Iterable[str], source: str = "") -> None:
        """Mark pages of a source as pending; one that is marked already keeps its source."""
        mark = {"source": source, "writer": self._writer_id}
        rows = [check_row({"document_id": document_id, **mark}) for document_id in document_ids]
        if rows:
            with self._write() as connection:
                connection.execute(_PUT_PENDING, rows)

    def creation_times(self, document_id: str) -> dict[str, str]:
        """Return when each chunk of a page was first indexed, by chunk id."""
        return {row.chunk_id: row.created_at for row in self._read(queries.TIMES, document_id=document_id)}

    def pending(self, source: str | None = None) -> list[str]:
        """List the pages whose change began and was not committed: all, or those of a source or of none."""
        rows = self._read(sa.select(pending.c.document_id, pending.c.source))
        return sorted(row.document_id for row in rows if source is None or row.source in ("", source))

    def commit(self, source: str, writes: Sequence[PageWrite], removed: Sequence[str] = ()) -> None:
        """Record pages and removals and clear their pending marks by this writer, in one transaction."""
        removed = [document_id for document_id in removed if is_storable(document_id)]
        changed = [*(write.page.document_id for write in writes), *removed]
        if not changed:
            return
        with self._write() as connection:
            connection.execute(_PUT_META, self._make_commit_row())
            vocabulary.raise_version(connection)
            old_counts = vocabulary.count_stored(connection, changed)
            connection.execute(self._delete_pages, {"among": removed})
            words = WordCounter()
            write_pages(connection, [(source, write) for write in writes], words)
            vocabulary.replace_counts(connection, old_counts, words.counts())
            connection.execute(self._delete_pending, {"among": changed})
            self.check_write_lock()

    def activate_build(self, fingerprint: Fingerprint, pages: Iterable[tuple[str, PageWrite]]) -> None:
        """Record every page as a new build has it, and make that build the one in use."""
        current = self.fingerprint()
        with self._write() as connection, database.unlimited_statements(connection):
            connection.execute(_PUT_META, self._make_commit_row())
            write_pages(connection, pages)
            vocabulary.recount(connection)
            connection.execute(_PUT_META, _fingerprint_row(fingerprint))
            # Another process may have activated the same build: then there is no other one to go back to.
            if current is not None and current.build != fingerprint.build:
                connection.execute(_PUT_META, _fingerprint_row(current, "previous"))
            self.check_write_lock()

    def sources(self) -> Mapping[str, str]:
        """Return name and location of each source."""
        return dict(sorted((row.name, row.location) for row in self._read(sa.select(sources))))

    def register(self, source: str, location: str) -> None:
        """Record a source, and where it was read from this time."""
        row = check_row({"name": source, "location": location})
        with self._write() as connection:
            connection.execute(_PUT_SOURCE, row)

    def forget(self, source: str) -> None:
        """Delete a source that has no pages left."""
        with self._write() as connection:
            connection.execute(sa.delete(sources).where(sources.c.name == source))

    def fingerprint(self) -> Fingerprint | None:
        """Return what the index was made with; None before the first run."""
        return self._read_fingerprint("fingerprint")

    def provenance(self) -> Mapping[str, str]:
        """Return the fingerprint as text."""
        fingerprint = self.fingerprint()
        return {name: str(value) for name, value in asdict(fingerprint).items()} if fingerprint else {}

    def previous(self) -> Fingerprint | None:
        """Return the fingerprint of the build that was in use before, while it is kept."""
        return self._read_fingerprint("previous")

    def forget_previous(self) -> None:
        """Forget the build that was in use before."""
        with self._write() as connection:
            connection.execute(sa.delete(meta).where(meta.c.key == "previous"))

    def last_begun_build(self) -> Fingerprint | None:
        """Return the fingerprint of the build that was begun last, even if it was deleted since."""
        return self._read_fingerprint("last_begun_build")

    def begin_build(self, fingerprint: Fingerprint) -> None:
        """Record that a build is being filled."""
        with self._write() as connection:
            connection.execute(_PUT_META, _fingerprint_row(fingerprint, "last_begun_build"))

    def catalog_id(self) -> str:
        """Return the id of this catalog; it is created on the first call."""
        if not (rows := self._read(queries.META, key="catalog_id")):
            with self._write() as connection:
                # Two processes may do this at once: the first id stays.
                connection.execute(_NEW_META, {"key": "catalog_id", "value": uuid4().hex})
            rows = self._read(queries.META, key="catalog_id")
        return str(rows[0][0])

    def commits(self) -> CommitIds:
        """Return the id of the last commit, and those that were announced since."""
        return commits.parse_row(self._read(queries.META, key=commits.KEY))

    def announce_commit(self) -> tuple[str, str]:
        """Draw and store the id of the next commit; return the ids of the last commit and of the next one."""
        last, announced = self.commits()
        next_id = self._next_commit = uuid4().hex
        with self._write() as connection:
            connection.execute(_PUT_META, commits.make_row(CommitIds(last, (*announced, next_id))))
        return last, next_id

    def _make_commit_row(self) -> dict[str, str]:
        next_id, self._next_commit = self._next_commit or uuid4().hex, None
        return commits.make_row(CommitIds(next_id, ()))

    def begin_copy(self, source_id: str) -> None:
        """Empty the catalog, and record that it becomes a copy of another one."""
        mark = json.dumps([source_id, *self.announce_commit()])
        with self._write() as connection, database.unlimited_statements(connection):
            for table in (pages, sources, pending):
                connection.execute(sa.delete(table))
            vocabulary.recount(connection)
            connection.execute(sa.delete(meta).where(meta.c.key.in_(_BUILDS)))
            connection.execute(_PUT_META, {"key": "copy", "value": mark})

    def is_copy_under_way(self, source_id: str) -> bool:
        """Whether a copy of that catalog was begun, and nothing was committed since but the copy itself."""
        rows = self._read(queries.META, key="copy")
        copied_id, *commit_ids = json.loads(rows[0][0]) if rows else [None]
        return copied_id == source_id and self.commits().last in commit_ids

    def finish_copy(self) -> None:
        """Record that the catalog is complete."""
        with self._write() as connection:
            connection.execute(_DELETE_COPY)

    def _read_fingerprint(self, key: str) -> Fingerprint | None:
        rows = self._read(queries.META, key=key)
        try:
            return Fingerprint(**json.loads(rows[0][0])) if rows else None
        except (TypeError, ValueError) as error:
            raise CatalogFailure(
                f"the {key} in the catalog {database.mask_password(self._engine.url)} can't be read: it is "
                "damaged, or a newer version of Pertinent wrote it. Upgrade, or restore a backup"
            ) from error

    def set_fingerprint(self, fingerprint: Fingerprint) -> None:
        """Record what the index is made with; the catalog is then no longer a copy that is under way."""
        with self._write() as connection:
            connection.execute(_PUT_META, _fingerprint_row(fingerprint))
            connection.execute(_DELETE_COPY)

    def vocabulary_version(self) -> int:
        """Return a number that every commit increases."""
        rows = self._read(queries.META, key=vocabulary.VERSION_KEY)
        return int(rows[0][0]) if rows and rows[0][0].isdecimal() else 0

    def vocabulary(self) -> Vocabulary:
        """Read the words of all pages, with their frequencies, in one statement."""
        with self._translate_errors(), self._reader.connect() as connection:
            return vocabulary.read_vocabulary(connection)

    def recount_vocabulary(self) -> None:
        """Count the words of all pages again, as they are stored."""
        with self._write() as connection, database.unlimited_statements(connection):
            vocabulary.recount(connection)

    def section_names(self) -> list[SectionName]:
        """List every page and, after it, its sections, in one statement."""
        # Sorted here, since databases differ in how they order text.
        rows = sorted(self._read(queries.SECTIONS), key=lambda row: (*row[:3], row.position or 0))
        names = (
            SectionName(row.document_id, row.url, anchor, row.title, section)
            for row in rows
            for section, anchor in (("", ""), (row.section or "", row.anchor or ""))
        )
        return list(dict.fromkeys(names))

    def ping(self) -> None:
        """Run the statement that a search uses; raise CatalogFailure if it fails."""
        self.describe(["ping"])

    def check_file(self) -> None:
        """Raise CatalogFailure if the file is damaged; PostgreSQL checks its files itself."""
        with self._translate_errors():
            database.check_file(self._engine)

    def close(self) -> None:
        """Close all connections, and merge the log that a killed process may have left beside our file."""
        if self._is_own:
            with suppress(CatalogFailure), self._translate_errors():
                database.merge_write_ahead_log(self._reader, "PASSIVE")
        self._engine.dispose()

    def _read(self, statement: sa.Executable, **values: object) -> Sequence[Any]:
        # A key that can't be stored matches nothing; PostgreSQL would raise an error for it.
        if any(isinstance(value, str) and not is_storable(value) for value in values.values()):
            return []
        with self._translate_errors(), self._reader.connect() as connection:
            return connection.execute(statement, values).all()

    @contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        with self._translate_errors(), self._writer.begin() as connection:
            yield connection


def _fingerprint_row(fingerprint: Fingerprint, key: str = "fingerprint") -> dict[str, str]:
    return {"key": key, "value": json.dumps(asdict(fingerprint))}


_DELETE_COPY = sa.delete(meta).where(meta.c.key == "copy")
_BUILDS = ("fingerprint", "previous")
_PUT_PENDING = upsert(pending, keep=["source"])
_PUT_SOURCE = upsert(sources)
_PUT_META = upsert(meta)
_NEW_META = upsert(meta, keep=["value"])
