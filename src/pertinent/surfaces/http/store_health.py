"""The health of the stores: probed with what a search asks of them, and cached for a moment."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Literal

from ...errors import NotFound, PertinentError
from ...search.engine import NO_CATALOG
from ...types import Answer
from ...workspace.workspace import Workspace
from .observability import Observer

CACHE_SECONDS = 2.0
"""How long a check is cached, so that probes every second cost next to nothing."""


@dataclass(frozen=True, slots=True)
class Health:
    """Which stores answer. The reasons are for the log, never for the caller."""

    index: bool
    catalog: bool
    chunks: int | None = None
    reasons: tuple[str, ...] = ()

    @property
    def status(self) -> Literal["ok", "degraded", "error"]:
        """`ok`: both stores answer. `degraded`: only the index does. `error`: the index does not."""
        if not self.index:
            return "error"
        return "ok" if self.catalog else "degraded"

    @property
    def http_status(self) -> int:
        """The HTTP status of a probe: searches work as long as the index answers."""
        return 200 if self.index else 503


def probe_stores(workspace: Workspace) -> Health:
    """Ask both stores what a search asks them."""
    chunks: int | None = None
    catalog = False
    reasons = []
    try:
        chunks = workspace.engine().probe_index()
    except NotFound as error:
        # Nothing was ever indexed, and opening the catalog would create one.
        return Health(index=False, catalog=False, reasons=(str(error),))
    except PertinentError as error:
        reasons.append(str(error))
    try:
        workspace.catalog().ping()
        catalog = True
    except PertinentError as error:
        reasons.append(str(error))
    return Health(chunks is not None, catalog, chunks, tuple(reasons))


class HealthMonitor:
    """Checks the stores, caches the result, and logs every change. Lives on one event loop.

    Args:
        probe: Asks the stores; blocks.
        threads: Returns the thread pool that runs the probe.
        observer: Logs changes, and records the number of chunks.
        timeout: After how many seconds without an answer the stores count as down.

    """

    def __init__(
        self,
        probe: Callable[[], Health],
        threads: Callable[[], Executor],
        observer: Observer,
        timeout: float,
    ) -> None:
        self._probe = probe
        self._threads = threads
        self._observer = observer
        self._timeout = timeout
        self._checking = asyncio.Lock()
        self._health = Health(index=True, catalog=True)
        self._checked_at = -math.inf

    async def check(self) -> Health:
        """Return the health of the stores; probe them if the cached check is too old."""
        if self._is_fresh():
            return self._health
        async with self._checking:
            if self._is_fresh():
                return self._health
            probe = asyncio.get_running_loop().run_in_executor(self._threads(), self._probe)
            try:
                async with asyncio.timeout(self._timeout):
                    health = await probe
            except TimeoutError:
                reason = f"no answer within {self._timeout:g} s"
                health = Health(index=False, catalog=False, reasons=(reason,))
            if (health.index, health.catalog) != (self._health.index, self._health.catalog):
                self._log_change(health)
            self._health, self._checked_at = health, time.monotonic()
            self._observer.set_index_size(health.chunks)
            return health

    def compare_with_search(self, answer: Answer | None) -> None:
        """Drop the cached check if a search contradicts it, so that the next check probes again.

        Args:
            answer: The answer of the search; None if a store failed.

        """
        if answer is None:
            agrees = not self._health.index
        elif answer.cached or not answer.hits:
            return
        else:
            agrees = self._health.index and self._health.catalog == (NO_CATALOG not in answer.notes)
        if not agrees:
            self._checked_at = -math.inf

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._checked_at <= CACHE_SECONDS

    def _log_change(self, health: Health) -> None:
        """Log why a store is down, which the probes don't say, and when it is back."""
        log = self._observer.log
        write = log.info if health.status == "ok" else log.warning
        write(
            "health",
            status=health.status,
            index=health.index,
            catalog=health.catalog,
            reasons=list(health.reasons),
        )
