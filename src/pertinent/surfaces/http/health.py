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
from .observing import Observer

HEALTH_SECONDS = 2.0
"""How long a check is good for: a probe a second costs next to nothing."""


@dataclass(frozen=True, slots=True)
class Health:
    """Which stores answer. The reasons are for the log, never for the caller."""

    index: bool
    catalog: bool
    chunks: int | None = None
    reasons: tuple[str, ...] = ()

    @property
    def status(self) -> Literal["ok", "degraded", "error"]:
        if not self.index:
            return "error"
        return "ok" if self.catalog else "degraded"


def probe_stores(workspace: Workspace) -> Health:
    """Ask both stores what a search asks them."""
    chunks: int | None = None
    catalog = False
    reasons = []
    try:
        chunks = workspace.engine().probe_index()
    except NotFound as error:
        # Nothing was ever indexed, and to open the catalog would create one.
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
    """Checks the stores, caches the result, and logs every change. Lives on one event loop."""

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
        """The health of the stores; they are probed again when the last check is too old."""
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
                self._log(health)
            self._health, self._checked_at = health, time.monotonic()
            self._observer.index_size(health.chunks)
            return health

    def compare(self, answer: Answer | None) -> None:
        """Probe anew at the next check if a search contradicts the last one; None is a search that failed."""
        if answer is None:
            agrees = not self._health.index
        elif answer.cached or not answer.hits:
            return
        else:
            agrees = self._health.index and self._health.catalog == (NO_CATALOG not in answer.notes)
        if not agrees:
            self._checked_at = -math.inf

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._checked_at <= HEALTH_SECONDS

    def _log(self, health: Health) -> None:
        """Tell the operator why a store is down, which the probes don't, and when it is back."""
        log = self._observer.log
        write = log.info if health.status == "ok" else log.warning
        write(
            "health",
            status=health.status,
            index=health.index,
            catalog=health.catalog,
            reasons=list(health.reasons),
        )
