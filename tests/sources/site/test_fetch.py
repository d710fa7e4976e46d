"""Fetching: retries, Retry-After, redirects, connections, TLS and proxies."""

from __future__ import annotations

import threading
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count

import pytest

from pertinent.errors import SettingsError
from pertinent.sources.site import SiteSource
from pertinent.sources.site.fetch import Fetcher
from pertinent.sources.site.responses import FetchFailed, PageGone
from pertinent.sources.site.scope import open_scope
from pertinent.types import LazyPage, Unreadable

from . import tls
from .conftest import FAST_LIMITS, crawl
from .server import Behaviour, LocalSite, Request, page


def failing(times: int, status: int, **headers: str) -> Behaviour:
    numbers = count()

    def behaviour(request: Request) -> None:
        if next(numbers) < times:
            request.send("busy", status=status, headers=headers)
        else:
            request.send(page(request.path))

    return behaviour


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520])
def test_fetch_retries_temporary_failures(site: LocalSite, status: int) -> None:
    site.book("a")
    site.pages["/docs/a"] = failing(1, status)
    pages, unreadable = crawl(site)
    assert (list(pages), unreadable) == (["/docs/a"], [])


@pytest.mark.parametrize("status", [400, 401, 403, 405, 418, 451, 204])
def test_fetch_does_not_retry_permanent_failures(site: LocalSite, status: int) -> None:
    site.book("a", "b")
    site.pages["/docs/a"] = failing(9, status)
    _, unreadable = crawl(site)
    assert [problem.reason for problem in unreadable] == [f"answers HTTP {status}"]
    assert site.requested_paths.count("/docs/a") == 1


def test_fetch_limits_and_reports_attempts(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/docs/a"] = failing(9, 500)
    _, unreadable = crawl(site, limits=replace(FAST_LIMITS, attempts=3))
    assert [problem.reason for problem in unreadable] == ["answers HTTP 500; tried 3 times"]
    assert site.requested_paths.count("/docs/a") == 3


def test_fetch_respects_retry_after(site: LocalSite) -> None:
    site.book("a")
    site.pages["/docs/a"] = failing(1, 429, **{"Retry-After": "1"})
    start = time.monotonic()
    assert list(crawl(site)[0]) == ["/docs/a"]
    assert time.monotonic() - start >= 1


def test_long_retry_after_is_a_failure(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/docs/a"] = failing(9, 429, **{"Retry-After": "3600"})
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, connections=1))
    assert [problem.reason for problem in unreadable] == ["answers HTTP 429 and asks to wait 3600 s"]
    assert list(pages) == ["/docs/b"]


@pytest.mark.usefixtures("short_gaps")
def test_busy_site_gets_more_attempts(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/docs/a"] = failing(4, 429)
    site.pages["/docs/b"] = failing(5, 503)
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, attempts=2))
    assert list(pages) == ["/docs/a"]
    assert [problem.reason for problem in unreadable] == ["answers HTTP 503; tried 5 times"]


@pytest.mark.usefixtures("short_gaps")
def test_occasional_refusals_do_not_end_the_crawl(site: LocalSite) -> None:
    names = [f"p{number}" for number in range(8)]
    site.book(*names)
    for name in names:
        site.pages[f"/docs/{name}"] = failing(1, 503)
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, connections=1, failures=4))
    assert (len(pages), unreadable) == (8, [])


def test_closed_connection_is_replaced(site: LocalSite) -> None:
    site.book(*"abcdef")
    for name in "abcdef":
        html = page(name)
        site.pages[f"/docs/{name}"] = lambda r, html=html: (  # type: ignore[misc]
            r.send(html, headers={"Connection": "close"})
        )
    assert [len(results) for results in crawl(site)] == [6, 0]


def test_unrequested_response_is_not_used_for_the_next_page(site: LocalSite) -> None:
    sent = threading.Event()

    def twice(request: Request) -> None:
        request.send(page("A"))
        request.wfile.flush()
        time.sleep(0.05)
        request.send(page("A"))
        request.wfile.flush()
        sent.set()

    site.pages |= {"/docs/a": twice, "/docs/b": page("B")}
    with Fetcher(open_scope(site.address), FAST_LIMITS) as fetcher:
        fetcher.get(f"{site.address}/docs/a")
        assert sent.wait(10)
        assert b"B" in fetcher.get(f"{site.address}/docs/b").body


@pytest.mark.parametrize("length", ["Content-Length: 500", "Transfer-Encoding: chunked", "X: 1"])
@pytest.mark.parametrize("hangs", [False, True])
def test_status_counts_even_if_the_body_never_comes(site: LocalSite, length: str, hangs: bool) -> None:
    def gone(request: Request) -> None:
        request.raw(f"HTTP/1.1 404 Not Found\r\n{length}\r\n\r\n".encode())
        site.ended.wait(10 if hangs else 0)

    def moved(request: Request) -> None:
        request.raw(f"HTTP/1.1 301 Moved\r\nLocation: /docs/b\r\n{length}\r\n\r\n".encode())
        site.ended.wait(10 if hangs else 0)

    site.pages |= {"/docs/gone": gone, "/docs/moved": moved, "/docs/b": page("B")}
    with Fetcher(open_scope(site.address), replace(FAST_LIMITS, quiet_seconds=10, page_seconds=4)) as fetcher:
        with pytest.raises(PageGone):
            fetcher.get(f"{site.address}/docs/gone")
        assert fetcher.get(f"{site.address}/docs/moved").address == f"{site.address}/docs/b"
    assert site.requested_paths == ["/docs/gone", "/docs/moved", "/docs/b"]
    site.ended.set()


@pytest.mark.parametrize("written", ["/docs/caf\u00e9".encode(), b"/docs/caf\xe9", b"/docs/caf%C3%A9"])
def test_redirect_location_is_decoded_as_by_browsers(site: LocalSite, written: bytes) -> None:
    site.pages["/docs/a"] = lambda request: request.raw(
        b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\nLocation: " + written + b"\r\n\r\n"
    )
    site.pages["/docs/caf%C3%A9"] = page("Caf\u00e9")
    with Fetcher(open_scope(site.address), FAST_LIMITS) as fetcher:
        assert fetcher.get(f"{site.address}/docs/a").address == f"{site.address}/docs/caf%C3%A9"


def test_number_of_connections_is_limited(site: LocalSite) -> None:
    now, most, lock = 0, 0, threading.Lock()

    def slowly(request: Request) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.02)
        with lock:
            now -= 1
        request.send(page(request.path))

    site.book(*(f"p{number}" for number in range(30)))
    for number in range(30):
        site.pages[f"/docs/p{number}"] = slowly
    crawl(site, limits=replace(FAST_LIMITS, connections=3))
    assert 1 < most <= 3


def test_redirect_to_https_suggests_that_address(site: LocalSite) -> None:
    secure = site.address.replace("http:", "https:")
    site.fallback = lambda r: r.send(status=301, headers={"Location": secure + r.path})
    with Fetcher(open_scope(site.address), FAST_LIMITS) as fetcher:
        with pytest.raises(
            FetchFailed, match=rf"redirects to {secure}/x; give the address with https:// instead"
        ):
            fetcher.get(f"{site.address}/x")
        site.pages["/gone"] = lambda r: r.send(status=410)
        with pytest.raises(PageGone):
            fetcher.get(f"{site.address}/gone")


def test_threads_fetch_over_http_1_1_even_if_the_server_offers_http2() -> None:
    pages = {f"/{name}": page(name) for name in "abcdefgh"}
    with (
        tls.served(pages) as (address, protocols),
        Fetcher(open_scope(address), FAST_LIMITS, tls_context=tls.client_context()) as fetcher,
    ):
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda path: fetcher.get(address + path), pages))
        assert [answer.body.decode() for answer in answers] == list(pages.values())
        with pytest.raises(PageGone):
            fetcher.get(f"{address}/nowhere")
    assert set(protocols) == {"http/1.1"}


def test_untrusted_certificate_is_refused() -> None:
    with (
        tls.served({}) as (address, _),
        Fetcher(open_scope(address), FAST_LIMITS) as fetcher,
        pytest.raises(FetchFailed, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        fetcher.get(f"{address}/a")


@pytest.mark.parametrize(("wished", "delay"), [(0.0, 3.0), (5.0, 5.0), (1000.0, 60.0)])
def test_crawl_delay_can_only_raise_the_delay(site: LocalSite, wished: float, delay: float) -> None:
    with Fetcher(open_scope(site.address), replace(FAST_LIMITS, delay=3.0)) as fetcher:
        fetcher.apply_robots(lambda _: True, wished)
        assert fetcher._throttle.delay == delay


def test_waiting_for_the_throttle_does_not_count_as_page_time(site: LocalSite) -> None:
    site.book(*"abcdef")
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, delay=0.4, page_seconds=1.5, connections=6))
    assert (len(pages), unreadable) == (6, [])


def test_proxy_gets_its_password(site: LocalSite, monkeypatch: pytest.MonkeyPatch) -> None:
    host = site.address.removeprefix("http://")
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", f"me:p%40ss@{host}")
    site.pages["http://book.example/docs"] = page("Through a proxy")
    source = SiteSource("http://book.example/docs", limits=FAST_LIMITS)
    assert [lazy.page().title for lazy in source.read() if isinstance(lazy, LazyPage)] == ["Through a proxy"]
    sent = {headers.get("proxy-authorization") for headers in site.request_headers}
    assert sent == {f"Basic {b64encode(b'me:p@ss').decode()}"}


def test_unreachable_proxy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", "http://me:secret@127.0.0.1:1")
    with (
        Fetcher(open_scope("http://book.example/"), FAST_LIMITS) as fetcher,
        pytest.raises(
            FetchFailed, match="the connection to the proxy, which the environment sets"
        ) as failure,
    ):
        fetcher.get("http://book.example/docs")
    assert "secret" not in str(failure.value)


@pytest.mark.parametrize("proxy", ["socks5://me:secret@127.0.0.1:1", "http://", "http://me:secret@host:port"])
def test_invalid_proxy_error_hides_its_password(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(SettingsError, match="HTTP_PROXY") as refusal:
        Fetcher(open_scope("http://book.example/"), FAST_LIMITS)
    assert "secret" not in str(refusal.value)


def test_redirect_is_reported_without_its_password(site: LocalSite) -> None:
    site.book("a", "b")
    target = {"Location": "http://me:secret@other.example/a"}
    site.pages["/docs/a"] = lambda request: request.send(status=302, headers=target)
    results = SiteSource(site.address + "/", limits=FAST_LIMITS).read()
    assert [result.reason for result in results if isinstance(result, Unreadable)] == [
        "redirects to http://other.example/a, which is not on this host"
    ]


def test_proxy_that_needs_a_password_is_named(site: LocalSite) -> None:
    site.book("a")
    site.pages["/docs/a"] = lambda request: request.send(status=407)
    _, (problem,) = crawl(site)
    assert "HTTP 407: the proxy needs a user name" in problem.reason
