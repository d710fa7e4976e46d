"""Fixtures of the rerankers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .rerank_server import RerankServer


@pytest.fixture
def rerank_server() -> Iterator[RerankServer]:
    """Run a local reranking service."""
    with RerankServer() as server:
        yield server
