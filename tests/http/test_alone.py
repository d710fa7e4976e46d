"""Who has the service to himself: answered by the loop itself, and before anything is told of it."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from pertinent.engine import Engine, Query
from pertinent.settings import Settings
from pertinent.surfaces import serving
from pertinent.surfaces.http import create_app, crowd
from pertinent.surfaces.http.observing import Observer
from pertinent.surfaces.library import Pertinent
from pertinent.types import Answer
from pertinent.workspace import Workspace


@contextmanager
def running(workspace: Workspace, observer: Observer | None = None) -> Iterator[int]:
    """The application on a real port, with the server and the loop that `pertinent serve` uses."""
    app = create_app(Pertinent(workspace), observer, on_the_spot=True)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="loop")
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextmanager
def connected(port: int) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        yield connection
    finally:
        connection.close()


def ask(connection: http.client.HTTPConnection, query: str, **headers: str) -> Any:
    sent = {"content-type": "application/json", **headers}
    connection.request("POST", "/search", json.dumps({"query": query}), sent)
    answer = connection.getresponse()
    assert answer.status == 200
    return json.loads(answer.read())


@pytest.fixture
def searching(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the threads that have searched."""
    names: list[str] = []
    search = Engine.search_together

    def noted(self: Engine, queries: Sequence[Query]) -> list[Answer | Exception]:
        names.append(threading.current_thread().name.partition("_")[0])
        return search(self, queries)

    monkeypatch.setattr(Engine, "search_together", noted)
    return names


@pytest.fixture
def _timeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine may be slow: no answer takes too long, and nobody is forgotten."""
    monkeypatch.setattr(crowd, "SWIFT_SECONDS", 1e6)
    monkeypatch.setattr(crowd, "ALONE_SECONDS", 1e6)


@pytest.mark.usefixtures("_timeless")
def test_behind_a_proxy_nobody_can_be_told_to_be_alone(book: Workspace, searching: list[str]) -> None:
    with running(book) as port, connected(port) as one:
        ask(one, "the torque of joints", **{"x-forwarded-for": "192.0.2.7"})
        assert searching == ["search"]


@pytest.mark.usefixtures("_timeless")
def test_one_connection_is_answered_by_the_loop_and_two_by_threads(
    book: Workspace, searching: list[str]
) -> None:
    with running(book) as port, connected(port) as one, connected(port) as other:
        first = ask(one, "the torque of joints")
        assert ask(one, "the torque of joints") == first
        assert searching == ["loop", "loop"]
        assert ask(other, "the torque of joints") == first
        assert ask(one, "the torque of joints") == first
        assert searching[2:] == ["search", "search"]


def test_an_answer_is_on_its_way_before_it_is_told_of(book: Workspace) -> None:
    received = threading.Event()
    in_time: list[bool] = []

    class Patient(Observer):
        def searched(self, *_: object, **__: object) -> None:
            in_time.append(received.wait(5))

    with running(book, Patient()) as port, connected(port) as connection:
        ask(connection, "the torque of joints")
        received.set()
    assert in_time == [True]


class Unused:
    """A server that ends as soon as it is started."""

    def __init__(self, config: uvicorn.Config) -> None:
        self.config = config

    def run(self, sockets: object) -> None:
        """Nobody asks."""


@pytest.mark.parametrize(
    ("settings", "watch", "expected"),
    [
        ({}, None, True),
        ({}, "docs", False),
        ({"qdrant_url": "http://127.0.0.1:6333"}, None, False),
        ({"database_url": "postgresql://127.0.0.1/book"}, None, False),
        ({"database_url": "sqlite:////tmp/book.sqlite3"}, None, True),
        ({"embedder": "cohere:embed-v4.0"}, None, False),
        ({"embedder": "openai:text-embedding-3-small"}, None, False),
    ],
)
def test_only_where_nothing_can_keep_a_search_is_it_left_to_the_loop(
    monkeypatch: pytest.MonkeyPatch,
    book: Workspace,
    settings: dict[str, str],
    watch: str | None,
    expected: bool,
) -> None:
    made: list[bool] = []

    def create(*given: Any, on_the_spot: bool, names: Any) -> Any:
        made.append(on_the_spot)
        return create_app(*given)

    pertinent = Pertinent(book)
    monkeypatch.setattr(serving, "create_app", create)
    monkeypatch.setattr(serving, "_tell", lambda *_: None)
    monkeypatch.setattr(Pertinent, "index", lambda *_, **__: None)
    monkeypatch.setattr(serving, "_watch", lambda *_: None)
    monkeypatch.setattr(serving, "_configure_logs", lambda: None)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(uvicorn, "Server", Unused)
    monkeypatch.setattr(
        book, "settings", Settings.model_validate({**book.settings.model_dump(), "port": 0, **settings})
    )
    serving.run(pertinent, watch=watch, base_url=None, announce=lambda _: None)
    assert made == [expected]
