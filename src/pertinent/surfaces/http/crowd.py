"""Queries that arrive together are answered together.

While the threads are busy, queries wait; a thread that gets free takes several of them at once, which
costs less than one after the other. A query that comes alone waits for nobody: where nothing can keep it,
it is answered on the spot, since to wake a thread and be woken by it takes longer than all else that the
service does for a query.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor

from ...engine import Query
from ...errors import StoreError
from ...types import Answer

MOST = 8
"""How many queries are answered together: more of them gain nothing, and all would wait for the last."""

ALONE_SECONDS = 1.0
"""How long nobody else may have asked, for a caller to be alone."""

SWIFT_SECONDS = 0.05
"""How long an answer on the spot may take: whoever comes meanwhile waits for it."""

SHORT = 200
"""How many characters a query may have that is answered on the spot: a long one takes the model long."""

Outcome = Answer | Exception
Waiting = tuple[Query, asyncio.Future[Answer]]


class Crowd:
    """Lets threads take waiting queries, a few at a time. Lives on one event loop.

    A thread takes its next party by itself as soon as it has done with the last: to be handed one, it
    would have to wait until the loop has sent off the answers before.
    """

    def __init__(
        self,
        search: Callable[[Sequence[Query]], list[Outcome]],
        threads: Callable[[], Executor],
        workers: int | None = None,
        *,
        on_the_spot: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`on_the_spot`: whether a search waits for nothing but the processor, so that the loop may do it."""
        self._search = search
        self._threads = threads
        self._workers = workers or os.cpu_count() or 1
        self._lock = threading.Lock()
        self._busy = 0
        self._waiting: deque[Waiting] = deque()
        self._on_the_spot = on_the_spot
        self._clock = clock
        self._last: tuple[Hashable, float] = (None, -math.inf)
        """Who asked last, and when."""
        self._quiet_from = -math.inf
        """When all but who asked last have been silent for long enough."""

    async def search(self, query: Query) -> Answer:
        """The answer to the query, when its turn has come."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()
        with self._lock:
            self._waiting.append((query, answer))
            idle = self._busy < self._workers
            self._busy += idle
        if idle:
            self._threads().submit(self._work, loop)
        return await answer

    def answer_if_alone(self, query: Query, caller: Hashable) -> Answer | None:
        """The answer, to a caller whom nobody else keeps company; nothing else is done meanwhile."""
        if not self._on_the_spot or not self._is_alone(caller) or len(query.text or "") > SHORT:
            return None
        began = self._clock()
        try:
            (outcome,) = self._search([query])
        finally:
            if (ended := self._clock()) > began + SWIFT_SECONDS:
                # A long query, or a slow machine: the next ones go to the threads.
                self._quiet_from = ended + ALONE_SECONDS
        if isinstance(outcome, Answer):
            return outcome
        raise outcome

    def _is_alone(self, caller: Hashable) -> bool:
        """Whether nobody else is there, or was just now; of a caller without a name that can't be told."""
        now = self._clock()
        last, when = self._last
        if caller != last:
            self._quiet_from = max(self._quiet_from, when + ALONE_SECONDS)
        self._last = (caller, now)
        return caller is not None and now >= self._quiet_from and not self._busy

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        while taken := self._take():
            outcomes: Sequence[Outcome]
            try:
                outcomes = self._search([query for query, _ in taken])
            except BaseException as error:
                # A panic in Rust is no Exception; whoever waits must hear of it, and the thread goes on.
                told = error if isinstance(error, Exception) else StoreError(f"the search failed: {error}")
                outcomes = [told] * len(taken)
            loop.call_soon_threadsafe(_hand_back, taken, outcomes)

    def _take(self) -> list[Waiting]:
        with self._lock:
            # Whoever gave up waiting needs no answer.
            while self._waiting and self._waiting[0][1].done():
                self._waiting.popleft()
            share = min(-(-len(self._waiting) // self._workers), MOST)
            self._busy -= not share
            return [self._waiting.popleft() for _ in range(share)]


def _hand_back(taken: Sequence[Waiting], outcomes: Sequence[Outcome]) -> None:
    for (_, answer), outcome in zip(taken, outcomes, strict=True):
        if answer.done():
            continue
        if isinstance(outcome, Answer):
            answer.set_result(outcome)
        else:
            answer.set_exception(outcome)
