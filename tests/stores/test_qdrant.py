"""The index on a Qdrant server: the suite of every index, builds beside each other, and what can go wrong."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from pertinent.errors import DimensionMismatch, FingerprintMismatch, IndexFailure, SettingsError
from pertinent.identity import point_id
from pertinent.ports import Fingerprint
from pertinent.stores.qdrant import QdrantIndex
from pertinent.stores.qdrant_builds import QdrantBuilds
from pertinent.stores.qdrant_collection import CollectionOptions
from pertinent.stores.qdrant_server import Server
from pertinent.testing.index_suite import EMBEDDER, IndexSuite, by_point, entries, fill
from pertinent.types import Filters

from ..servers.faulty import GREETING, faulty, reply
from ..servers.fixtures import Place
from ..servers.qdrant import free_ports

pytestmark = pytest.mark.xdist_group("qdrant")

MADE_WITH = Fingerprint(EMBEDDER.name, EMBEDDER.dimension, "structure-1", "bm25")


class TestOverGrpc(IndexSuite):
    """A server is an index."""

    @pytest.fixture
    def index(self, qdrant: Place, collection: str) -> Iterator[QdrantIndex]:
        opened = QdrantBuilds(qdrant.connect, collection).open(MADE_WITH)
        yield opened
        opened.close()


class TestOverHttp(IndexSuite):
    """The same where only its HTTP port is open."""

    @pytest.fixture
    def index(self, qdrant: Place, collection: str) -> Iterator[QdrantIndex]:
        opened = QdrantBuilds(lambda: qdrant.connect(use_grpc=False), collection).open(MADE_WITH)
        yield opened
        opened.close()
