"""Another process rebuilds the index on a Qdrant server and deletes the build that the service has open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pertinent.surfaces.library import Pertinent
from pertinent.workspace.workspace import Workspace

from ..servers.fixtures import Endpoint
from .conftest import Serve, Service, fill, problem, settings_in


def search_by_mcp(service: Service) -> bool:
    call = {"name": "search", "arguments": {"query": "the torque of joints"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {"Accept": "application/json, text/event-stream"}
    result = service.client.post("/mcp", json=message, headers=headers).json()["result"]
    return not result.get("isError")


def validate(service: Service, chunk_id: str) -> bool:
    test = {
        "test_id": "torque",
        "query_text": "the torque of joints",
        "expected_results": [chunk_id],
        "success_criteria": {"min_accuracy": 1.0, "min_similarity_score": 0.1},
        "test_category": "factual",
    }
    response = service.client.post("/api/v1/validate", json={"tests": [test]})
    assert response.status_code == 200, response.text
    return bool(response.json()["validation_status"] == "passed")


FIRST_REQUESTS: dict[str, Callable[[Service, str], bool]] = {
    "search": lambda service, _: service.search().status_code == 200,
    "probe": lambda service, _: service.client.get("/readyz").status_code == 200,
    "mcp": lambda service, _: search_by_mcp(service),
    "validation": validate,
}


@pytest.fixture
def server_settings(tmp_path: Path, qdrant: Endpoint, collection: str) -> dict[str, Any]:
    return {
        "folder": tmp_path / "data",
        "qdrant_url": qdrant.url,
        "qdrant_api_key": qdrant.key,
        "qdrant_collection": collection,
    }


@pytest.fixture
def own_on_server(server_settings: dict[str, Any]) -> Iterator[Workspace]:
    workspace = fill(Workspace(settings_in(**server_settings)))
    yield workspace
    workspace.close()


def rebuild(**settings: Any) -> None:
    with Pertinent(Workspace(settings_in(**settings))) as other:
        other.reindex()
        other.drop_previous()


@pytest.mark.parametrize("first_request", FIRST_REQUESTS)
def test_service_switches_to_the_new_build(
    serve: Serve, own_on_server: Workspace, server_settings: dict[str, Any], first_request: str
) -> None:
    service = serve(own_on_server)
    expected = service.search().json()
    rebuild(**server_settings)
    assert FIRST_REQUESTS[first_request](service, expected["results"][0]["chunk_id"])
    assert service.search().json() == expected
    assert service.client.get("/readyz").json()["status"] == "ok"


def test_service_refuses_a_new_build_with_other_settings(
    serve: Serve, own_on_server: Workspace, server_settings: dict[str, Any]
) -> None:
    service = serve(own_on_server)
    assert service.search().status_code == 200
    rebuild(**server_settings | {"chunk_tokens": 90})
    problem(service.search(), 503, "service_unavailable")
    assert "chunk_tokens" in service.lines("service_unavailable")[0]["detail"]
