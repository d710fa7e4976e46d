"""The cache of a crawl: for each page, its ETag and Last-Modified headers, and its parsed content.

It is an SQLite file beside the index. Without it the next crawl takes longer and gives the same pages.
An interrupted crawl leaves its start time here; the next crawl uses the pages fetched since then.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ...errors import SourceError
from .parsing import PARSER_VERSION, ParsedPage, deserialize_page

FORMAT = 6
"""The version of the tables; a file of another format is replaced."""
RESUMABLE_SECONDS = 36 * 3600.0
"""How long ago a crawl may have been interrupted for the next one to resume it; more than a day."""
MAX_UNVERIFIED_SECONDS = 7 * 24 * 3600.0
"""How long the site is trusted that a page has not changed; then the page is downloaded again."""
SITEMAP_GRACE_SECONDS = 7 * 24 * 3600.0
"""How long a sitemap that has disappeared is expected to come back."""

_BATCH = 64
_FLUSH_SECONDS = 5.0
"""Pending rows are written after this time at the latest, so that a killed crawl loses little."""
_TABLES = """
create table responses (
  source text not null, url text not null, parser_version int not null, with_links int not null,
  etag text not null, last_modified text not null, digest blob not null, fetched_at real not null,
  downloaded_at real not null, address text not null,
  primary key (source, url)
);
create table pages (
  source text not null, url text not null, page blob not null, primary key (source, url)
);
create table redirects (
  source text not null, url text not null, target text not null, primary key (source, url)
);
create table crawls (source text primary key, started_at real);
create table sitemaps (
  source text not null, address text not null, listed_at real not null, primary key (source, address)
);
"""


class CachedResponse(NamedTuple):
    """What tells whether a page has changed since it was fetched."""

    etag: str
    last_modified: str
    digest: bytes
    """The hash of the body, for servers that send the same body again."""
    fetched_at: float
    """When the page was downloaded, or the site last said that it has not changed."""
    downloaded_at: float
    address: str
    """Where the page is served."""


class _PendingRows(NamedTuple):
    """Rows that are still to be written, by url."""

    responses: dict[str, CachedResponse]
    pages: dict[str, bytes]
    redirects: dict[str, str]


class CrawlCache:
    """The cached pages of one source; with no `path`, nothing is cached.

    A page that was parsed by another version of the parser, or without the links that are needed now
    (`with_links`), counts as not cached.
    """

    def __init__(self, path: Path | None, source: str, *, with_links: bool) -> None:
        self._source = source
        self._with_links = with_links
        self._path = path
        self._pending = _PendingRows({}, {}, {})
        self._flushed_at = time.monotonic()
        self._preloaded: dict[str, bytes] = {}
        self._database = _open_database(path)
        with self._translate_errors():
            rows = self._database.execute(
                "select url, parser_version = ? and with_links >= ?, etag, last_modified, digest, "
                "fetched_at, downloaded_at, address from responses where source = ?",
                (PARSER_VERSION, with_links, source),
            )
            stored = {url: (is_usable, CachedResponse(*columns)) for url, is_usable, *columns in rows}
            redirects = self._database.execute(
                "select url, target from redirects where source = ?", (source,)
            )
            self._redirects: dict[str, str] = dict(redirects.fetchall())
            crawl = self._database.execute(
                "select started_at from crawls where source = ?", (source,)
            ).fetchone()
        self._started_at: float | None = crawl[0] if crawl else None
        self._responses = {url: response for url, (is_usable, response) in stored.items() if is_usable}
        self.known_addresses = {url: response.address for url, (_, response) in stored.items()}
        """Where the pages of earlier crawls are served, by url; also of those that must be parsed again."""

    @property
    def folder(self) -> Path | None:
        """The folder of the file; None where nothing is cached."""
        return self._path.parent if self._path else None

    def begin_crawl(self) -> None:
        """Record the start of a crawl, or resume the one that was interrupted."""
        now = time.time()
        started_at = self._started_at
        if started_at is None or not 0 <= now - self._last_activity(started_at, now) <= RESUMABLE_SECONDS:
            self._started_at = now
        with self._translate_errors():
            self._database.execute(
                "insert into crawls (source, started_at) values (?, ?) "
                "on conflict (source) do update set started_at = excluded.started_at",
                (self._source, self._started_at),
            )
            self._database.commit()

    def _last_activity(self, started_at: float, now: float) -> float:
        """When the crawl last fetched a page, or else when it started."""
        times = (response.fetched_at for response in self._responses.values())
        # A time in the future was recorded while the clock was wrong.
        return max(started_at, *(moment for moment in times if moment <= now), 0.0)

    def finish_crawl(self, seen: Collection[str], sitemaps: Collection[str] = ()) -> None:
        """Record that the crawl is complete: drop pages that it has not `seen`, and note its sitemaps."""
        listed = [(self._source, address, time.time()) for address in sitemaps]
        unseen = [
            (self._source, url) for url in (self._responses.keys() | self.known_addresses.keys()) - set(seen)
        ]
        self._flush()
        with self._translate_errors():
            self._database.executemany("delete from responses where source = ? and url = ?", unseen)
            self._database.executemany("insert or replace into sitemaps values (?, ?, ?)", listed)
            self._database.execute(
                "delete from pages where source = ? "
                "and url not in (select url from responses where source = ?)",
                (self._source, self._source),
            )
            self._database.commit()
        self.prevent_resuming()

    def prevent_resuming(self) -> None:
        """Let the next crawl request all pages again, instead of resuming this one."""
        with self._translate_errors():
            self._database.execute("update crawls set started_at = null where source = ?", (self._source,))
            self._database.commit()

    def close(self) -> None:
        """Write what is pending and close the file."""
        self._flush()
        with self._translate_errors():
            self._database.close()

    def __contains__(self, url: str) -> bool:
        return url in self._responses

    def was_fetched_in_this_crawl(self, url: str) -> bool:
        """Whether the page was fetched since the crawl began, maybe before an interruption."""
        response = self._responses.get(url)
        if response is None or self._started_at is None:
            return False
        # A time in the future was recorded while the clock was wrong.
        return self._started_at <= response.fetched_at <= time.time()

    def conditional_headers(self, url: str) -> Mapping[str, str]:
        """The headers that ask for a page only if it has changed; none where it must be downloaded."""
        response = self._responses.get(url)
        if response is None or not 0 <= time.time() - response.downloaded_at <= MAX_UNVERIFIED_SECONDS:
            return {}
        headers = {"If-None-Match": response.etag, "If-Modified-Since": response.last_modified}
        return {name: value for name, value in headers.items() if value}

    def has_same_body(self, url: str, digest: bytes) -> bool:
        """Whether the cached page was parsed from a body with this hash."""
        response = self._responses.get(url)
        return response is not None and response.digest == digest

    def preload(self, urls: Iterable[str]) -> None:
        """Read the pages at these urls in one query, since `get` will be called for each."""
        cached = [url for url in map(self.redirect_target, urls) if url in self._responses]
        if cached:
            self._preloaded.update(self._select_pages(cached))

    def get(self, url: str) -> ParsedPage | None:
        """The cached page; None where there is none, or where it is damaged."""
        if url not in self._responses:
            return None
        data = self._pending.pages.get(url) or self._preloaded.pop(url, None)
        data = data or dict(self._select_pages([url])).get(url)
        return deserialize_page(data) if data else None

    def put(self, url: str, response: CachedResponse, page: bytes) -> None:
        """Cache a page, as `serialize_page` gives it."""
        if self._path is not None:
            self._responses[url] = self._pending.responses[url] = response
            self._pending.pages[url] = page
            self._preloaded.pop(url, None)
            self._flush(min_rows=_BATCH)

    def confirm(self, url: str, response: CachedResponse | None = None) -> None:
        """Record that a page has not changed; `response` is how to request it from now on."""
        current = response or self._responses.get(url)
        if self._path is not None and current is not None:
            current = current._replace(fetched_at=time.time())
            self._responses[url] = self._pending.responses[url] = current
            self._flush(min_rows=_BATCH)

    def forget(self, url: str) -> None:
        """Treat a page as not cached, so that it is fetched without conditions."""
        self._responses.pop(url, None)
        self._preloaded.pop(url, None)

    def redirect_target(self, url: str) -> str:
        """The url that a page redirected to in an earlier crawl; the url itself where it did not."""
        return self._redirects.get(url, url)

    def record_redirect(self, url: str, target: str) -> None:
        """Record the url that a page redirects to, or that it no longer redirects (`target` is `url`)."""
        if self._path is not None and self.redirect_target(url) != target:
            self._redirects[url] = self._pending.redirects[url] = target

    def missing_sitemaps(self, listing: Collection[str]) -> dict[str, float]:
        """Return the sitemaps that recently listed pages and now do not, with the time they last did."""
        with self._translate_errors():
            rows = self._database.execute(
                "select address, listed_at from sitemaps where source = ? and listed_at > ?",
                (self._source, time.time() - SITEMAP_GRACE_SECONDS),
            )
            return {address: listed_at for address, listed_at in rows if address not in listing}

    def _select_pages(self, urls: Sequence[str]) -> list[tuple[str, bytes]]:
        marks = ", ".join("?" * len(urls))
        statement = f"select url, page from pages where source = ? and url in ({marks})"  # noqa: S608 - marks
        with self._translate_errors():
            return self._database.execute(statement, (self._source, *urls)).fetchall()

    def _flush(self, min_rows: int = 0) -> None:
        """Write the pending rows in one transaction, once there are enough or they have waited long."""
        responses, pages, redirects = self._pending
        if len(responses) < min_rows and time.monotonic() - self._flushed_at < _FLUSH_SECONDS:
            return
        self._flushed_at = time.monotonic()
        parsed_by = (PARSER_VERSION, self._with_links)
        with self._translate_errors():
            self._database.executemany(
                "insert or replace into responses values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(self._source, url, *parsed_by, *response) for url, response in responses.items()],
            )
            for table, rows in (("pages", pages), ("redirects", redirects)):
                self._database.executemany(
                    f"insert or replace into {table} values (?, ?, ?)",  # noqa: S608 - one of these two
                    [(self._source, url, value) for url, value in rows.items()],
                )
            self._database.commit()
        self._pending = _PendingRows({}, {}, {})

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise SourceError(
                f"the crawl cache {self._path} can't be used ({error}); delete the file and run again"
            ) from error


def _open_database(path: Path | None) -> sqlite3.Connection:
    """Open the database; a file that is damaged or of another format is replaced."""
    if path is None:
        return _prepare_database(":memory:")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _prepare_database(str(path))
    except _Unusable:
        try:
            path.unlink()
            return _prepare_database(str(path))
        except (OSError, _Unusable) as error:
            raise SourceError(f"the crawl cache {path} can't be written: {error}") from error
    except (OSError, sqlite3.Error) as error:
        raise SourceError(f"the crawl cache {path} can't be opened: {error}") from error


class _Unusable(Exception):
    """The file is not a crawl cache, or one of another format."""


def _prepare_database(location: str) -> sqlite3.Connection:
    database = sqlite3.connect(location, timeout=10, check_same_thread=False)
    try:
        (file_format,) = database.execute("pragma user_version").fetchone()
        (tables,) = database.execute("select count(*) from sqlite_master").fetchone()
        if tables and file_format != FORMAT:
            raise _Unusable(f"format {file_format}")
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = normal")
        if not tables:
            database.executescript(f"begin; {_TABLES} pragma user_version = {FORMAT}; commit;")
    except sqlite3.OperationalError:
        database.close()
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError, _Unusable) as error:
        # The message of SQLite itself may not be UTF-8 if it names a damaged table.
        database.close()
        raise _Unusable(str(error)) from error
    return database
