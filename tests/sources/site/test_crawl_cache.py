"""What is remembered between crawls: unchanged pages are not sent again, and a broken crawl goes on."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from pertinent.errors import SourceError
from pertinent.sources.site import SiteSource
from pertinent.sources.site import crawl_cache as remembering
from pertinent.sources.site import parsing as reading
from pertinent.types import Offer

from .conftest import QUICK, crawl
from .server import Behaviour, LocalSite, Request, doc, links, page, served


def statuses(site: LocalSite) -> dict[str, int]:
    return {path: site.asked.count(path) for path in site.asked}


def test_an_unchanged_page_is_the_same_without_a_download(site: LocalSite, memory: Path) -> None:
    site.book(*"abc")
    site.pages["/docs/b"] = doc("b", "B", body="<h2 id='x'>X</h2><p>Text.</p><pre><code>code</code></pre>")
    first = crawl(site, memory=memory)
    site.forget()
    second = crawl(site, memory=memory)
    assert second == first
    assert list(second[0]) == list(first[0])
    conditions = {
        path: sent.get("if-none-match") for path, sent in zip(site.asked, site.headers, strict=True)
    }
    assert all(conditions[f"/docs/{name}"] for name in "abc")


def test_a_changed_page_is_read_anew(site: LocalSite, memory: Path) -> None:
    site.book("a", "b")
    crawl(site, memory=memory)
    site.pages["/docs/a"] = page("A", "<p>Rewritten.</p>")
    pages, _ = crawl(site, memory=memory)
    assert "Rewritten." in pages["/docs/a"].text
    assert crawl(site, memory=memory)[0] == pages


def test_a_page_with_a_date_alone_is_asked_for_by_it(site: LocalSite, memory: Path) -> None:
    site.book("a")
    date = "Wed, 21 Oct 2026 07:28:00 GMT"

    def dated(request: Request) -> None:
        known = request.headers.get("If-Modified-Since") == date
        headers = {"Last-Modified": date, "ETag": ""}
        request.send("" if known else page("A"), status=304 if known else 200, headers=headers)

    site.pages["/docs/a"] = dated
    assert crawl(site, memory=memory) == crawl(site, memory=memory)


def test_a_server_that_sends_the_same_again_costs_no_reading(
    site: LocalSite, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.book("a")
    site.pages["/docs/a"] = lambda request: request.send(page("A"), headers={"ETag": ""})
    first = crawl(site, memory=memory)
    monkeypatch.setattr("pertinent.sources.site.visit.read", lambda *_, **__: pytest.fail("was read again"))
    assert crawl(site, memory=memory) == first


def test_a_304_that_nobody_asked_for_is_a_failure(site: LocalSite, memory: Path) -> None:
    site.book("a", "b")
    site.pages["/docs/a"] = lambda request: request.send(status=304)
    pages, unreadable = crawl(site, memory=memory)
    assert (list(pages), [one.reason for one in unreadable]) == (["/docs/b"], ["answers HTTP 304"])


def test_pages_that_are_none_are_remembered_with_their_links(site: LocalSite, memory: Path) -> None:
    home = page("Home", links("/a", "/b"), head='<meta name="robots" content="noindex">')
    site.pages |= {"/": home, "/a": page("A"), "/b": page("B")}
    first = crawl(site, memory=memory)
    assert crawl(site, memory=memory) == first
    assert list(first[0]) == ["/a", "/b"]


def test_a_memory_without_links_does_not_serve_a_crawl_that_follows_them(
    site: LocalSite, memory: Path
) -> None:
    site.pages |= {"/": page("Home", links("/a")), "/a": page("A")}
    site.sitemap("/")
    assert list(crawl(site, memory=memory)[0]) == ["/"]
    del site.pages["/sitemap.xml"]
    assert list(crawl(site, memory=memory)[0]) == ["/", "/a"]


def test_redirects_are_remembered(site: LocalSite, memory: Path) -> None:
    site.pages["/new/"] = page("New")
    site.pages["/old"] = lambda request: request.send(status=301, headers={"Location": "/new/"})
    site.sitemap("/old")
    first = crawl(site, memory=memory)
    assert list(first[0]) == ["/new"]
    assert crawl(site, memory=memory) == first
    site.pages["/old"] = lambda request: request.send(status=500)
    _, unreadable = crawl(site, memory=memory)
    # The page that it led to is the one that is known, and the one that must stay.
    assert [(one.source_path, one.named) for one in unreadable] == [("/new", True)]


def test_a_crawl_that_was_broken_off_goes_on(site: LocalSite, memory: Path) -> None:
    names = [f"p{number}" for number in range(30)]
    site.book(*names)
    limits = replace(QUICK, connections=1)
    source = SiteSource(site.address, memory=memory, limits=limits)
    reading = source.read()
    assert len(list(islice(reading, 10))) == 10
    reading.close()  # type: ignore[attr-defined]
    fetched = {path for path in site.asked if "/docs/" in path}
    assert len(fetched) < 30
    site.forget()
    pages, unreadable = crawl(site, memory=memory, limits=limits)
    assert (len(pages), unreadable) == (30, [])
    again = {path for path in site.asked if "/docs/" in path} & {f"/docs/{name}" for name in names[:10]}
    assert again == set()
    site.forget()
    # That one came to its end: the next begins at the beginning.
    crawl(site, memory=memory, limits=limits)
    assert len([path for path in site.asked if "/docs/" in path]) == 30


def test_a_crawl_that_was_broken_off_long_ago_is_not_gone_on_with(
    site: LocalSite, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.book("a", "b")
    reading = SiteSource(site.address, memory=memory, limits=QUICK).read()
    next(reading)
    reading.close()  # type: ignore[attr-defined]
    monkeypatch.setattr(remembering, "RESUMABLE", -1.0)
    site.forget()
    crawl(site, memory=memory)
    assert {"/docs/a", "/docs/b"} <= set(site.asked)


def test_another_reader_reads_everything_anew(
    site: LocalSite, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.book("a")
    crawl(site, memory=memory)
    monkeypatch.setattr(remembering, "reader", lambda: "another")
    site.forget()
    crawl(site, memory=memory)
    assert not any("if-none-match" in sent for sent in site.headers)


def test_pages_that_are_gone_are_forgotten(site: LocalSite, memory: Path) -> None:
    site.book("a", "b")
    crawl(site, memory=memory)
    site.book("a")
    del site.pages["/docs/b"]
    crawl(site, memory=memory)
    with closing(sqlite3.connect(memory, isolation_level=None)) as database:
        for table in ("visits", "readings"):
            assert database.execute(f"select url from {table}").fetchall() == [(f"{site.address}/docs/a",)]  # noqa: S608


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\0" + b"x" * 5000])
def test_a_damaged_memory_is_made_anew(site: LocalSite, memory: Path, damage: bytes) -> None:
    site.book("a")
    first = crawl(site, memory=memory)
    memory.with_name(memory.name + "-wal").unlink(missing_ok=True)
    memory.write_bytes(damage)
    assert crawl(site, memory=memory) == first
    assert crawl(site, memory=memory) == first


def test_a_damaged_reading_is_fetched_again(site: LocalSite, memory: Path) -> None:
    site.book("a", "b")
    first = crawl(site, memory=memory)
    with closing(sqlite3.connect(memory, isolation_level=None)) as database:
        database.execute("update readings set reading = x'00' where url like '%/a'")
    assert crawl(site, memory=memory) == first


def test_a_memory_of_another_format_is_made_anew(site: LocalSite, memory: Path) -> None:
    site.book("a")
    first = crawl(site, memory=memory)
    with closing(sqlite3.connect(memory, isolation_level=None)) as database:
        database.execute("pragma user_version = 99")
    assert crawl(site, memory=memory) == first


def test_a_memory_that_can_not_be_written_says_so(site: LocalSite, tmp_path: Path) -> None:
    site.book("a")
    with pytest.raises(SourceError, match="memory of earlier crawls"):
        crawl(site, memory=tmp_path)


def test_what_is_remembered_comes_back_as_it_was(site: LocalSite) -> None:
    body = doc("a", "A", body="<h2 id='x'>X</h2><ul><li>one<li>two</ul><table><tr><td>1</table>").encode()
    for links_too in (True, False):
        made = reading.read(body, {"content-type": "text/html"}, site.address, links=links_too)
        assert reading.unpacked(reading.packed(made)) == made
        text, sections = made.unpacked()
        assert sections
        assert "one" in text


def test_a_memory_serves_a_crawl_from_another_thread(site: LocalSite, memory: Path) -> None:
    site.book("a")
    source = SiteSource(site.address, memory=memory, limits=QUICK)
    found: list[object] = []
    items = source.read()
    thread = threading.Thread(target=lambda: found.extend(items))
    thread.start()
    thread.join()
    assert [type(one) for one in found] == [Offer]


def tagged(html: str) -> Behaviour:
    return lambda request: request.send(html, headers={"ETag": '"the same everywhere"'})


def test_what_is_remembered_of_a_copy_says_nothing_of_another(site: LocalSite, memory: Path) -> None:
    base = "https://book.example/docs"
    with served() as live:
        for one, text in ((site, "Draft."), (live, "Published.")):
            one.book("a")
            one.pages["/docs/a"] = tagged(page("A", f"<p>{text}</p>"))
        texts = [
            crawl(one, "/docs", base_url=base, memory=memory)[0]["/docs/a"].text for one in (site, live, site)
        ]
    assert ["Published." in text for text in texts] == [False, True, False]


def test_a_slow_crawl_that_is_killed_has_lost_little(
    site: LocalSite, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembering, "_SECONDS", 0.0)
    site.book(*"abcdef")
    reading = SiteSource(site.address, memory=memory, limits=replace(QUICK, connections=1)).read()
    list(islice(reading, 4))
    with closing(sqlite3.connect(memory)) as database:
        (kept,) = database.execute("select count(*) from visits").fetchone()
    reading.close()  # type: ignore[attr-defined]
    assert kept >= 3
