"""Rule 8: health and searches agree on what is down, over HTTP and with real stores."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pertinent.search.notes import NO_CATALOG, NO_CHUNKS
from pertinent.surfaces.library import Pertinent

from ..servers.qdrant import Node
from .test_server import Server, write_pages
from .test_stores import Postgres, postgres  # noqa: F401 - a fixture

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]

NO_CACHE = {"Cache-Control": "no-cache"}
CATALOG = Path(".pertinent/catalog.sqlite3")
PROBES = ("/health", "/api/v1/health", "/readyz")
STATES = {"ok": (200, "success"), "degraded": (200, "partial"), "error": (503, "service_unavailable")}
"""By the status of the service: the HTTP status, and what a search answers as `status` or `error`."""

Serving = Callable[..., Server]


@pytest.fixture(autouse=True)
def _quick_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERTINENT_EMBEDDER", "testing:hashed-words")


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """`pertinent serve` over a small site that is indexed with the present settings."""
    servers: list[Server] = []

    def start(*, with_pages: bool = True) -> Server:
        docs = write_pages(tmp_path / "docs")
        with Pertinent.open() as pertinent:
            pertinent.index(docs, name="docs")
            if not with_pages:
                pertinent.remove("docs")
        servers.append(Server())
        return servers[-1]

    yield start
    for server in servers:
        server.end()


def ask(
    server: Server, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    with closing(server.connect(60.0)) as connection:
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def search(server: Server, query: str = "revolute joint limits", **headers: str) -> tuple[int, str]:
    body = {"query_text": query, "similarity_threshold": 0.0}
    status, response = ask(server, "POST", "/api/v1/search", body, **headers)
    assert response.get("results") or status != 200
    warnings = [NO_CATALOG] if response.get("status") == "partial" else []
    assert response.get("warnings", []) == warnings
    return status, response.get("status") or response["error"]


def check_agreement(server: Server, state: str) -> None:
    """Search the stores, then ask for the health at once, then search what is cached: all say the same."""
    expected = STATES[state]
    assert search(server, **NO_CACHE) == expected
    for probe in PROBES:
        status, body = ask(server, "GET", probe)
        assert (status, body["status"]) == (expected[0], state), probe
    assert search(server) == expected
    assert search(server, f"what is a node {time.monotonic_ns()}") == expected
    status, body = ask(server, "POST", "/search", {"query": "revolute joint limits"})
    assert status == expected[0]
    assert body.get("notes", []) == ([NO_CATALOG] if state == "degraded" else [])


def check_health_first(server: Server, state: str) -> None:
    """The same for a probe that comes before any search: it is at most one check old."""
    deadline = time.monotonic() + 60
    while ask(server, "GET", "/health")[1]["status"] != state and time.monotonic() < deadline:
        time.sleep(0.2)
    check_agreement(server, state)


def logged_health(server: Server, status: str) -> dict[str, Any]:
    """The last log line that says so; stderr is read by another thread, a moment later."""
    deadline = time.monotonic() + 10
    while True:
        lines = [json.loads(line) for line in list(server.output) if line.startswith("{")]
        changes = [line for line in lines if line["event"] == "health" and line["status"] == status]
        if changes or time.monotonic() > deadline:
            return dict(changes[-1])
        time.sleep(0.05)


@pytest.mark.parametrize("check", [check_agreement, check_health_first])
def test_seed_003_health_is_degraded_while_the_sqlite_table_is_dropped(
    serving: Serving, check: Callable[[Server, str], None]
) -> None:
    server = serving()
    check_agreement(server, "ok")
    with closing(sqlite3.connect(CATALOG)) as catalog:
        catalog.execute("CREATE TABLE copy AS SELECT * FROM documents")
        catalog.execute("DROP TABLE documents")
        check(server, "degraded")
        assert "no such table: documents" in logged_health(server, "degraded")["reasons"][0]
        catalog.execute("ALTER TABLE copy RENAME TO documents")
        check(server, "ok")
    assert logged_health(server, "ok")["reasons"] == []


@pytest.mark.parametrize("check", [check_agreement, check_health_first])
def test_seed_003_health_is_degraded_while_the_sqlite_file_is_deleted(
    serving: Serving, tmp_path: Path, check: Callable[[Server, str], None]
) -> None:
    server = serving()
    check_agreement(server, "ok")
    with closing(sqlite3.connect(CATALOG)) as catalog, closing(sqlite3.connect(tmp_path / "backup")) as copy:
        catalog.backup(copy)
    for file in CATALOG.parent.glob(f"{CATALOG.name}*"):
        file.unlink()
    check(server, "degraded")
    (reason,) = logged_health(server, "degraded")["reasons"]
    assert "its file is gone; put it back from a backup" in reason
    assert not CATALOG.exists(), "an empty catalog would look like a folder where nothing was ever indexed"
    shutil.copy(tmp_path / "backup", CATALOG)
    check(server, "ok")


def test_seed_003_health_follows_the_sqlite_file_at_the_path(serving: Serving, tmp_path: Path) -> None:
    server = serving()
    check_agreement(server, "ok")
    CATALOG.rename(tmp_path / "moved")
    check_agreement(server, "degraded")
    sqlite3.connect(CATALOG).close()
    CATALOG.touch()
    check_agreement(server, "degraded")
    assert ask(server, "GET", "/api/v1/documents")[0] == 503
    (tmp_path / "moved").replace(CATALOG)
    check_agreement(server, "ok")
    assert ask(server, "GET", "/api/v1/documents")[1]["total"] == 3


def test_replaced_catalog_file_is_read_at_once(serving: Serving, tmp_path: Path) -> None:
    server = serving()
    check_agreement(server, "ok")
    with closing(sqlite3.connect(CATALOG)) as catalog, closing(sqlite3.connect(tmp_path / "other")) as other:
        catalog.backup(other)
        other.execute("UPDATE documents SET title = 'Replaced'")
        other.commit()
    (tmp_path / "other").replace(CATALOG)
    check_agreement(server, "ok")
    _, body = ask(server, "POST", "/search", {"query": "a process that talks"}, **NO_CACHE)
    assert {result["title"] for result in body["results"]} == {"Replaced"}
    (tmp_path / "empty").touch()
    (tmp_path / "empty").replace(CATALOG)
    check_agreement(server, "degraded")


@pytest.mark.parametrize("check", [check_agreement, check_health_first])
def test_seed_003_health_is_degraded_while_postgresql_does_not_answer(
    serving: Serving,
    postgres: Postgres,  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
    check: Callable[[Server, str], None],
) -> None:
    url = postgres.start()
    monkeypatch.setenv("DATABASE_URL", url)
    server = serving()
    check_agreement(server, "ok")
    with psycopg.connect(url, autocommit=True) as catalog:
        catalog.execute("CREATE TABLE copy AS SELECT * FROM documents")
        catalog.execute("DROP TABLE documents")
        check(server, "degraded")
        assert "documents" in logged_health(server, "degraded")["reasons"][0]
        catalog.execute("ALTER TABLE copy RENAME TO documents")
    check(server, "ok")
    postgres.stop()
    check(server, "degraded")
    assert postgres.start() == url
    check(server, "ok")
    assert url not in "".join(server.output)


@pytest.mark.parametrize("check", [check_agreement, check_health_first])
def test_seed_003_health_is_an_error_while_the_qdrant_server_is_stopped(
    serving: Serving,
    qdrant_node: Node,
    monkeypatch: pytest.MonkeyPatch,
    check: Callable[[Server, str], None],
) -> None:
    monkeypatch.setenv("QDRANT_URL", qdrant_node.url)
    monkeypatch.setenv("QDRANT_API_KEY", qdrant_node.key or "")
    monkeypatch.setenv("QDRANT_COLLECTION_NAME", f"health-{os.getpid()}-{check.__name__}")
    monkeypatch.setenv("PERTINENT_QDRANT_TIMEOUT", "3")
    server = serving()
    check_agreement(server, "ok")
    qdrant_node.kill()
    try:
        check(server, "error")
        assert ask(server, "GET", "/health")[1] == {"status": "error", "qdrant": False, "postgres": True}
    finally:
        qdrant_node.start()
        qdrant_node.wait()
    check(server, "ok")


def test_seed_004_empty_index_is_healthy_and_has_no_results(serving: Serving) -> None:
    server = serving(with_pages=False)
    assert f"pertinent: warning: {NO_CHUNKS}\n" in server.output
    assert ask(server, "POST", "/search", {"query": "joints"}) == (
        200,
        {"query": "joints", "results": [], "notes": [NO_CHUNKS]},
    )
    status, body = ask(server, "POST", "/api/v1/search", {"query_text": "revolute joint limits"})
    assert (status, body["status"], body["results"]) == (200, "no_results", [])
    assert body["warnings"] == [NO_CHUNKS]
    assert ask(server, "GET", "/health") == (200, {"status": "ok", "qdrant": True, "postgres": True})
    assert ask(server, "GET", "/api/v1/index")[1]["chunks"] == 0
    assert ask(server, "GET", "/api/v1/documents")[1]["total"] == 0
