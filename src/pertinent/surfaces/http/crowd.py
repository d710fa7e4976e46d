"""Queries that arrive together are answered together.

While the threads are busy, queries wait; a thread that gets free takes several of them at once, which
costs less than one after the other. A query that comes alone waits for nobody.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor

from ...engine import Query
from ...types import Answer

MOST = 8
"""How many queries are answered together: more of them gain nothing, and all would wait for the last."""

Outcome = Answer | Exception
Waiting = tuple[Query, asyncio.Future[Answer]]


class Crowd:
    """Hands waiting queries to threads, a few at a time. Lives on one event loop."""

    def __init__(
        self,
        search: Callable[[Sequence[Query]], list[Outcome]],
        threads: Callable[[], Executor],
        workers: int | None = None,
    ) -> None:
        self._search = search
        self._threads = threads
        self._workers = workers or os.cpu_count() or 1
        self._busy = 0
        self._waiting: deque[Waiting] = deque()

    async def search(self, query: Query) -> Answer:
        """The answer to the query, when its turn has come."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((query, answer))
        self._hand_out()
        return await answer

    def _hand_out(self) -> None:
        while self._waiting and self._busy < self._workers:
            share = -(-len(self._waiting) // self._workers)
            taken = [self._waiting.popleft() for _ in range(min(share, MOST))]
            # Whoever gave up waiting needs no answer.
            taken = [one for one in taken if not one[1].done()]
            if taken:
                queries = [query for query, _ in taken]
                work = asyncio.get_running_loop().run_in_executor(self._threads(), self._search, queries)
                self._busy += 1
                work.add_done_callback(lambda done, taken=taken: self._hand_back(done, taken))  # type: ignore[misc]

    def _hand_back(self, done: asyncio.Future[list[Outcome]], taken: list[Waiting]) -> None:
        self._busy -= 1
        error = asyncio.CancelledError() if done.cancelled() else done.exception()
        outcomes = [error] * len(taken) if error is not None else done.result()
        for (_, answer), outcome in zip(taken, outcomes, strict=True):
            if answer.done():
                continue
            if isinstance(outcome, Answer):
                answer.set_result(outcome)
            else:
                answer.set_exception(outcome)
        self._hand_out()
