"""Dynamic batching: queries that wait for a thread are embedded together, which costs less."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from ...errors import StoreError
from ...types import Answer, SearchOptions

BATCH_SIZE = 8
"""The largest batch: a larger one gains nothing, and all its queries would wait for the last."""

Outcome = Answer | Exception


@dataclass(frozen=True, slots=True)
class _PendingQuery:
    """A query that waits for a thread, and the future of its answer."""

    text: str
    options: SearchOptions
    answer: asyncio.Future[Answer]


class QueryBatcher:
    """Lets each worker thread pull the next batch of waiting queries. Lives on one event loop.

    A worker returns to the pool after each batch, so that other work of the pool gets its turn under load.

    Args:
        search_batch: Answers a batch, with an error as the outcome of its own query.
        executor: Returns the thread pool that runs the batches.
        workers: How many batches run at once; one per core by default.

    """

    def __init__(
        self,
        search_batch: Callable[[Sequence[tuple[str, SearchOptions]]], list[Outcome]],
        executor: Callable[[], Executor],
        workers: int | None = None,
    ) -> None:
        self._search_batch = search_batch
        self._executor = executor
        self._workers = workers or os.cpu_count() or 1
        self._lock = threading.Lock()
        self._busy = 0
        self._pending: deque[_PendingQuery] = deque()

    async def search(self, text: str, options: SearchOptions) -> Answer:
        """Answer the query with the next batch that has room for it."""
        loop = asyncio.get_running_loop()
        query = _PendingQuery(text, options, loop.create_future())
        with self._lock:
            self._pending.append(query)
            has_idle_worker = self._busy < self._workers
            self._busy += has_idle_worker
        if has_idle_worker:
            self._executor().submit(self._run_batch, loop)
        return await query.answer

    def _run_batch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer a batch; if queries are left, queue the next batch behind the other work of the pool."""
        if batch := self._next_batch():
            loop.call_soon_threadsafe(_deliver, batch, self._answer(batch))
        if not self._release_if_idle():
            try:
                self._executor().submit(self._run_batch, loop)
            except RuntimeError:
                # The pool is shut down and takes no more work; the waiting queries are answered here.
                self._run_batch(loop)

    def _answer(self, batch: Sequence[_PendingQuery]) -> Sequence[Outcome]:
        try:
            return self._search_batch([(query.text, query.options) for query in batch])
        except BaseException as error:
            # A Rust panic is a BaseException: report it to the callers and keep the worker running.
            failure = error if isinstance(error, Exception) else StoreError(f"the search failed: {error}")
            return [failure] * len(batch)

    def _next_batch(self) -> list[_PendingQuery]:
        """Take this worker's share of the waiting queries."""
        with self._lock:
            self._drop_abandoned()
            share = min(-(-len(self._pending) // self._workers), BATCH_SIZE)
            return [self._pending.popleft() for _ in range(share)]

    def _release_if_idle(self) -> bool:
        """Make this worker idle if no query waits; return whether it did."""
        with self._lock:
            self._drop_abandoned()
            self._busy -= not self._pending
            return not self._pending

    def _drop_abandoned(self) -> None:
        """Remove queries from the front whose callers gave up; they need no answer."""
        while self._pending and self._pending[0].answer.done():
            self._pending.popleft()


def _deliver(batch: Sequence[_PendingQuery], outcomes: Sequence[Outcome]) -> None:
    for query, outcome in zip(batch, outcomes, strict=True):
        if query.answer.done():
            continue
        if isinstance(outcome, Answer):
            query.answer.set_result(outcome)
        else:
            query.answer.set_exception(outcome)
