"""The crawl cache: conditional requests, resumed crawls, damaged files."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from pertinent.errors import SourceError
from pertinent.sources.site import SiteSource, crawl_cache, parsing
from pertinent.types import LazyPage, Page, Unreadable

from .conftest import FAST_LIMITS, crawl
from .server import Behaviour, LocalSite, Request, doc, links, page, served

Crawl = Callable[[], tuple[dict[str, Page], list[Unreadable]]]


@pytest.fixture
def cached_crawl(site: LocalSite, cache_file: Path) -> Crawl:
    return partial(crawl, site, cache_file=cache_file)


def database(cache_file: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(cache_file, isolation_level=None))


def test_unchanged_page_is_not_downloaded_again(site: LocalSite, cached_crawl: Crawl) -> None:
    site.book(*"abc")
    site.pages["/docs/b"] = doc("b", "B", body="<h2 id='x'>X</h2><p>Text.</p><pre><code>code</code></pre>")
    first = cached_crawl()
    site.clear_requests()
    second = cached_crawl()
    assert second == first
    assert list(second[0]) == list(first[0])
    sent = dict(zip(site.requested_paths, site.request_headers, strict=True))
    assert all(sent[f"/docs/{name}"]["if-none-match"] for name in "abc")


def test_changed_page_is_parsed_again(site: LocalSite, cached_crawl: Crawl) -> None:
    site.book("a", "b")
    cached_crawl()
    site.pages["/docs/a"] = page("A", "<p>Rewritten.</p>")
    pages, _ = cached_crawl()
    assert "Rewritten." in pages["/docs/a"].text
    assert cached_crawl()[0] == pages


def test_page_without_etag_is_requested_by_last_modified(site: LocalSite, cached_crawl: Crawl) -> None:
    site.book("a")
    date = "Wed, 21 Oct 2026 07:28:00 GMT"

    def dated(request: Request) -> None:
        matches = request.headers.get("If-Modified-Since") == date
        headers = {"Last-Modified": date, "ETag": ""}
        request.send("" if matches else page("A"), status=304 if matches else 200, headers=headers)

    site.pages["/docs/a"] = dated
    assert cached_crawl() == cached_crawl()


def test_same_body_is_parsed_once(
    site: LocalSite, cached_crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.book("a")
    site.pages["/docs/a"] = lambda request: request.send(page("A"), headers={"ETag": ""})
    first = cached_crawl()
    fail = partial(pytest.fail, "was parsed again")
    monkeypatch.setattr("pertinent.sources.site.visit.parse_page", lambda *_, **__: fail())
    assert cached_crawl() == first


def test_unconditional_304_is_a_failure(site: LocalSite, cached_crawl: Crawl) -> None:
    site.book("a", "b")
    site.pages["/docs/a"] = lambda request: request.send(status=304)
    pages, unreadable = cached_crawl()
    assert (list(pages), [problem.reason for problem in unreadable]) == (["/docs/b"], ["answers HTTP 304"])


def test_skipped_pages_are_cached_with_their_links(site: LocalSite, cached_crawl: Crawl) -> None:
    home = page("Home", links("/a", "/b"), head='<meta name="robots" content="noindex">')
    site.pages |= {"/": home, "/a": page("A"), "/b": page("B")}
    first = cached_crawl()
    assert cached_crawl() == first
    assert list(first[0]) == ["/a", "/b"]


def test_cache_without_links_is_not_used_to_follow_links(site: LocalSite, cached_crawl: Crawl) -> None:
    site.pages |= {"/": page("Home", links("/a")), "/a": page("A")}
    site.sitemap("/")
    assert list(cached_crawl()[0]) == ["/"]
    del site.pages["/sitemap.xml"]
    assert list(cached_crawl()[0]) == ["/", "/a"]


def test_redirects_are_cached(site: LocalSite, cached_crawl: Crawl) -> None:
    site.pages["/new/"] = page("New")
    site.pages["/old"] = lambda request: request.send(status=301, headers={"Location": "/new/"})
    site.sitemap("/old")
    first = cached_crawl()
    assert list(first[0]) == ["/new"]
    assert cached_crawl() == first
    site.pages["/old"] = lambda request: request.send(status=500)
    _, unreadable = cached_crawl()
    # The indexed page is the target of the redirect; it must stay.
    assert [(problem.source_path, problem.path_identifies_page) for problem in unreadable] == [("/new", True)]


def test_page_that_no_longer_redirects_is_indexed(site: LocalSite, cached_crawl: Crawl) -> None:
    names = [f"/p{number}" for number in range(50)]
    site.pages |= {name: page(name) for name in names}
    site.pages["/moved"] = lambda request: request.send(status=302, headers={"Location": "/p0"})
    site.sitemap(*names, "/moved")
    assert "/moved" not in cached_crawl()[0]
    site.pages["/moved"] = page("Back again")
    # Its former target was fetched long before it.
    assert cached_crawl() == crawl(site)


@pytest.mark.parametrize("etag", [{}, {"ETag": ""}], ids=["etag", "no-etag"])
def test_new_robots_header_counts_for_an_unchanged_page(
    site: LocalSite, cached_crawl: Crawl, etag: dict[str, str]
) -> None:
    site.book("a", "b")

    def answer(robots: dict[str, str]) -> Behaviour:
        return lambda request: request.send(page("A"), headers={**etag, **robots})

    for robots in ({}, {"X-Robots-Tag": "noindex"}, {}):
        site.pages["/docs/a"] = answer(robots)
        pages, _ = cached_crawl()
        assert ("/docs/a" in pages) == (not robots)
        assert pages == crawl(site)[0]


def test_changed_charset_counts_for_an_unchanged_body(site: LocalSite, cached_crawl: Crawl) -> None:
    site.book("a")
    body = page("A", "<p>\u0436\u0443\u043a</p>").encode("cp1251")
    for charset in ("cp1252", "cp1251"):
        headers = {"ETag": "", "Content-Type": f"text/html; charset={charset}"}
        site.pages["/docs/a"] = partial(Request.send, body=body, headers=headers)
        pages, _ = cached_crawl()
    assert "\u0436\u0443\u043a" in pages["/docs/a"].text


def test_page_is_downloaded_again_after_a_week(
    site: LocalSite, cached_crawl: Crawl, cache_file: Path
) -> None:
    site.book("a")

    def answer(text: str) -> Behaviour:
        """Answer like a server that wrongly says that the page has not changed."""
        return lambda request: request.send(
            page("A", text),
            status=304 if "If-None-Match" in request.headers else 200,
            headers={"ETag": '"1"'},
        )

    site.pages["/docs/a"] = answer("<p>Old.</p>")
    cached_crawl()
    site.pages["/docs/a"] = answer("<p>New.</p>")
    assert "Old." in cached_crawl()[0]["/docs/a"].text
    with database(cache_file) as cache:
        cache.execute(
            "update responses set downloaded_at = downloaded_at - ?", (crawl_cache.MAX_UNVERIFIED_SECONDS,)
        )
    assert "New." in cached_crawl()[0]["/docs/a"].text


def test_interrupted_crawl_is_resumed(site: LocalSite, cache_file: Path) -> None:
    names = [f"p{number}" for number in range(30)]
    site.book(*names)
    limits = replace(FAST_LIMITS, connections=1)
    source = SiteSource(site.address, cache_file=cache_file, limits=limits)
    results = source.read()
    assert len(list(islice(results, 10))) == 10
    results.close()  # type: ignore[attr-defined]
    fetched = {path for path in site.requested_paths if "/docs/" in path}
    assert len(fetched) < 30
    site.clear_requests()
    pages, unreadable = crawl(site, cache_file=cache_file, limits=limits)
    assert (len(pages), unreadable) == (30, [])
    assert not {f"/docs/{name}" for name in names[:10]} & set(site.requested_paths)
    site.clear_requests()
    # The crawl was completed, so the next one fetches everything.
    crawl(site, cache_file=cache_file, limits=limits)
    assert len([path for path in site.requested_paths if "/docs/" in path]) == 30


def test_crawl_in_daily_parts_is_resumed_until_it_is_complete(site: LocalSite, cache_file: Path) -> None:
    names = [f"p{number}" for number in range(30)]
    site.book(*names)
    limits = replace(FAST_LIMITS, connections=1)
    for _ in range(3):
        results = SiteSource(site.address, cache_file=cache_file, limits=limits).read()
        assert len(list(islice(results, 10))) == 10
        results.close()  # type: ignore[attr-defined]
        with database(cache_file) as cache:
            cache.execute("update responses set fetched_at = fetched_at - 86400")
            cache.execute("update crawls set started_at = started_at - 86400")
    site.clear_requests()
    pages, _ = crawl(site, cache_file=cache_file, limits=limits)
    assert len(pages) == 30
    assert not {f"/docs/{name}" for name in names[:10]} & set(site.requested_paths)


def test_old_interrupted_crawl_is_not_resumed(
    site: LocalSite, cached_crawl: Crawl, cache_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.book("a", "b")
    results = SiteSource(site.address, cache_file=cache_file, limits=FAST_LIMITS).read()
    next(results)
    results.close()  # type: ignore[attr-defined]
    monkeypatch.setattr(crawl_cache, "RESUMABLE_SECONDS", -1.0)
    site.clear_requests()
    cached_crawl()
    assert {"/docs/a", "/docs/b"} <= set(site.requested_paths)


def test_times_in_the_future_do_not_hide_changes(
    site: LocalSite, cached_crawl: Crawl, cache_file: Path
) -> None:
    site.book("a")
    cached_crawl()
    with database(cache_file) as cache:
        cache.execute(
            "update responses set fetched_at = fetched_at + 1e6, downloaded_at = downloaded_at + 1e6"
        )
    site.pages["/docs/a"] = page("A", "<p>Rewritten.</p>")
    assert "Rewritten." in cached_crawl()[0]["/docs/a"].text


def test_another_parser_version_fetches_all_pages_again(
    site: LocalSite, cached_crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.book("a")
    cached_crawl()
    monkeypatch.setattr(crawl_cache, "PARSER_VERSION", parsing.PARSER_VERSION + 1)
    site.clear_requests()
    cached_crawl()
    assert not any("if-none-match" in sent for sent in site.request_headers)


def test_removed_pages_are_deleted_from_the_cache(
    site: LocalSite, cached_crawl: Crawl, cache_file: Path
) -> None:
    site.book("a", "b")
    cached_crawl()
    site.book("a")
    del site.pages["/docs/b"]
    cached_crawl()
    with database(cache_file) as cache:
        for table in ("responses", "pages"):
            assert cache.execute(f"select url from {table}").fetchall() == [(f"{site.address}/docs/a",)]  # noqa: S608


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\0" + b"x" * 5000])
def test_damaged_cache_is_replaced(
    site: LocalSite, cached_crawl: Crawl, cache_file: Path, damage: bytes
) -> None:
    site.book("a")
    first = cached_crawl()
    cache_file.with_name(cache_file.name + "-wal").unlink(missing_ok=True)
    cache_file.write_bytes(damage)
    assert cached_crawl() == first
    assert cached_crawl() == first


def test_cache_with_a_damaged_schema_is_replaced(
    site: LocalSite, cached_crawl: Crawl, cache_file: Path
) -> None:
    site.book("a")
    first = cached_crawl()
    with database(cache_file) as cache:
        cache.execute("pragma wal_checkpoint(truncate)")
        cache.execute("pragma journal_mode = delete")
    cache_file.write_bytes(
        cache_file.read_bytes().replace(b"CREATE TABLE crawls", b"CREATE T\xb1BLE \xb1rawls")
    )
    assert cached_crawl() == first


def test_damaged_cached_page_is_fetched_again(site: LocalSite, cached_crawl: Crawl, cache_file: Path) -> None:
    site.book("a", "b")
    first = cached_crawl()
    with database(cache_file) as cache:
        cache.execute("update pages set page = x'00' where url like '%/a'")
    assert cached_crawl() == first


def test_cache_of_another_format_is_replaced(site: LocalSite, cached_crawl: Crawl, cache_file: Path) -> None:
    site.book("a")
    first = cached_crawl()
    with database(cache_file) as cache:
        cache.execute("pragma user_version = 99")
    assert cached_crawl() == first


def test_unwritable_cache_is_a_clear_error(site: LocalSite, tmp_path: Path) -> None:
    site.book("a")
    with pytest.raises(SourceError, match="crawl cache"):
        crawl(site, cache_file=tmp_path)


def test_serialized_page_survives_a_round_trip(site: LocalSite) -> None:
    body = doc("a", "A", body="<h2 id='x'>X</h2><ul><li>one<li>two</ul><table><tr><td>1</table>").encode()
    for links_too in (True, False):
        parsed = parsing.parse_page(body, {"content-type": "text/html"}, site.address, with_links=links_too)
        assert parsing.deserialize_page(parsing.serialize_page(parsed)) == parsed
        text, sections = parsed.unpack_content()
        assert sections
        assert "one" in text


def test_cache_can_be_used_from_another_thread(site: LocalSite, cache_file: Path) -> None:
    site.book("a")
    source = SiteSource(site.address, cache_file=cache_file, limits=FAST_LIMITS)
    results: list[object] = []
    items = source.read()
    thread = threading.Thread(target=lambda: results.extend(items))
    thread.start()
    thread.join()
    assert [type(result) for result in results] == [LazyPage]


def tagged(html: str) -> Behaviour:
    return lambda request: request.send(html, headers={"ETag": '"the same everywhere"'})


def test_copies_of_a_site_are_cached_separately(site: LocalSite, cache_file: Path) -> None:
    base = "https://book.example/docs"
    with served() as live:
        for copy, text in ((site, "Draft."), (live, "Published.")):
            copy.book("a")
            copy.pages["/docs/a"] = tagged(page("A", f"<p>{text}</p>"))
        texts = [
            crawl(copy, "/docs", base_url=base, cache_file=cache_file)[0]["/docs/a"].text
            for copy in (site, live, site)
        ]
    assert ["Published." in text for text in texts] == [False, True, False]


def test_slow_crawl_writes_the_cache_regularly(
    site: LocalSite, cache_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl_cache, "_FLUSH_SECONDS", 0.0)
    site.book(*"abcdef")
    limits = replace(FAST_LIMITS, connections=1)
    results = SiteSource(site.address, cache_file=cache_file, limits=limits).read()
    list(islice(results, 4))
    with database(cache_file) as cache:
        (cached,) = cache.execute("select count(*) from responses").fetchone()
    results.close()  # type: ignore[attr-defined]
    assert cached >= 3
