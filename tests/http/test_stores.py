"""The join with the catalog, and what is answered while a store is down."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import sqlalchemy as sa
from qdrant_client import QdrantClient

from pertinent.errors import CatalogFailure
from pertinent.search.notes import NO_CATALOG, NO_LEXICAL
from pertinent.surfaces.http import store_health
from pertinent.workspace.workspace import Workspace

from ..servers.fixtures import Endpoint
from ..servers.postgres import frozen, postgres_starter
from ..stores.catalog.test_catalog import SEED_TABLE
from ..stores.external.pipelines import PIPELINES
from .conftest import QUERY_FIELD, Serve, Service, fill, open_filled, problem, raising, settings_in


@pytest.fixture
def fresh_health(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the stores is a new one."""
    monkeypatch.setattr(store_health, "CACHE_SECONDS", -1.0)


def catalog_engine(workspace: Workspace) -> sa.Engine:
    engine = vars(workspace.catalog())["_engine"]
    assert isinstance(engine, sa.Engine)
    return engine


def change(workspace: Workspace, statement: str) -> None:
    with catalog_engine(workspace).begin() as connection:
        connection.exec_driver_sql(statement)


def test_search_joins_path_slug_and_title_from_the_catalog(serve: Serve, own: Workspace) -> None:
    service = serve(own)
    change(own, "UPDATE documents SET source_path = 'moved/x.md', slug = 'moved', title = 'Moved'")
    for result in service.search().json()["results"]:
        assert (result["source_path"], result["slug"], result["title"]) == ("moved/x.md", "moved", "Moved")
    for result in service.v1().json()["results"]:
        assert result["metadata"]["source_path"] == "moved/x.md"
        assert result["metadata"]["document_title"] == "Moved"


def test_search_join_is_one_statement(serve: Serve, own: Workspace) -> None:
    statements: list[str] = []
    engine = catalog_engine(own)
    sa.event.listen(engine, "before_cursor_execute", lambda *event: statements.append(event[2]))
    service = serve(own)
    assert service.client.get("/health").status_code == 200
    statements.clear()  # a health check uses the same statement
    assert len(service.search(top_k=20).json()["results"]) == 20
    join = "SELECT chunk_id, source_path, slug, title FROM documents WHERE chunk_id"
    assert sum(statement.startswith(join) for statement in statements) == 1


def test_missing_catalog_row_falls_back_to_the_payload(serve: Serve, own: Workspace) -> None:
    service = serve(own)
    before = service.search().json()
    missing = before["results"][0]["chunk_id"]
    change(own, f"DELETE FROM documents WHERE chunk_id = '{missing}'")  # noqa: S608 - an id of ours
    assert service.search().json() == before


def test_seed_003_null_title_in_the_catalog_gives_null(serve: Serve, own: Workspace) -> None:
    service = serve(own)
    before = service.search().json()["results"]
    change(own, "UPDATE documents SET title = NULL")
    after = service.search().json()["results"]
    assert after == [result | {"title": None} for result in before]
    # Seed 004's title is text, so that it is empty; nothing is down.
    response = service.v1().json()
    assert {result["metadata"]["document_title"] for result in response["results"]} == {""}
    assert response["status"] == "success"


@pytest.mark.usefixtures("fresh_health")
def test_corrupt_sqlite_catalog_degrades_and_recovers(
    serve: Serve, own: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    service = serve(own)
    expected = service.search().json()
    file = Path(str(catalog_engine(own).url.database))
    backup = {path: path.read_bytes() for path in file.parent.glob(f"{file.name}*")}
    for path in backup:
        path.unlink()
    file.write_bytes(b"garbage " * 1000)
    assert_degraded(service, expected)
    for path, content in backup.items():
        if not path.name.endswith("-shm"):
            path.write_bytes(content)
    assert_ok(service, expected)


def chunk_ids(answer: Any) -> list[str]:
    return [result["chunk_id"] for result in answer["results"]]


def assert_degraded(service: Service, expected: Any) -> None:
    """Searches answer from the payload, and everything says that a part is down."""
    assert service.search().json() == {**expected, "notes": [NO_CATALOG]}
    for route in ("/health", "/api/v1/health", "/readyz"):
        answer = service.client.get(route)
        assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    assert service.client.get("/health").json() == {"status": "degraded", "qdrant": True, "postgres": False}
    answer = service.v1().json()
    assert answer["status"] == "partial"
    assert chunk_ids(answer) == chunk_ids(expected)
    assert answer["warnings"] == ["the catalog did not answer; path, slug and title come from the index"]
    none = service.v1(similarity_threshold=1.0).json()
    assert none["status"] == "no_results"
    for route in ("documents", "documents/x", f"chunks/{expected['results'][0]['chunk_id']}"):
        problem(service.client.get(f"/api/v1/{route}"), 503, "service_unavailable")
    assert any("catalog" in note for note in service.lines("search")[-2]["notes"])


def assert_ok(service: Service, expected: Any) -> None:
    assert service.client.get("/health").json() == {"status": "ok", "qdrant": True, "postgres": True}
    assert service.search().json() == expected
    assert service.v1().json()["status"] == "success"
    assert service.client.get("/api/v1/documents").json()["total"] == 4


class Postgres:
    """A PostgreSQL that can be stopped and started."""

    def __init__(self, start: Callable[[], Any]) -> None:
        self._start = start
        self._server: Any = None

    def start(self) -> str:
        self._server = self._start()
        return str(self._server.get_uri())

    def frozen(self) -> AbstractContextManager[None]:
        """It holds its connections and answers nothing."""
        return frozen(self._server.get_pid())

    def stop(self) -> None:
        if self._server is not None:
            self._server.cleanup()
            self._server = None


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    with postgres_starter() as start:
        server = Postgres(start)
        yield server
        server.stop()


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_health")
def test_stopped_postgresql_degrades_and_recovers(serve: Serve, postgres: Postgres, tmp_path: Path) -> None:
    url = postgres.start()
    workspace = Workspace(settings_in(tmp_path / "pg", database_url=url))
    service = serve(fill(workspace))
    expected = service.search().json()
    assert_ok(service, expected)
    # PostgreSQL keeps no NUL in a text.
    for kind in ("chunks", "documents"):
        problem(service.client.get(f"/api/v1/{kind}/%00"), 404, "not_found")
    assert service.search("\x00 torque").status_code == 200

    postgres.stop()
    assert_degraded(service, expected)
    assert url not in str(service.logged.entries)

    assert postgres.start() == url
    assert_ok(service, expected)
    workspace.close()


@contextmanager
def external(folder: Path, qdrant: Endpoint, collection: str, **chosen: Any) -> Iterator[Workspace]:
    """A workspace over a collection of another pipeline."""
    location = {"qdrant_url": qdrant.url, "qdrant_api_key": qdrant.key, "qdrant_collection": collection}
    workspace = Workspace(settings_in(folder / "external", **location, **chosen))
    workspace.engine()
    yield workspace
    workspace.close()


@pytest.fixture
def seed_003(qdrant: Endpoint, collection: str, postgres: Postgres, tmp_path: Path) -> Iterator[Workspace]:
    """Seed 003's own stores, filled by another pipeline: its collection, and its table in PostgreSQL."""
    client = QdrantClient(url=qdrant.url, api_key=qdrant.key)
    PIPELINES["seed 003"].fill(client, collection)
    client.close()
    url = postgres.start()
    database = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
    with database.begin() as connection:
        connection.exec_driver_sql(SEED_TABLE)
        connection.exec_driver_sql(
            "INSERT INTO documents (chunk_id, source_path, slug, title, order_index, snippet) VALUES "
            "('doc-topics-0001', 'moved/topics.md', 'moved-topics', 'Moved', 1, 'Nodes …'), "
            "('doc-topics-0002', 'docs/topics.md', 'topics', NULL, 2, 'Reliable …')"
        )
    database.dispose()
    with external(tmp_path, qdrant, collection, database_url=url) as workspace:
        yield workspace


@pytest.mark.slow
@pytest.mark.xdist_group("external")
@pytest.mark.usefixtures("fresh_health")
def test_seed_003_results_are_joined_with_the_documents_table_that_another_pipeline_filled(
    serve: Serve, seed_003: Workspace, postgres: Postgres
) -> None:
    service = serve(seed_003)
    results = service.search("messages on topics", top_k=20).json()["results"]
    joined = {hit["chunk_id"]: (hit["source_path"], hit["slug"], hit["title"]) for hit in results}
    assert joined["doc-topics-0001"] == ("moved/topics.md", "moved-topics", "Moved")
    assert joined["doc-topics-0002"] == ("docs/topics.md", "topics", None)
    # A missing row falls back to the payload.
    assert joined["doc-topics-0003"] == ("docs/topics.md", "topics", "Topics")
    assert service.client.get("/health").json() == {"status": "ok", "qdrant": True, "postgres": True}
    assert service.v1("messages on topics").json()["status"] == "success"

    postgres.stop()
    assert service.client.get("/health").json() == {"status": "degraded", "qdrant": True, "postgres": False}
    response = service.v1("messages on topics").json()
    assert response["status"] == "partial"
    assert NO_CATALOG in response["warnings"]
    titles = {result["metadata"]["document_title"] for result in response["results"]}
    assert titles <= {"Topics", "Services", "Joints"}


@pytest.mark.slow
@pytest.mark.xdist_group("external")
@pytest.mark.usefixtures("fresh_health")
def test_rule_16_nothing_is_created_in_the_database_of_another_pipeline(
    serve: Serve, seed_003: Workspace, postgres: Postgres
) -> None:
    service = serve(seed_003)
    assert service.search("messages on topics").json()["results"]
    address = seed_003.settings.database_url
    assert address is not None
    url = address.get_secret_value().replace("postgresql://", "postgresql+psycopg://", 1)
    database = sa.create_engine(url)
    with database.begin() as connection:
        assert sa.inspect(connection).get_table_names() == ["documents"]
        connection.exec_driver_sql("DROP TABLE documents")
    assert service.client.get("/health").json()["status"] == "degraded"
    assert service.v1("messages on topics").json()["status"] == "partial"
    with database.begin() as connection:
        assert sa.inspect(connection).get_table_names() == []
    database.dispose()


def test_rule_10_collection_without_lexical_vectors_is_not_degraded(
    serve: Serve, qdrant: Endpoint, collection: str, tmp_path: Path
) -> None:
    client = QdrantClient(url=qdrant.url, api_key=qdrant.key)
    PIPELINES["seed 004"].fill(client, collection)
    client.close()
    with external(tmp_path, qdrant, collection) as workspace:
        service = serve(workspace)
        response = service.v1("messages on topics").json()
        assert (response["status"], response["warnings"]) == ("success", [NO_LEXICAL])
        assert response["search_params"]["ranking"] == "dense"
        assert service.client.get("/health").json()["status"] == "ok"


def test_closed_index_is_unavailable(serve: Serve, own: Workspace) -> None:
    service = serve(own)
    own.index().close()
    problem(service.search(), 503, "service_unavailable")
    problem(service.v1(), 503, "service_unavailable")
    answer = service.client.get("/health")
    assert (answer.status_code, answer.json()["status"]) == (503, "error")
    assert service.client.get("/readyz").status_code == 503
    assert service.client.get("/livez").status_code == 200
    assert service.client.get("/api/v1/documents").status_code == 200


@pytest.fixture
def caching(tmp_path: Path) -> Iterator[Workspace]:
    """The book in separate stores, with a query cache."""
    with open_filled(tmp_path / "memory", query_cache=10) as workspace:
        yield workspace


def test_cached_answer_differs_only_in_id_and_time(
    serve: Serve, caching: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = serve(caching)
    first = [service.search().json(), service.v1().json()]
    service.break_index(monkeypatch, AssertionError("the index was searched again"))
    second = [service.search().json(), service.v1().json()]
    assert first[0] == second[0]
    assert first[1].pop("query_id") != second[1].pop("query_id")
    for answer in (first[1], second[1]):
        del answer["created_at"], answer["query_time_ms"]
    assert first[1] == second[1]
    assert len(service.lines("search")) == 4


def test_no_cache_bypasses_the_cache(
    serve: Serve, caching: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = serve(caching)

    def titles(route: str, **headers: str) -> set[str]:
        results = service.ask(route, **headers).json()["results"]
        return {result.get("title") or result["metadata"]["document_title"] for result in results}

    for route in QUERY_FIELD:
        before = titles(route)
        change(caching, f"UPDATE documents SET title = 'New for {route}'")  # noqa: S608 - a path of ours
        assert titles(route) == before
        assert titles(route, **{"cache-control": "max-age=0, no-cache"}) == {f"New for {route}"}
        assert titles(route) == {f"New for {route}"}

    def nearest(**headers: str) -> None:
        body = {"query_text": "the torque of joints", "similarity_threshold": 1.0}
        assert service.client.post("/api/v1/search", json=body, headers=headers).json()["nearest"]

    nearest()
    index = caching.index()
    candidates, chunks = (Mock(wraps=getattr(index, name)) for name in ("candidates", "chunks"))
    monkeypatch.setattr(index, "candidates", candidates)
    monkeypatch.setattr(index, "chunks", chunks)
    nearest()
    assert (candidates.call_count, chunks.call_count) == (0, 0)
    nearest(**{"cache-control": "no-cache"})
    assert (candidates.call_count, chunks.call_count) == (1, 1)


@pytest.mark.usefixtures("fresh_health")
def test_cached_answers_are_not_used_while_the_catalog_is_down(
    serve: Serve, caching: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = serve(caching)
    assert service.v1().json()["status"] == "success"
    for name in ("describe", "ping"):
        monkeypatch.setattr(caching.catalog(), name, raising(CatalogFailure("gone")))
    answer = service.v1("Nodes publish messages on topics").json()
    assert answer["status"] == "partial"
    assert answer["results"]
    # A cached answer would contradict the health of the service.
    assert service.client.get("/health").json()["status"] == "degraded"
    assert service.v1().json()["status"] == "partial"
    monkeypatch.undo()
    monkeypatch.setattr(store_health, "CACHE_SECONDS", -1.0)
    assert service.v1().json()["status"] == "success"
    assert service.v1("Nodes publish messages on topics").json()["status"] == "success"


def test_missing_index_is_unavailable_and_not_an_empty_answer(serve: Serve, workspace: Workspace) -> None:
    service = serve(workspace)
    answers = [service.client.get(path) for path in ("/api/v1/suggest?q=x", "/llms.txt", "/llms-full.txt")]
    for answer in (service.search(), service.v1(), *answers):
        assert problem(answer, 503, "service_unavailable") == "nothing is indexed yet"


@pytest.mark.parametrize("route", QUERY_FIELD)
def test_slow_search_times_out_with_503(serve: Serve, monkeypatch: pytest.MonkeyPatch, route: str) -> None:
    service = serve(request_timeout=0.05)
    ended = threading.Event()
    monkeypatch.setattr(service.pertinent.workspace.embedder(), "embed_queries", lambda _: ended.wait(5))
    message = problem(service.ask(route), 503, "service_unavailable")
    ended.set()
    assert "0.05 s" in message


def test_hanging_store_is_unhealthy_after_the_timeout(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    service = serve(request_timeout=0.4)
    ended = threading.Event()
    index = service.pertinent.workspace.index()
    monkeypatch.setattr(index, "candidates", lambda *_, **__: ended.wait(5))
    answer = service.client.get("/health")
    ended.set()
    assert (answer.status_code, answer.json()["status"]) == (503, "error")


def test_health_check_is_cached(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    index = service.pertinent.workspace.index()
    count = Mock(wraps=index.count)
    monkeypatch.setattr(index, "count", count)
    for _ in range(10):
        for route in ("/readyz", "/health", "/api/v1/health"):
            assert service.client.get(route).status_code == 200
    assert count.call_count == 1
    monkeypatch.setattr(store_health, "CACHE_SECONDS", -1.0)
    service.client.get("/readyz")
    assert count.call_count == 2
