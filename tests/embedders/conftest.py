"""Fixtures of the hosted embedders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .wire import Wire


@pytest.fixture
def wire(request: pytest.FixtureRequest) -> Iterator[Wire]:
    """Run a local embedding service; a test module may set DIMENSION, the length of its vectors."""
    with Wire(getattr(request.module, "DIMENSION", 8)) as server:
        yield server
