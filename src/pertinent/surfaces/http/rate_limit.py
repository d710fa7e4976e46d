"""A rate limit for each caller: a token bucket."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

_ONE_TOKEN = 1 - 1e-9
"""One request, with a tolerance for rounding of the clock."""


class RateLimit:
    """Allows each caller a number of requests per minute.

    A caller may spend a whole minute's requests at once; they come back evenly.

    Args:
        per_minute: The number of requests per minute, and the size of the bucket.
        clock: A monotonic clock, in seconds.
        max_callers: How many callers are tracked; the one idle for longest is dropped first.

    """

    def __init__(
        self, per_minute: int, clock: Callable[[], float] = time.monotonic, max_callers: int = 10_000
    ) -> None:
        self._per_second = per_minute / 60
        self._capacity = float(per_minute)
        self._clock = clock
        self._max_callers = max_callers
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, caller: Hashable) -> float:
        """Spend one request of the caller. Return 0, or the seconds until a request is allowed."""
        now = self._clock()
        tokens, last_seen = self._buckets.pop(caller, (self._capacity, now))
        tokens = min(self._capacity, tokens + (now - last_seen) * self._per_second)
        allowed = tokens >= _ONE_TOKEN
        self._buckets[caller] = (tokens - 1 if allowed else tokens, now)
        if len(self._buckets) > self._max_callers:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self._per_second

    def charge(self, caller: Hashable, count: int) -> float:
        """Spend `count` more for a request that was taken. Return 0, or the seconds until it is allowed.

        The caller may spend more than is left, once: then all requests wait until it has come back.
        """
        if not count or caller not in self._buckets:
            return 0.0
        tokens, last_seen = self._buckets[caller]
        if tokens < 0:
            return (1 - tokens) / self._per_second
        self._buckets[caller] = (tokens - count, last_seen)
        return 0.0
