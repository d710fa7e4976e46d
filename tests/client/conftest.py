"""A small book in real stores, its library, and clients of a service over it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pertinent import AsyncPertinentClient, Pertinent, PertinentClient
from pertinent.surfaces.client import connection
from pertinent.workspace.workspace import Workspace

from ..http.conftest import open_filled
from ..servers.service import running_service

KINDS = ("client", "async client")
Connect = Callable[..., Any]


class BlockingClient:
    """An `AsyncPertinentClient` whose methods wait, so that one test serves both clients."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._runner = asyncio.Runner()
        self._client = AsyncPertinentClient(*arguments, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            return self._runner.run(getattr(self._client, name)(*arguments, **options))

        return call

    def __repr__(self) -> str:
        return repr(self._client)

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()


@contextmanager
def connected(kind: str, *arguments: Any, **options: Any) -> Iterator[Any]:
    client: Any = (PertinentClient if kind == "client" else BlockingClient)(*arguments, **options)
    try:
        yield client
    finally:
        client.close()


@pytest.fixture(params=KINDS)
def connect(request: pytest.FixtureRequest) -> Connect:
    """Create a client: `with connect(url) as client`."""
    return lambda *arguments, **options: connected(request.param, *arguments, **options)


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_WAIT_SECONDS", 0.01)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The book, indexed once; no test writes to it."""
    with open_filled(tmp_path_factory.mktemp("book") / "data") as workspace:
        yield workspace


@pytest.fixture(scope="module")
def library(book: Workspace) -> Pertinent:
    return Pertinent(book)


@pytest.fixture(scope="module")
def url(book: Workspace) -> Iterator[str]:
    """The address of a service over the book."""
    with running_service(book) as address:
        yield address


@pytest.fixture(params=["library", *KINDS])
def reader(request: pytest.FixtureRequest, library: Pertinent, url: str) -> Iterator[Any]:
    """The library, and each client of a service over the same stores."""
    if request.param == "library":
        yield library
        return
    with connected(request.param, url) as client:
        yield client
