"""A PostgreSQL that holds its connections and answers nothing: searches go on, and all recovers by itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack

import pytest

from pertinent.surfaces.http.store_health import CACHE_SECONDS

from ..servers.silent_proxy import silent_proxy
from .test_health import (
    NO_CACHE,
    STATES,
    Serving,
    _quick_embedder,  # noqa: F401 - a fixture
    ask,
    check_health_first,
    logged_health,
    search,
    serving,  # noqa: F401 - a fixture
)
from .test_server import Server
from .test_stores import Postgres, postgres  # noqa: F401 - a fixture

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]

TIMEOUT = 5
"""Seconds for a statement and for a connection: short to wait for, and enough for a busy machine."""

Silence = Callable[[], AbstractContextManager[None]]


@pytest.fixture(params=["stopped server", "silent proxy", "lost connections"])
def silence(
    request: pytest.FixtureRequest,
    postgres: Postgres,  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Silence]:
    """Make the PostgreSQL that the settings name silent, in one of three ways."""
    url = postgres.start()
    monkeypatch.setenv("PERTINENT_DATABASE_TIMEOUT", str(TIMEOUT))
    with ExitStack() as stack:
        if request.param == "stopped server":
            monkeypatch.setenv("DATABASE_URL", f"{url}&connect_timeout={TIMEOUT}")
            yield postgres.frozen
            return
        proxy, proxy_url = stack.enter_context(silent_proxy(url, connect_seconds=TIMEOUT))
        monkeypatch.setenv("DATABASE_URL", proxy_url)
        yield lambda: proxy.silent(lose_connections=request.param == "lost connections")


def test_seed_003_searches_are_degraded_and_recover_while_postgresql_is_silent(
    serving: Serving,  # noqa: F811 - the fixture
    silence: Silence,
) -> None:
    server = serving()
    assert search(server, **NO_CACHE) == STATES["ok"]
    with silence():
        # More searches at once than there are threads, and pages, which have no other store.
        with ThreadPoolExecutor(16) as clients:
            pages = [clients.submit(ask, server, "GET", "/api/v1/documents") for _ in range(8)]
            answers = [clients.submit(search, server, **NO_CACHE) for _ in range(8)]
            assert {answer.result() for answer in answers} == {STATES["degraded"]}
            assert {page.result()[0] for page in pages} == {503}
        check_health_first(server, "degraded")
        assert ask(server, "GET", "/readyz") == (200, {"status": "degraded", "index": True, "catalog": False})
    check_health_first(server, "ok")
    assert ask(server, "GET", "/api/v1/documents")[1]["total"] == 3
    assert "catalog" in logged_health(server, "degraded")["reasons"][0]


def test_searches_go_on_while_postgresql_goes_silent_under_load(
    serving: Serving,  # noqa: F811 - the fixture
    silence: Silence,
) -> None:
    server = serving()
    stop = threading.Event()
    statuses: list[tuple[int, str]] = []

    def keep_searching() -> None:
        while not stop.wait(0.05):
            statuses.append(search(server, **NO_CACHE))

    clients = [threading.Thread(target=keep_searching) for _ in range(4)]
    for client in clients:
        client.start()
    try:
        with silence():
            check_health_first(server, "degraded")
        check_health_first(server, "ok")
    finally:
        stop.set()
        for client in clients:
            client.join()
    assert set(statuses) == {STATES["ok"], STATES["degraded"]}


@pytest.fixture
def serve_within(
    serving: Serving,  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[int], Server]:
    """Start a service with this `request_timeout`, much less than that of the database; it has answered."""

    def start(request_timeout: int) -> Server:
        monkeypatch.setenv("PERTINENT_DATABASE_TIMEOUT", "60")
        monkeypatch.setenv("PERTINENT_REQUEST_TIMEOUT", str(request_timeout))
        server = serving()
        assert search(server, **NO_CACHE) == STATES["ok"]
        return server

    return start


def test_search_waits_for_a_silent_postgresql_once(
    serve_within: Callable[[int], Server], silence: Silence
) -> None:
    server = serve_within(20)
    with silence():
        time.sleep(1.1 * CACHE_SECONDS)  # the search begins with a health check
        began = time.monotonic()
        assert search(server, **NO_CACHE) == STATES["degraded"]
        assert time.monotonic() - began < 7  # a fifth of 20 s, and a second for the words


def test_sigterm_ends_the_service_while_postgresql_is_silent(
    serve_within: Callable[[int], Server], silence: Silence
) -> None:
    server = serve_within(3)
    with silence():
        assert search(server, **NO_CACHE) == STATES["degraded"]
        assert ask(server, "GET", "/api/v1/documents")[0] == 503
        began = time.monotonic()
        assert server.end() == 0
        assert time.monotonic() - began < 10
