"""What is remembered between crawls: how to ask whether a page has changed, and what was read of it.

An SQLite file beside the index, and no more than a cache: without it the next crawl takes longer
and finds the same. A crawl that was broken off left its beginning here; the next one takes what was
fetched since then as it is.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...errors import SourceError
from .parsing import Reading, reader, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT = 3
RESUMABLE = 24 * 3600.0
"""How old, in seconds, a crawl that was broken off may be for the next one to go on with it."""
MISSED = 7 * 24 * 3600.0
"""How long, in seconds, a sitemap that is no longer there is expected back."""

_BATCH = 64
_SECONDS = 5.0
"""After that time what waits is written, however little: a slow crawl that is killed has lost no more."""
_TABLES = """
create table visits (
  source text not null, url text not null, reader text not null, links int not null, etag text not null,
  modified text not null, digest blob not null, fetched real not null, primary key (source, url)
);
create table readings (
  source text not null, url text not null, reading blob not null, primary key (source, url)
);
create table ways (
  source text not null, url text not null, leads_to text not null, primary key (source, url)
);
create table crawls (source text primary key, began real, reader text, links int);
create table sitemaps (
  source text not null, address text not null, listed real not null, primary key (source, address)
);
"""


class Visit(NamedTuple):
    """How a page was found the last time."""

    etag: str
    modified: str
    digest: bytes
    """Of the body, for servers that send the same again."""
    fetched: float


class _Waiting(NamedTuple):
    """What is still to be written, by url."""

    visits: dict[str, Visit]
    readings: dict[str, bytes]
    ways: dict[str, str]


class Memory:
    """What is known of one source's pages; without a file, nothing."""

    def __init__(self, path: Path | None, source: str, *, links: bool) -> None:
        self._source = source
        self._links = links
        self._path = path
        self._waiting = _Waiting({}, {}, {})
        self._written = time.monotonic()
        self._expected: dict[str, bytes] = {}
        self._database = _opened(path)
        with self._translated():
            rows = self._database.execute(
                "select url, etag, modified, digest, fetched from visits "
                "where source = ? and reader = ? and links >= ?",
                (source, reader(), links),
            )
            self._visits = {url: Visit(*rest) for url, *rest in rows}
            ways = self._database.execute("select url, leads_to from ways where source = ?", (source,))
            self._ways: dict[str, str] = dict(ways.fetchall())
            crawl = self._database.execute(
                "select began, reader, links from crawls where source = ?", (source,)
            ).fetchone()
        self._began: float | None = crawl[0] if crawl else None
        self.complete_before = bool(crawl and crawl[1] == reader() and crawl[2] >= links)
        """Whether the last crawl that came to its end told all that this one wants to know."""

    def begin(self) -> None:
        """A crawl begins, or goes on where one was broken off."""
        now = time.time()
        if self._began is None or not 0 <= now - self._began <= RESUMABLE:
            self._began = now
        with self._translated():
            self._database.execute(
                "insert into crawls (source, began) values (?, ?) "
                "on conflict (source) do update set began = excluded.began",
                (self._source, self._began),
            )
            self._database.commit()

    def fresh(self, url: str) -> bool:
        """Whether the page was fetched in the crawl that now goes on."""
        visit = self._visits.get(url)
        return visit is not None and self._began is not None and visit.fetched >= self._began

    def conditions(self, url: str) -> Mapping[str, str]:
        """The headers that ask for a page only if it has changed."""
        visit = self._visits.get(url)
        if visit is None:
            return {}
        headers = {"If-None-Match": visit.etag, "If-Modified-Since": visit.modified}
        return {name: value for name, value in headers.items() if value}

    def same(self, url: str, digest: bytes) -> bool:
        """Whether the body is the one that was read the last time."""
        visit = self._visits.get(url)
        return visit is not None and visit.digest == digest

    def knows(self, url: str) -> bool:
        return url in self._visits

    def expect(self, urls: Iterable[str]) -> None:
        """Fetch what was read of these pages at once: they will be asked for one by one."""
        known = [url for url in map(self.way, urls) if url in self._visits]
        if known:
            self._expected.update(self._stored(known))

    def reading(self, url: str) -> Reading | None:
        """What was read the last time."""
        if url not in self._visits:
            return None
        found = self._waiting.readings.get(url) or self._expected.pop(url, None)
        found = found or dict(self._stored([url])).get(url)
        return unpacked(found) if found else None

    def _stored(self, urls: Sequence[str]) -> list[tuple[str, bytes]]:
        marks = ", ".join("?" * len(urls))
        statement = f"select url, reading from readings where source = ? and url in ({marks})"  # noqa: S608 - marks
        with self._translated():
            return self._database.execute(statement, (self._source, *urls)).fetchall()

    def way(self, url: str) -> str:
        """Where a url led the last time: to itself, or where it was redirected to."""
        return self._ways.get(url, url)

    def lead(self, url: str, to: str) -> None:
        """Note where a url leads."""
        if self._path is not None and self.way(url) != to:
            self._ways[url] = self._waiting.ways[url] = to

    def put(self, url: str, visit: Visit, reading: bytes) -> None:
        """Remember a page that was read."""
        if self._path is not None:
            self._visits[url] = self._waiting.visits[url] = visit
            self._waiting.readings[url] = reading
            self._expected.pop(url, None)
            self._write(least=_BATCH)

    def confirm(self, url: str, visit: Visit | None = None) -> None:
        """Remember that a page is still what it was, and how to ask for it from now on."""
        known = visit or self._visits.get(url)
        if self._path is not None and known is not None:
            self._visits[url] = self._waiting.visits[url] = known._replace(fetched=time.time())
            self._write(least=_BATCH)

    def forget(self, url: str) -> None:
        """Remember nothing of a page: it is to be fetched anew."""
        self._visits.pop(url, None)
        self._expected.pop(url, None)

    def missed(self, sitemaps: Collection[str]) -> dict[str, float]:
        """The sitemaps that listed pages not long ago and are not among these, with when that was."""
        with self._translated():
            rows = self._database.execute(
                "select address, listed from sitemaps where source = ? and listed > ?",
                (self._source, time.time() - MISSED),
            )
            return {address: listed for address, listed in rows if address not in sitemaps}

    def finish(self, seen: Collection[str], sitemaps: Collection[str] = ()) -> None:
        """The crawl has come to its end: only what it saw is remembered, and which sitemaps listed it."""
        listed = [(self._source, address, time.time()) for address in sitemaps]
        gone = [(self._source, url) for url in self._visits.keys() - set(seen)]
        other = (self._source, reader())
        self._write()
        with self._translated():
            self._database.executemany("delete from visits where source = ? and url = ?", gone)
            self._database.execute("delete from visits where source = ? and reader <> ?", other)
            self._database.executemany("insert or replace into sitemaps values (?, ?, ?)", listed)
            self._database.execute(
                "delete from readings where source = ? "
                "and url not in (select url from visits where source = ?)",
                (self._source, self._source),
            )
            self._database.execute(
                "update crawls set began = null, reader = ?, links = ? where source = ?",
                (reader(), self._links, self._source),
            )
            self._database.commit()

    def close(self) -> None:
        self._write()
        with self._translated():
            self._database.close()

    def _write(self, least: int = 0) -> None:
        """Write what waits, all or nothing, once it is that much or has waited long."""
        visits, readings, ways = self._waiting
        if len(visits) < least and time.monotonic() - self._written < _SECONDS:
            return
        self._written = time.monotonic()
        made_by = (reader(), self._links)
        with self._translated():
            self._database.executemany(
                "insert or replace into visits values (?, ?, ?, ?, ?, ?, ?, ?)",
                [(self._source, url, *made_by, *visit) for url, visit in visits.items()],
            )
            for table, rows in (("readings", readings), ("ways", ways)):
                self._database.executemany(
                    f"insert or replace into {table} values (?, ?, ?)",  # noqa: S608 - one of these two
                    [(self._source, url, value) for url, value in rows.items()],
                )
            self._database.commit()
        self._waiting = _Waiting({}, {}, {})

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise SourceError(
                f"the memory of earlier crawls, {self._path}, can't be used ({error}); "
                "remove the file, it is only a cache"
            ) from error


def _opened(path: Path | None) -> sqlite3.Connection:
    """The database, made anew where the file is damaged or of another format."""
    if path is None:
        return _prepared(":memory:")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _prepared(str(path))
    except _Unusable:
        try:
            path.unlink()
            return _prepared(str(path))
        except (OSError, _Unusable) as error:
            raise SourceError(f"the memory of earlier crawls, {path}, can't be written: {error}") from error
    except (OSError, sqlite3.Error) as error:
        raise SourceError(f"the memory of earlier crawls, {path}, can't be opened: {error}") from error


class _Unusable(Exception):
    """The file is no memory, or that of another Pertinent."""


def _prepared(place: str) -> sqlite3.Connection:
    database = sqlite3.connect(place, timeout=10, check_same_thread=False)
    try:
        (found,) = database.execute("pragma user_version").fetchone()
        (tables,) = database.execute("select count(*) from sqlite_master").fetchone()
        if tables and found != FORMAT:
            raise _Unusable(f"format {found}")
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = normal")
        if not tables:
            database.executescript(f"begin; {_TABLES} pragma user_version = {FORMAT}; commit;")
    except sqlite3.OperationalError:
        database.close()
        raise
    except (sqlite3.DatabaseError, _Unusable) as error:
        database.close()
        raise _Unusable(str(error)) from error
    return database
