"""A small book in real stores, and the service over it as each test wants it set."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from starlette.testclient import TestClient
from structlog.testing import LogCapture

from pertinent._internal.progress import Silent
from pertinent.settings import Settings
from pertinent.surfaces.http import create_app
from pertinent.surfaces.http.observing import Observer
from pertinent.surfaces.library import Pertinent
from pertinent.testing.pages import Shelf, page
from pertinent.workspace.workspace import Workspace

ROOT = Path(__file__).parents[2]

if TYPE_CHECKING:
    from fastapi import FastAPI
    from httpx2 import Response
    from opentelemetry.trace import Tracer

TOPICS = ("angle", "speed", "torque", "friction", "damping", "backlash")


def shelf() -> Shelf:
    """Four pages, 24 chunks."""
    pages = [
        page(
            name,
            {
                "": f"This page is about {name} of a humanoid robot.",
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
    return Shelf(*pages, page("nodes", nodes, title="Nodes and topics"))


def settings_in(folder: Path, **others: Any) -> Settings:
    """No model to load, and nothing remembered: every search reaches the stores."""
    usual = {"embedder": "testing:hashed-words", "chunk_tokens": 60, "query_cache": 0}
    return Settings.model_validate({"folder": folder, **usual, **others})


def fill(workspace: Workspace) -> Workspace:
    indexer = workspace.indexer(Silent())
    indexer.apply(indexer.plan(shelf()))
    workspace.engine()
    return workspace


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

    def lines(self, event: str) -> list[Any]:
        return [line for line in self.logged.entries if line["event"] == event]


Serve = Callable[..., Service]


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The book, indexed once; no test writes to it."""
    folder = tmp_path_factory.mktemp("book") / "data"
    workspace = Workspace(settings_in(folder))
    yield fill(workspace)
    workspace.close()


@pytest.fixture
def serve(book: Workspace) -> Iterator[Serve]:
    """The service over the book, or over another workspace, with the settings that are given."""
    with ExitStack() as open_clients:

        def made(workspace: Workspace = book, tracer: Tracer | None = None, **settings: Any) -> Service:
            # The same open stores under other settings.
            seen = copy.copy(workspace)
            seen.settings = Settings.model_validate({**workspace.settings.model_dump(), **settings})
            seen._engine = None  # it has the ranking of the settings
            pertinent = Pertinent(seen)
            logged = LogCapture()
            log = structlog.wrap_logger(structlog.PrintLogger(), processors=[logged])
            app = create_app(pertinent, Observer(log, tracer))
            client = open_clients.enter_context(TestClient(app, raise_server_exceptions=False))
            return Service(app, client, pertinent, logged)

        yield made


@pytest.fixture
def service(serve: Serve) -> Service:
    return serve()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Workspace]:
    """The book in stores of the test's own, to be broken."""
    workspace = Workspace(settings_in(tmp_path / "own"))
    yield fill(workspace)
    workspace.close()


def problem(response: Response, status: int, error: str) -> str:
    """Check that the answer is the one shape of a failure; its message."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert set(body) == {"error", "message"}
    assert body["error"] == error
    assert isinstance(body["message"], str)
    assert 0 < len(body["message"]) <= 500
    for secret in ("Traceback", "site-packages", str(ROOT), "/tmp/", ".py", "sqlite", "postgres", "secret"):  # noqa: S108 - parts of paths that must not show
        assert secret not in body["message"]
    return str(body["message"])
