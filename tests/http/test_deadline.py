"""`request_timeout`: one deadline for a request, on every route, also while a store hangs."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from pertinent.surfaces.http import create_app
from pertinent.surfaces.http.store_health import CACHE_SECONDS
from pertinent.surfaces.library import Pertinent
from pertinent.workspace.workspace import Workspace

from ..servers.qdrant import Node
from .conftest import Serve, problem
from .test_health import Serving, _quick_embedder, ask, serving  # noqa: F401 - fixtures

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.slow

REQUEST_TIMEOUT = 5.0


async def answer_late(scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.sleep(3)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"late"})


def list_routes(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Method and path of every route and mount of the application."""
    for route in app.routes:
        included = getattr(route, "effective_route_contexts", None)
        for leaf in included() if included else [route]:
            method = min(getattr(leaf, "methods", None) or {"GET"})
            yield method, str(getattr(leaf, "path", ""))


def test_request_timeout_holds_for_every_route(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each route of the application, those of the future included, is replaced by one that answers late."""
    service = serve(request_timeout=0.2)
    routes = {path: method for method, path in list_routes(service.app)}
    assert {"/search", "/api/v1/labels", "/reports/{name}", "/livez", "/metrics", "/static"} <= set(routes)
    monkeypatch.setattr(service.app.router, "middleware_stack", answer_late)
    for path, method in routes.items():
        response = service.client.request(method, re.sub(r"{\w+(:\w+)?}", "x", path))
        message = problem(response, 503, "service_unavailable")
        assert message == "no answer within 0.2 s; try again later", path


def test_a_response_may_take_longer_to_read_than_request_timeout(book: Workspace) -> None:
    """The deadline ends with the start of the response: a slow line is no fault of the service."""

    async def answer_slowly(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(0.3)
        await send({"type": "http.response.body", "body": b"complete"})

    settings = book.settings
    book.settings = settings.model_copy(update={"request_timeout": 0.1})
    try:
        app = create_app(Pertinent(book))
    finally:
        book.settings = settings
    app.mount("/slow", answer_slowly)
    with TestClient(app) as client:
        assert client.get("/slow/x").text == "complete"


@pytest.mark.xdist_group("serve")
@pytest.mark.parametrize("path", ["/search", "/api/v1/search"])
def test_search_waits_request_timeout_once_while_qdrant_hangs(
    serving: Serving,  # noqa: F811 - a fixture
    qdrant_node: Node,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
) -> None:
    monkeypatch.setenv("QDRANT_URL", qdrant_node.url)
    monkeypatch.setenv("QDRANT_API_KEY", qdrant_node.key or "")
    monkeypatch.setenv("QDRANT_COLLECTION_NAME", f"deadline-{os.getpid()}-{path.count('/')}")
    monkeypatch.setenv("PERTINENT_QDRANT_TIMEOUT", "60")
    monkeypatch.setenv("PERTINENT_REQUEST_TIMEOUT", str(REQUEST_TIMEOUT))
    server = serving()
    body = {"query": "joints"} if path == "/search" else {"query_text": "joints", "similarity_threshold": 0.0}
    assert ask(server, "POST", path, body)[0] == 200
    with qdrant_node.frozen():
        time.sleep(1.5 * CACHE_SECONDS)  # the stores are probed again before the search
        patience = 1.8 * REQUEST_TIMEOUT  # a client that would not wait twice as long
        monkeypatch.setattr(server, "connect", lambda _=0.0: type(server).connect(server, patience))
        status, response = ask(server, "POST", path, body)
        assert (status, response["error"]) == (503, "service_unavailable")
        assert response["message"] == "no answer within 5 s; try again later"
        status, response = ask(server, "GET", "/readyz")
        assert (status, response["status"], response["index"]) == (503, "error", False)
