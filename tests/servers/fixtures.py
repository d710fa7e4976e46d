"""A Qdrant server and a cluster that run as long as the tests do; each test has its own name in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
import pytest

from .binary import require
from .qdrant import Cluster, Node, running, running_cluster

if TYPE_CHECKING:
    from pertinent.stores.qdrant.server import Server

# Read before a test removes the machine's settings from the environment.
OWN_URL = os.environ.get("QDRANT_URL")
OWN_KEY = os.environ.get("QDRANT_API_KEY")


@dataclass(frozen=True)
class Endpoint:
    """The address of a Qdrant server, and its key."""

    url: str
    key: str | None = None

    def connect(self, *, timeout: float = 10.0) -> Server:
        # Late, for qdrant-client takes a second to import, and most tests do without it.
        from pertinent.stores.qdrant.server import Server

        return Server(self.url, self.key, timeout=timeout)

    def sweep(self, prefix: str) -> None:
        """Remove every collection whose name has the prefix."""
        headers = {"api-key": self.key} if self.key else {}
        with httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False) as client:
            for collection in client.get("/collections").json()["result"]["collections"]:
                if collection["name"].startswith(prefix):
                    client.delete(f"/collections/{collection['name']}").raise_for_status()


@pytest.fixture(scope="session")
def qdrant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """One node: the user's own where QDRANT_URL is set."""
    if OWN_URL:
        yield Endpoint(OWN_URL, OWN_KEY)
        return
    with running(require(), tmp_path_factory.mktemp("qdrant")) as node:
        yield Endpoint(node.url)


@pytest.fixture(scope="session")
def qdrant_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A node with an API key; a test that stops it starts it again."""
    with running(require(), tmp_path_factory.mktemp("qdrant-node"), key=f"key-{uuid4().hex}") as node:
        yield node


# For a module and not the session: peers talk to each other all the time, for 1.5 s of CPU time a minute.
@pytest.fixture(scope="module")
def qdrant_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three peers that no test kills."""
    with running_cluster(require(), tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def fragile_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three peers that a test may kill."""
    with running_cluster(require(), tmp_path_factory.mktemp("fragile")) as cluster:
        yield cluster


@pytest.fixture
def collection(request: pytest.FixtureRequest) -> Iterator[str]:
    """A unique collection name; collections with it are removed from every server after the test."""
    name = f"test-{uuid4().hex[:12]}"
    yield name
    for endpoint in _endpoints(request):
        endpoint.sweep(name)


def _endpoints(request: pytest.FixtureRequest) -> Iterator[Endpoint]:
    if "qdrant" in request.fixturenames:
        yield request.getfixturevalue("qdrant")
    if "qdrant_cluster" in request.fixturenames:
        yield Endpoint(request.getfixturevalue("qdrant_cluster").nodes[0].url)
