"""While searches occupy every thread of theirs, everything that does not search still answers."""

from __future__ import annotations

import gc
import os
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

from pertinent.search.engine import Engine
from pertinent.surfaces.http.store_health import CACHE_SECONDS

from ..servers.qdrant import Node
from .conftest import Serve
from .test_health import Serving, _quick_embedder, ask, search, serving  # noqa: F401 - fixtures

SEARCHES = 50


def test_probes_and_suggestions_answer_while_searches_wait(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = serve(request_timeout=30)
    proceed = threading.Event()
    search_batch = Engine.search_batch

    def search_later(engine: Engine, queries: object) -> object:
        proceed.wait(20)
        return search_batch(engine, queries)  # type: ignore[arg-type]

    monkeypatch.setattr(Engine, "search_batch", search_later)
    with ThreadPoolExecutor(SEARCHES) as clients:
        searches = [clients.submit(service.search, f"torque {number}") for number in range(SEARCHES)]
        try:
            time.sleep(1.1 * CACHE_SECONDS)  # the stores are probed again
            began = time.monotonic()
            assert service.client.get("/readyz").json() == {"status": "ok", "index": True, "catalog": True}
            assert service.client.get("/api/v1/suggest?q=joi").json()["suggestions"]
            assert time.monotonic() - began < 10
        finally:
            proceed.set()
        assert {response.result().status_code for response in searches} == {200}


def test_long_queries_do_not_stay_in_memory(serve: Serve) -> None:
    service = serve(query_cache=0)

    def send_queries(start: int, count: int) -> None:
        for number in range(start, start + count):
            # Chinese characters, all pairs of which are new.
            query = "".join(chr(0x4E00 + number * 30 + offset * 7 % 20_000) for offset in range(2000))
            assert service.v1(query).status_code == 200

    send_queries(0, 40)  # the last queries are kept
    tracemalloc.start()
    try:
        send_queries(40, 10)
        gc.collect()
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size / 10 < 60_000, "a query keeps less than ten times its size"


@pytest.mark.slow
@pytest.mark.xdist_group("serve")
def test_suggestions_do_not_wait_for_a_silent_qdrant(
    serving: Serving,  # noqa: F811 - a fixture
    qdrant_node: Node,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QDRANT_URL", qdrant_node.url)
    monkeypatch.setenv("QDRANT_API_KEY", qdrant_node.key or "")
    monkeypatch.setenv("QDRANT_COLLECTION_NAME", f"overload-{os.getpid()}")
    server = serving()
    assert search(server)[0] == 200
    with qdrant_node.frozen(), ThreadPoolExecutor(8) as clients:
        searches = [clients.submit(search, server) for _ in range(8)]
        time.sleep(0.5)
        began = time.monotonic()
        status, body = ask(server, "GET", "/api/v1/suggest?q=joi")
        assert time.monotonic() - began < 3
        assert (status, body["suggestions"][0]["title"]) == (200, "Joints")
        assert {outcome.result()[0] for outcome in searches} == {503}
