"""A small book in real stores, and the two ways to reach it: opened, and through a service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pertinent import Pertinent
from pertinent.workspace.workspace import Workspace

from ..http.conftest import open_filled
from ..servers.service import running_service

QUERY = "the torque of joints"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The book, indexed once; no test writes to it."""
    with open_filled(tmp_path_factory.mktemp("book") / "data") as workspace:
        yield workspace


@pytest.fixture(scope="module")
def opened(workspace: Workspace) -> Pertinent:
    return Pertinent(workspace)


@pytest.fixture(scope="module")
def url(workspace: Workspace) -> Iterator[str]:
    """The address of a service over the book."""
    with running_service(workspace) as address:
        yield address


@pytest.fixture(params=["opened", "address"])
def book(request: pytest.FixtureRequest, opened: Pertinent, url: str) -> Pertinent | str:
    """What a retriever is given: an opened index, or the address of a service."""
    return opened if request.param == "opened" else url
