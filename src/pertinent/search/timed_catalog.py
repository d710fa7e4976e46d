"""Asking the catalog within a time limit, so that a silent one holds up no search."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..errors import CatalogFailure
from ..ports import CatalogReader, Description

THREADS = 64
"""How many searches may ask at once; threads are started only when needed."""


class TimedCatalog:
    """Describes chunks in threads of its own. Thread-safe.

    While a call that took too long is still unanswered, further calls fail at once. It ends when the
    catalog answers or its own time limit is over, and then the catalog is asked again.
    """

    def __init__(self, catalog: CatalogReader, seconds: float) -> None:
        self._catalog = catalog
        self._seconds = seconds
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="catalog")
        self._unanswered: set[Future[Any]] = set()

    def describe(self, chunk_ids: Sequence[str]) -> dict[str, Description]:
        """Read path, slug and title of the chunks; raise CatalogFailure if that takes too long."""
        if self._unanswered:
            raise CatalogFailure("the catalog has not answered an earlier statement")
        call = self._threads.submit(self._catalog.describe, chunk_ids)
        try:
            return call.result(self._seconds)
        except TimeoutError:
            self._unanswered.add(call)
            call.add_done_callback(self._unanswered.discard)
            raise CatalogFailure(f"the catalog did not answer within {self._seconds:g} s") from None
