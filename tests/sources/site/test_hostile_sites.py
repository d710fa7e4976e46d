"""Hostile and broken sites: each crawl ends in bounded time, and says what happened."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from pertinent.errors import SourceError
from pertinent.sources.site import CrawlLimits, SiteSource
from pertinent.types import LazyPage, Unreadable

from .conftest import FAST_LIMITS, check_incomplete, crawl
from .server import Behaviour, LocalSite, Request, links, page, served, sitemap, sitemap_index

SMALL = replace(FAST_LIMITS, page_bytes=2**20)
MB = b"\0" * 2**20


@pytest.fixture(autouse=True)
def _in_bounded_time() -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < 25


def only(site: LocalSite, behaviour: Behaviour, limits: CrawlLimits = SMALL) -> Unreadable:
    """The report of a bad page among good ones, which must all be read."""
    site.book("a", "b")
    site.sitemap("/docs/a", "/docs/bad", "/docs/b")
    site.pages["/docs/bad"] = behaviour
    pages, unreadable = crawl(site, limits=limits)
    assert list(pages) == ["/docs/a", "/docs/b"]
    assert [problem.source_path for problem in unreadable] == ["/docs/bad"]
    return unreadable[0]


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def test_oversized_body_is_not_read(site: LocalSite) -> None:
    sent = []

    def huge(request: Request) -> None:
        request.raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(1024):
            request.raw(b"100000\r\n", MB, b"\r\n")
            sent.append(1)

    assert only(site, huge).reason == "is larger than 1 MB"
    assert len(sent) < 100


def test_oversized_content_length_is_refused(site: LocalSite) -> None:
    response = HEAD + b"Content-Length: 1073741824\r\n\r\n<h1>"
    assert only(site, lambda r: r.raw(response)).reason == "is larger than 1 MB"


def test_decompressed_size_is_limited(site: LocalSite) -> None:
    bomb = gzip.compress(MB * 200, 9)
    sent = {"Content-Encoding": "gzip"}
    assert only(site, lambda r: r.send(bomb, headers=sent)).reason == "is larger than 1 MB"


@pytest.mark.parametrize(
    ("encoding", "reason"),
    [("gzip", "can't be decompressed"), ("br", "which was not requested"), ("gzip, gzip", "not requested")],
)
def test_wrong_content_encoding_is_reported(site: LocalSite, encoding: str, reason: str) -> None:
    assert reason in only(site, lambda r: r.send("plain", headers={"Content-Encoding": encoding})).reason


def drip(request: Request, first: bytes, every: float, piece: bytes) -> None:
    request.raw(first)
    while not request.server.site.ended.wait(every):
        request.raw(piece)


@pytest.mark.parametrize(
    ("first", "every", "piece"),
    [
        (HEAD + b"Content-Length: 90000\r\n\r\n", 0.1, b"<"),
        (HEAD, 0.1, b"X: y\r\n"),
        (b"", 0.01, b"HTTP/1.1 102 Processing\r\n\r\n"),
    ],
    ids=["body", "headers", "1xx responses"],
)
def test_endless_response_times_out(site: LocalSite, first: bytes, every: float, piece: bytes) -> None:
    assert only(site, lambda r: drip(r, first, every, piece)).reason == "takes longer than 2 s"


def silent(request: Request) -> None:
    request.server.site.ended.wait(20)


def test_silent_server_times_out(site: LocalSite) -> None:
    assert only(site, silent).reason == "sent nothing for 0.6 s; tried 2 times"


def test_endless_headers_are_refused(site: LocalSite) -> None:
    reason = only(site, lambda r: r.raw(HEAD, *(b"X: " + b"y" * 1000 + b"\r\n" for _ in range(1000)))).reason
    assert "did not answer properly" in reason or "connection failed" in reason


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<h1>short",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 two hundred\r\n\r\n",
    ],
)
def test_invalid_http_is_reported(site: LocalSite, answer: bytes) -> None:
    reason = only(site, lambda r: r.raw(answer)).reason
    assert "did not answer properly" in reason or "connection failed" in reason
    assert reason.endswith("tried 2 times")


@pytest.mark.parametrize("target", ["/docs/x", "/docs/bad"], ids=["another page", "itself"])
def test_redirect_loop_is_detected(site: LocalSite, target: str) -> None:
    site.pages["/docs/x"] = lambda r: r.send(status=301, headers={"Location": "/docs/bad"})
    reason = only(site, lambda r: r.send(status=302, headers={"Location": target})).reason
    assert reason == f"redirects in a circle, back to {site.address}/docs/bad"


def test_number_of_redirects_is_limited(site: LocalSite) -> None:
    numbers = count()

    def on(request: Request) -> None:
        request.send(status=302, headers={"Location": f"/docs/hop{next(numbers)}"})

    site.fallback = lambda r: on(r) if "hop" in r.path else r.send(status=404)
    assert "redirects more than 10 times" in only(site, on).reason
    assert len([path for path in site.requested_paths if "hop" in path]) == 10


@pytest.mark.parametrize("target", [
    "http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:1/", "http://localhost/",
    "https://evil.example/docs/bad", "file:///etc/passwd", "http://me:word@127.0.0.1/",
    "http://[::1]/", "http://[", "//evil.example", "javascript:alert(1)",
])  # fmt: skip
def test_redirect_to_another_host_is_not_followed(site: LocalSite, target: str) -> None:
    site.book("a", "b")
    site.pages["/docs/b"] = lambda r: r.send(status=302, headers={"Location": target})
    results = list(SiteSource(site.address + "/", limits=SMALL).read())
    assert [result.page().source_path for result in results if isinstance(result, LazyPage)] == ["/docs/a"]
    (problem,) = [result for result in results if isinstance(result, Unreadable)]
    assert "which is not on this host" in problem.reason
    assert not problem.is_page


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"%PDF-1.7 ...", "was sent as text/html but is a PDF"),
        (b"\x89PNG\r\n\x1a\n", "was sent as text/html but is an image"),
        (b"PK\x03\x04", "was sent as text/html but is a zip archive"),
        (b"abc\0\0\1\2", "was sent as text/html but is binary data"),
        (b"  \n ", "is empty"),
        (b"", "is empty"),
    ],
)
def test_body_that_is_not_html_is_reported(site: LocalSite, body: bytes, reason: str) -> None:
    assert only(site, lambda r: r.send(body)).reason == reason


def test_page_with_nul_characters_is_read(site: LocalSite) -> None:
    site.book("a")
    site.pages["/docs/a"] = page("A", "<p>One\0 and two.</p>")
    pages, unreadable = crawl(site)
    assert (list(pages), unreadable) == (["/docs/a"], [])
    assert "\0" not in pages["/docs/a"].text


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", "", "application/xml"])
def test_html_with_a_generic_content_type_is_read(site: LocalSite, kind: str) -> None:
    site.book("a", "b")
    site.pages["/docs/b"] = lambda r: r.send(page("B", "<p>Yes.</p>"), headers={"Content-Type": kind})
    pages, unreadable = crawl(site)
    assert (list(pages), unreadable) == (["/docs/a", "/docs/b"], [])


def test_other_content_types_are_skipped(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/docs/b"] = lambda r: r.send(b"%PDF-1.7", headers={"Content-Type": "application/pdf"})
    assert [len(results) for results in crawl(site)] == [1, 0]


@pytest.mark.parametrize(
    ("charset", "body"),
    [
        ("utf-8", "caf\u00e9".encode("latin-1")),
        ("no-such-charset", "caf\u00e9".encode()),
        ("utf-16", "caf\u00e9".encode()),
        ("", "caf\u00e9".encode("cp1252")),
        ("zlib", "caf\u00e9".encode()),
    ],
)
def test_wrong_charset_loses_no_page(site: LocalSite, charset: str, body: bytes) -> None:
    site.book("a", "b")
    html = b"<html><head><title>B</title></head><body><main><h1>B</h1><p>A " + body + b" here.</p></main>"
    kind = f"text/html; charset={charset}" if charset else "text/html"
    site.pages["/docs/b"] = lambda r: r.send(html, headers={"Content-Type": kind})
    pages, unreadable = crawl(site)
    assert unreadable == []
    assert "caf\u00e9 here" in pages["/docs/b"].text


@pytest.mark.parametrize(
    "html",
    [
        "<html><body><main><h1>Bad</h1><p>Open <b>and <i>never <table><tr><td>closed <ul><li>text",
        "<main><h1>Bad</h1>" + "<div>" * 5000 + "deep" + "</div>" * 10,
        "<h1>Bad</h1><p>text</p>" + "<" * 20_000,
        "<h1>Bad</h1><p " + " ".join(f"a{n}=1" for n in range(20_000)) + ">text</p>",
        "<!--" * 5000 + "<h1>Bad</h1>",
        "<main><h1>Bad\0\ufffd</h1><p>\x01\x02 text</p></main>",
    ],
)
def test_broken_html_is_parsed(site: LocalSite, html: str) -> None:
    site.book("a", "b")
    site.pages["/docs/b"] = html
    pages, unreadable = crawl(site)
    assert "/docs/a" in pages
    assert len(pages) + len(unreadable) <= 2


def test_endless_calendar_is_limited(site: LocalSite) -> None:
    def calendar(request: Request) -> None:
        month = int(request.path.rpartition("=")[2].rpartition("/")[2] or 0)
        following = links(f"/calendar/{month + 1}", f"/calendar/{month}?view={month}")
        request.send(page(f"Month {month}", following))

    site.pages["/"] = page("Home", links("/calendar/1", "/a"))
    site.pages["/a"] = page("A")
    site.fallback = lambda r: calendar(r) if "calendar" in r.path else r.send(status=404)
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, alike=30, depth=1000))
    assert {"/", "/a"} <= set(pages)
    assert len(pages) < 70
    assert any("more than 30 addresses like /calendar/#" in problem.reason for problem in unreadable)
    assert not all(problem.path_identifies_page for problem in unreadable)


def test_growing_paths_are_limited(site: LocalSite) -> None:
    site.pages["/"] = page("Home", links("/more/"))
    site.fallback = lambda r: r.send(page("More", links("more/"))) if "more" in r.path else r.send(status=404)
    pages, unreadable = crawl(site)
    assert len(pages) == 4
    assert ["repeat themselves" in problem.reason for problem in unreadable] == [True]


def test_recursive_sitemap_index_is_read_once(site: LocalSite) -> None:
    site.pages["/"] = page("Home")
    site.pages["/sitemap.xml"] = sitemap_index(f"{site.address}/sitemap.xml", f"{site.address}/two.xml")
    site.pages["/two.xml"] = sitemap_index(f"{site.address}/sitemap.xml")
    assert list(crawl(site)[0]) == ["/"]
    assert site.requested_paths.count("/sitemap.xml") == 1


def test_number_of_sitemaps_is_limited(site: LocalSite) -> None:
    numbers = count()
    site.pages["/"] = page("Home")
    site.fallback = lambda r: r.send(
        sitemap_index(*(f"{site.address}/map{next(numbers)}.xml" for _ in range(5)))
        if r.path.endswith(".xml")
        else b"",
        status=200 if r.path.endswith(".xml") else 404,
    )
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, sitemaps=30))
    assert list(pages) == ["/"]
    check_incomplete(unreadable, "more than 30")
    assert len([path for path in site.requested_paths if path.endswith(".xml")]) <= 31


def test_sitemaps_count_towards_the_time_limit_of_the_crawl(site: LocalSite) -> None:
    site.pages["/"] = page("Home")
    site.pages["/sitemap.xml"] = sitemap_index(*(f"{site.address}/map{number}.xml" for number in range(40)))
    for number in range(40):
        site.pages[f"/map{number}.xml"] = lambda r: r.send_late(sitemap(f"{site.address}{r.path}/a"), 0.2)
    start = time.monotonic()
    _, unreadable = crawl(site, limits=replace(FAST_LIMITS, crawl_seconds=1))
    assert time.monotonic() - start < 4
    assert not any(problem.path_identifies_page for problem in unreadable)
    assert "the crawl reached its time limit of 1 s" in unreadable[0].reason
    assert len(site.requested_paths) < 20


@pytest.mark.parametrize("broken", [b"<?xml version='1.0'?><urlset><url><loc>", b"\x1f\x8bnot gzip"])
def test_broken_sitemap_is_reported_and_links_are_followed(site: LocalSite, broken: bytes) -> None:
    site.pages |= {"/": page("Home", links("/a")), "/a": page("A"), "/sitemap.xml": broken}
    pages, unreadable = crawl(site)
    assert list(pages) == ["/", "/a"]
    check_incomplete(unreadable, "")
    assert unreadable[0].source_path == "/sitemap.xml"


def test_home_page_at_every_address_is_one_page(site: LocalSite) -> None:
    home = page("Home", links("/"))
    site.pages["/"] = site.fallback = home
    pages, unreadable = crawl(site)
    assert (list(pages), unreadable) == (["/"], [])


def test_links_to_other_hosts_and_schemes_are_not_followed(site: LocalSite) -> None:
    bad = (
        "javascript:alert(1)", "mailto:me@example.org", "data:text/html,x", "http://me:word@127.0.0.1/",
        "http://127.0.0.1:1/", "http://[::1]:1/x", "http://[broken", "/" + "x" * 5000, "//evil.example/x",
        "http://169.254.169.254/", "\u0001/x",
    )  # fmt: skip
    site.pages |= {"/": page("Home", links(*bad, "/a")), "/a": page("A")}
    pages, unreadable = crawl(site)
    assert (list(pages), unreadable) == (["/", "/a"], [])
    assert set(site.requested_paths) <= {"/robots.txt", "/sitemap.xml", "/llms.txt", "/", "/a", "/x"}


def test_ipv6_site_is_crawled() -> None:
    import socket
    from http.server import ThreadingHTTPServer

    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    family = ThreadingHTTPServer.address_family
    ThreadingHTTPServer.address_family = socket.AF_INET6
    try:
        with served("::1") as site:
            site.address = site.address.replace("::1", "[::1]")
            site.book("a")
            assert list(crawl(site)[0]) == ["/docs/a"]
    finally:
        ThreadingHTTPServer.address_family = family


def test_crawl_ends_when_the_site_goes_down(site: LocalSite) -> None:
    site.book(*(f"p{number}" for number in range(60)))
    requests = count()

    def answer_three_times(request: Request) -> None:
        request.raw(b"") if next(requests) >= 3 else request.send(page(request.path))

    for number in range(60):
        site.pages[f"/docs/p{number}"] = answer_three_times
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, failures=5, connections=1, attempts=1))
    assert len(pages) == 3
    assert [problem.path_identifies_page for problem in unreadable] == [False] * 6
    assert "no longer answers: 5 pages in a row" in unreadable[-1].reason
    assert len(site.requested_paths) < 40


def test_crawl_ends_at_its_time_limit(site: LocalSite) -> None:
    site.book(*(f"p{number}" for number in range(50)))
    for number in range(50):
        site.pages[f"/docs/p{number}"] = lambda request: request.send_late(page(request.path), 0.2)
    start = time.monotonic()
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, crawl_seconds=1, connections=2))
    assert time.monotonic() - start < 4
    assert 0 < len(pages) < 30
    check_incomplete(unreadable, "stopped after 1 s")


def test_refused_connection_is_a_clear_error() -> None:
    from pertinent.sources.site import SiteSource

    with pytest.raises(SourceError, match="the connection failed"):
        list(SiteSource("http://127.0.0.1:1/", limits=FAST_LIMITS).read())


def test_failing_start_page_is_an_error(site: LocalSite) -> None:
    for status in (404, 500):
        site.pages["/"] = lambda r, status=status: r.send(status=status)  # type: ignore[misc]
        with pytest.raises(SourceError, match=f"HTTP {status}.*nothing was changed"):
            crawl(site)
    with pytest.raises(SourceError, match=r"nowhere\.xml answers HTTP 404"):
        crawl(site, "/nowhere.xml")


def test_same_text_on_most_pages_is_an_error(site: LocalSite) -> None:
    site.book(*(f"p{number}" for number in range(20)))
    for path in site.pages:
        if path.startswith("/docs/"):
            site.pages[path] = page("App", "<p>Please turn on scripts to see this page, thank you.</p>")
    with pytest.raises(SourceError, match="need JavaScript, which Pertinent does not run"):
        crawl(site)


def test_same_text_on_half_of_the_pages_is_accepted(site: LocalSite) -> None:
    names = [f"p{number}" for number in range(20)]
    site.book(*names)
    for name in names[:10]:
        site.pages[f"/docs/{name}"] = page("To be written", "<p>This page is to be written.</p>")
    assert len(crawl(site)[0]) == 20
    # With titles of their own, all of them may have one text.
    for name in names:
        site.pages[f"/docs/{name}"] = page(name, "<p>This page is to be written.</p>")
    assert len(crawl(site)[0]) == 20


def test_same_text_on_a_few_pages_is_accepted(site: LocalSite) -> None:
    site.book("a", "b", "c", "d", "e")
    for name in "abcde":
        site.pages[f"/docs/{name}"] = page("To be written", "<p>This page is to be written.</p>")
    assert len(crawl(site)[0]) == 5


def test_comments_above_a_page_take_no_time(site: LocalSite) -> None:
    site.book("a")
    site.pages["/docs/a"] = lambda request: request.send(b"<!---->" * 140 + b"<p>Comments above.</p>")
    pages, unreadable = crawl(site)
    assert (list(pages), unreadable) == (["/docs/a"], [])


def test_retry_after_of_no_calendar_loses_no_page(site: LocalSite) -> None:
    site.book("a", "b")
    late = {"Retry-After": "Sat, 01 Jan 10000 00:00:00 GMT"}
    site.pages["/docs/b"] = lambda request: request.send(page("B"), headers=late)
    pages, unreadable = crawl(site)
    assert (list(pages), unreadable) == (["/docs/a", "/docs/b"], [])


def test_robots_txt_that_is_too_large_is_kept_to_as_far_as_it_is_read(site: LocalSite) -> None:
    site.book("a", "secret")
    rules = "User-agent: *\nDisallow: /docs/secret\n" + "Disallow: /x\n" * 500_000  # 6 MB
    site.pages["/robots.txt"] = rules
    assert list(crawl(site)[0]) == ["/docs/a"]
    assert "/docs/secret" not in site.requested_paths


def test_last_line_of_a_cut_robots_txt_is_left_out(site: LocalSite) -> None:
    site.book("a")
    head = "User-agent: *\nDisallow: /secret\n"
    cut = "Disallow: /docs-of-others\n"
    padding = "#" * (500 * 1024 - len(head) - len("\nDisallow: /docs"))
    site.pages["/robots.txt"] = f"{head}{padding}\n{cut}" + "Disallow: /x\n" * 1000
    assert list(crawl(site)[0]) == ["/docs/a"]


def test_crawl_goes_on_if_only_some_pages_fail(site: LocalSite, cache_file: Path) -> None:
    names = [f"p{number}" for number in range(20)]
    site.book(*names)
    for name in names[3:15]:
        site.pages[f"/docs/{name}"] = lambda r: r.send(status=500)
    limits = replace(FAST_LIMITS, failures=5, attempts=1)
    for title in ("Old", "New"):
        site.pages["/docs/p0"] = page(title)
        pages, unreadable = crawl(site, cache_file=cache_file, limits=limits)
        assert sorted(pages) == sorted(f"/docs/{name}" for name in names[:3] + names[15:])
        assert pages["/docs/p0"].title == title
        assert len(unreadable) == 12


def test_crawl_of_a_site_that_went_down_is_not_resumed(site: LocalSite, cache_file: Path) -> None:
    site.book("a", "b", "c", "d")
    for path in ("/", "/docs/b", "/docs/c", "/docs/d"):
        site.pages[path] = lambda r: r.raw(b"")
    limits = replace(FAST_LIMITS, failures=3, attempts=1)
    crawl(site, cache_file=cache_file, limits=limits)
    site.pages["/docs/a"] = page("Changed")
    pages, _ = crawl(site, cache_file=cache_file, limits=limits)
    assert pages["/docs/a"].title == "Changed"
