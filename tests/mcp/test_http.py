"""`/mcp` of the service: behind the same keys, limits and checks as every other route."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient
from structlog.testing import LogCapture

from pertinent.errors import StoreError
from pertinent.surfaces.http import create_app
from pertinent.surfaces.library import Pertinent
from pertinent.testing.pages import page
from pertinent.workspace.workspace import Workspace

from ..http.conftest import Serve, Service, book, open_filled, problem, raising, serve, service, settings_in

if TYPE_CHECKING:
    from pathlib import Path

    from httpx2 import Response

__all__ = ["book", "serve", "service"]  # fixtures

KEY = "a-long-key"


def post(service: Service, method: str, headers: dict[str, str] | None = None, **params: Any) -> Response:
    """Send one message of the protocol."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    accept = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
    return service.client.post("/mcp", json=body, headers=accept | (headers or {}))


def search(service: Service, query: str = "the torque of joints", **headers: str) -> Response:
    return post(service, "tools/call", headers, name="search", arguments={"query": query})


def test_call_is_answered_with_json(service: Service) -> None:
    response = search(service)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    result = response.json()["result"]
    assert result["structuredContent"]["results"][0]["title"] == "All about joints"
    assert response.headers["x-request-id"]
    assert "mcp-session-id" not in response.headers


def test_key_is_needed(serve: Serve) -> None:
    service = serve(api_keys=(KEY,))
    problem(search(service), 401, "unauthorized")
    problem(search(service, authorization="Bearer another-key"), 401, "unauthorized")
    assert search(service, authorization=f"Bearer {KEY}").status_code == 200


def test_rate_limit_counts_calls(serve: Serve) -> None:
    service = serve(rate_limit=2)
    assert [search(service).status_code for _ in range(3)] == [200, 200, 429]


def test_body_is_limited(service: Service) -> None:
    problem(search(service, "x" * 70_000), 413, "payload_too_large")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_streams_and_sessions_are_not_offered(service: Service, method: str) -> None:
    response = service.client.request(method, "/mcp", headers={"accept": "text/event-stream"})
    assert problem(response, 405, "method_not_allowed") == f"this route takes POST, not {method}"


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "http://testserver.evil.example", "http://["]
)
def test_pages_of_other_sites_are_refused(service: Service, origin: str) -> None:
    assert "cors_origins" in problem(search(service, origin=origin), 403, "forbidden")


def test_browser_may_send_the_headers_of_the_protocol(serve: Serve) -> None:
    headers = {
        "origin": "https://docs.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,mcp-method,mcp-name,mcp-protocol-version",
    }
    answer = serve(cors_origins=("https://docs.example",)).client.options("/mcp", headers=headers)
    assert answer.status_code == 200


def test_own_origin_and_allowed_origins_are_accepted(serve: Serve) -> None:
    service = serve(cors_origins=("https://docs.example",))
    for origin in ("http://testserver", "https://docs.example"):
        assert search(service, origin=origin).status_code == 200


def test_search_is_logged_like_any_other(service: Service) -> None:
    response = search(service)
    (line,) = service.lines("search")
    assert line["route"] == "/mcp"
    assert line["query"] == "the torque of joints"
    assert line["request_id"] == response.headers["x-request-id"]


def test_failure_of_a_store_is_general_for_callers_and_complete_in_the_log(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.break_index(monkeypatch, StoreError("no route to 10.1.2.3"))
    response = search(service)
    result = response.json()["result"]
    assert result["isError"]
    assert result["content"][0]["text"] == "a store can't be reached; try again later"
    (line,) = service.lines("service_unavailable")
    assert line["detail"] == "no route to 10.1.2.3"
    assert line["request_id"] == response.headers["x-request-id"]


def test_empty_folder_is_not_named(serve: Serve, tmp_path: Path) -> None:
    workspace = Workspace(settings_in(tmp_path / "nothing"))
    result = search(serve(workspace)).json()["result"]
    assert result["isError"]
    assert result["content"][0]["text"] == "nothing is indexed yet"
    workspace.close()


def test_title_of_the_book_is_in_the_descriptions(serve: Serve) -> None:
    service = serve(book_title="the Robot Handbook")
    tools = post(service, "tools/list").json()["result"]["tools"]
    assert all("the Robot Handbook" in tool["description"] for tool in tools)


def test_limit_of_tokens_is_a_setting(serve: Serve, tmp_path: Path) -> None:
    sections = {f"Step {number}": f"The valve number {number} is opened by hand." for number in range(200)}
    arguments = {"id": "https://book.example/docs/valves"}
    with open_filled(tmp_path / "long", page("valves", sections)) as workspace:
        service = serve(workspace, mcp_max_tokens=2000)
        result = post(service, "tools/call", name="fetch", arguments=arguments).json()["result"]
        assert "cut at 2,000 tokens" in result["structuredContent"]["metadata"]["note"]


def test_service_can_be_started_again(book: Workspace) -> None:
    app = create_app(Pertinent(book))
    for _ in range(2):
        with TestClient(app) as client:
            service = Service(app, client, Pertinent(book), LogCapture())
            assert search(service).status_code == 200


def test_without_the_sdk_the_route_says_what_to_install(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    service = serve()
    assert "pip install 'pertinent[mcp]'" in problem(search(service), 404, "not_found")
    assert service.search().status_code == 200


def test_store_errors_do_not_stop_the_start(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, book: Workspace
) -> None:
    monkeypatch.setattr(book.catalog(), "sources", raising(StoreError("down")))
    assert search(serve()).status_code == 200
