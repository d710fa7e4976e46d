"""A small book in real stores, and the service over it with the settings of each test."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from starlette.testclient import TestClient
from structlog.testing import LogCapture

from pertinent._internal.progress import NoProgress
from pertinent.settings import Settings
from pertinent.surfaces.http import create_app
from pertinent.surfaces.http.errors import ERROR_KINDS
from pertinent.surfaces.http.observability import Observer
from pertinent.surfaces.library import Pertinent
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import Page
from pertinent.workspace.models import Models
from pertinent.workspace.workspace import Workspace

ROOT = Path(__file__).parents[2]
QUERY_FIELD = {"/search": "query", "/api/v1/search": "query_text"}
"""The name of the query in the body, by the route."""
SECRETS = ("Traceback", "site-packages", "/tmp/", ".py", "sqlite", "postgres", "secret")  # noqa: S108 - what must not show
"""What no error response may contain."""

if TYPE_CHECKING:
    from fastapi import FastAPI
    from httpx2 import Response
    from opentelemetry.trace import Tracer
    from schemathesis.generation import GenerationMode

TOPICS = ("angle", "speed", "torque", "friction", "damping", "backlash")


def shelf() -> InMemorySource:
    """Four pages, 24 chunks."""
    pages = [
        page(
            name,
            {
                "": f"This page is about {name} of a humanoid robot, and what is to be known before one of "
                "them is replaced.",
                **{
                    f"The {topic}": f"The {topic} of {name} is measured with a {topic} sensor, and the "
                    f"controller keeps the {topic} of {name} within its limits at all times."
                    for topic in TOPICS
                },
            },
            title=f"All about {name}",
        )
        for name in ("joints", "motors", "gears")
    ]
    nodes = {
        "Topics": "Nodes publish messages on topics, and subscribe to them.",
        "Services": "A service answers a request, once for each call.",
        "Markup": '<script>alert("owned")</script> is a script tag, shown as text.',
    }
    return InMemorySource(*pages, page("nodes", nodes, title="Nodes and topics"))


def settings_in(folder: Path, **chosen: Any) -> Settings:
    """Settings without a model to load and without a cache: every search reaches the stores."""
    defaults = {"embedder": "testing:hashed-words", "chunk_tokens": 60, "query_cache": 0}
    return Settings.model_validate({"folder": folder, **defaults, **chosen})


def fill(workspace: Workspace, source: InMemorySource | None = None) -> Workspace:
    """Index a source, by default the shelf."""
    indexer = workspace.create_indexer(NoProgress())
    indexer.apply(indexer.plan(source or shelf()))
    workspace.builds.use_current()  # as every command that writes does at its end
    workspace.engine()
    return workspace


@contextmanager
def open_filled(folder: Path, *pages: Page, **chosen: Any) -> Iterator[Workspace]:
    """Index pages, by default those of the shelf, in stores of their own."""
    workspace = Workspace(settings_in(folder, **chosen))
    try:
        yield fill(workspace, InMemorySource(*pages) if pages else None)
    finally:
        workspace.close()


@dataclass
class Service:
    """The application, a client of it, and what it logged."""

    app: FastAPI
    client: TestClient
    pertinent: Pertinent
    logged: LogCapture

    def search(self, query: Any = "the torque of joints", **fields: Any) -> Response:
        return self.client.post("/search", json={"query": query, **fields})

    def v1(self, query_text: Any = "the torque of joints", **fields: Any) -> Response:
        body = {"query_text": query_text, "similarity_threshold": 0.0, **fields}
        return self.client.post("/api/v1/search", json=body)

    def ask(self, route: str, query: str = "the torque of joints", **headers: str) -> Response:
        return self.client.post(route, json={QUERY_FIELD[route]: query}, headers=headers)

    def break_index(self, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
        monkeypatch.setattr(self.pertinent.workspace.index(), "candidates", raising(error))

    def lines(self, event: str) -> list[Any]:
        return [line for line in self.logged.entries if line["event"] == event]


Serve = Callable[..., Service]


def raising(error: Exception) -> Callable[..., Any]:
    """A function that raises the error, whatever it is called with."""
    return Mock(side_effect=error)


def change_settings(workspace: Workspace, **chosen: Any) -> Workspace:
    """Return the same open stores under other settings."""
    view = copy.copy(workspace)
    view.settings = Settings.model_validate({**workspace.settings.model_dump(), **chosen})
    view._engine = None  # it has the ranking of the settings
    view._models = Models(view.settings)
    return view


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The book, indexed once; no test writes to it."""
    with open_filled(tmp_path_factory.mktemp("book") / "data") as workspace:
        yield workspace


@pytest.fixture
def serve(book: Workspace) -> Iterator[Serve]:
    """Create the service over the book, or over another workspace, with the given settings."""
    with ExitStack() as open_clients:

        def create(workspace: Workspace = book, tracer: Tracer | None = None, **chosen: Any) -> Service:
            pertinent = Pertinent(change_settings(workspace, **chosen))
            logged = LogCapture()
            log = structlog.wrap_logger(structlog.PrintLogger(), processors=[logged])
            app = create_app(pertinent, Observer(log, tracer))
            client = open_clients.enter_context(TestClient(app, raise_server_exceptions=False))
            return Service(app, client, pertinent, logged)

        yield create


@pytest.fixture
def service(serve: Serve) -> Service:
    return serve()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Workspace]:
    """The book in separate stores, which a test may break."""
    with open_filled(tmp_path / "own") as workspace:
        yield workspace


def problem(response: Response, status: int, error: str) -> str:
    """Check that the response is an error response; return its message."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert set(body) == {"error", "message"}
    assert body["error"] == error
    assert isinstance(body["message"], str)
    assert 0 < len(body["message"]) <= 500
    for secret in (*SECRETS, str(ROOT), tempfile.gettempdir()):
        assert secret not in body["message"]
    return str(body["message"])


def check_conformance(operation: Any, mode: GenerationMode, examples: int) -> None:
    """Call an operation with generated requests; each response must match the OpenAPI description."""

    @settings(max_examples=examples, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def check_case(case: Any) -> None:
        response = case.call_and_validate()
        assert response.status_code < 500
        if response.status_code >= 400:
            body = response.json()
            assert set(body) == {"error", "message"}
            assert ERROR_KINDS[response.status_code][0] == body["error"]

    with suppress(Unsatisfiable):  # a route without parameters has no invalid requests
        check_case()
