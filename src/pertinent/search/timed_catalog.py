"""Reading the catalog within a time limit, so that a search never waits long for it."""

from __future__ import annotations

from collections.abc import Sequence

from .._internal.timed_calls import TimedCalls
from ..errors import CatalogFailure
from ..ports import CatalogReader, Description


class TimedCatalog:
    """Reads path, slug and title of chunks within a time limit, in its own threads. Thread-safe.

    Health checks use it, too: once one of them has noticed that the catalog is silent, searches do not wait.
    """

    def __init__(self, catalog: CatalogReader, seconds: float) -> None:
        self._catalog = catalog
        self._calls = TimedCalls("the catalog", seconds, CatalogFailure)

    def describe(self, chunk_ids: Sequence[str]) -> dict[str, Description]:
        """Read path, slug and title of the chunks; raise CatalogFailure if that takes too long."""
        return self._calls.run(lambda: self._catalog.describe(chunk_ids))

    def ping(self) -> None:
        """Query the catalog as a search does; raise CatalogFailure if that takes too long."""
        self._calls.run(self._catalog.ping)
