"""The health of the stores: probed with the queries of a search, and cached for a moment."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from ...errors import IndexFailure, PertinentError, StoreError
from ...search.notes import NO_CATALOG
from ...search.reranking import Reranking
from ...types import NO_RERANKER, Answer
from ...workspace.current_build import run_on_current_build
from ...workspace.missing_index import explain_lost_chunks
from ...workspace.workspace import Workspace
from .observability import Observer

Result = TypeVar("Result")

CACHE_SECONDS = 2.0
"""How long a check is cached, so that probes every second cost next to nothing."""


@dataclass(frozen=True, slots=True)
class Health:
    """Which stores answer. The reasons are for the log, never for the caller."""

    index: bool
    catalog: bool
    chunks: int | None = None
    reasons: tuple[str, ...] = ()
    reranker: bool | None = None
    """Whether the reranker answered when it was last called; None if none is set."""

    @property
    def parts(self) -> tuple[bool, bool, bool | None]:
        """Index, catalog and reranker; a change of one of them is logged."""
        return self.index, self.catalog, self.reranker

    @property
    def status(self) -> Literal["ok", "degraded", "error"]:
        """`ok`: both stores answer. `degraded`: only the index does. `error`: the index does not."""
        if not self.index:
            return "error"
        return "ok" if self.catalog else "degraded"

    def describe_parts(self) -> dict[str, object]:
        """Return the body of a probe: the status, and which parts answer."""
        parts: dict[str, object] = {"status": self.status, "index": self.index, "catalog": self.catalog}
        return parts if self.reranker is None else parts | {"reranker": self.reranker}

    @property
    def http_status(self) -> int:
        """The HTTP status of a probe: searches work as long as the index answers."""
        return 200 if self.index else 503


def probe_index(workspace: Workspace) -> int:
    """Query the index as a search does, and count its chunks; one that has lost them all fails."""
    chunks = run_on_current_build(workspace, lambda: workspace.engine().probe_index())
    if not chunks and workspace.catalog().has_chunks():
        raise IndexFailure(explain_lost_chunks(workspace.settings))
    return chunks


def probe_catalog(workspace: Workspace) -> None:
    """Query the catalog as a search does."""
    # Where nothing was ever indexed, opening the catalog would create one.
    workspace.engine().probe_catalog()


class StoreProbe(Generic[Result]):
    """Asks one store in a thread, within a time limit. Lives on one event loop.

    Args:
        name: Which store it is, for the log.
        ask: Asks the store; blocks, and raises PertinentError if the store fails.
        threads: Returns the thread pool that asks.
        timeout: After how many seconds without an answer the store counts as down.

    """

    def __init__(
        self, name: str, ask: Callable[[], Result], threads: Callable[[], Executor], timeout: float
    ) -> None:
        self._name = name
        self._ask = ask
        self._threads = threads
        self._timeout = timeout
        self._call: Future[Result] | None = None

    async def run(self) -> Result:
        """Return the answer; fail at once while an earlier call is unanswered."""
        if self._call is None or self._call.done():
            self._call = self._threads().submit(self._ask)
            answer = asyncio.wrap_future(self._call)
            # Retrieve the exception of a late answer, so that asyncio does not log it as unhandled.
            answer.add_done_callback(lambda late: late.cancelled() or late.exception())
            await asyncio.wait([answer], timeout=self._timeout)
        if not self._call.done():
            raise StoreError(f"{self._name}: no answer within {self._timeout:g} s")
        return self._call.result()


class HealthMonitor:
    """Checks the stores, caches the result, and logs every change. Lives on one event loop.

    Args:
        index: Asks the index for its number of chunks.
        catalog: Asks the catalog for an answer.
        observer: Logs changes, and records the number of chunks.
        reranking: The reranker, which is not probed: its last answer counts. None if none is set.

    """

    def __init__(
        self,
        index: StoreProbe[int],
        catalog: StoreProbe[None],
        observer: Observer,
        reranking: Reranking | None = None,
    ) -> None:
        self._index = index
        self._catalog = catalog
        self._reranking = reranking
        self._observer = observer
        self._checking = asyncio.Lock()
        self._health = Health(index=True, catalog=True, reranker=None if reranking is None else True)
        self._checked_at = -math.inf

    async def check(self) -> Health:
        """Return the health of the stores; probe them if the cached check is too old."""
        if self._is_fresh():
            return self._health
        async with self._checking:
            if self._is_fresh():
                return self._health
            health = await self._probe_stores()
            if health.parts != self._health.parts:
                self._log_change(health)
            self._health, self._checked_at = health, time.monotonic()
            self._observer.set_index_size(health.chunks)
            return health

    async def _probe_stores(self) -> Health:
        """Ask both stores at once."""
        chunks, catalog = await asyncio.gather(self._index.run(), self._catalog.run(), return_exceptions=True)
        failures = [outcome for outcome in (chunks, catalog) if isinstance(outcome, BaseException)]
        for failure in failures:
            if not isinstance(failure, PertinentError):
                raise failure
        count = chunks if isinstance(chunks, int) else None
        reasons = dict.fromkeys(map(str, failures))
        reranker = None
        if self._reranking is not None:
            failure_reason = self._reranking.failure
            reranker = failure_reason is None
            reasons |= {} if failure_reason is None else {failure_reason: None}
        return Health(count is not None, catalog is None, count, tuple(reasons), reranker)

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
            if answer.rerank_share or NO_RERANKER in answer.notes:
                agrees = agrees and self._health.reranker == (NO_RERANKER not in answer.notes)
        if not agrees:
            self._checked_at = -math.inf

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._checked_at <= CACHE_SECONDS

    def _log_change(self, health: Health) -> None:
        """Log why a part is down, which the probes don't say, and when it is back."""
        log = self._observer.log
        is_complete = health.status == "ok" and health.reranker is not False
        write = log.info if is_complete else log.warning
        write(
            "health",
            status=health.status,
            index=health.index,
            catalog=health.catalog,
            reranker=health.reranker,
            reasons=list(health.reasons),
        )
