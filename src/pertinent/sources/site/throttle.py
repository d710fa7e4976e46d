"""The rate of requests to a site: a fixed delay, and a growing one while the site is busy (429, 503)."""

from __future__ import annotations

import threading
import time

MAX_CRAWL_DELAY = 60.0
"""The longest `Crawl-delay` of robots.txt that is respected, in seconds."""

_FIRST_GAP, _LONGEST_GAP, _NO_GAP = 0.1, 2.0, 0.01
"""Seconds between two requests to a busy site: at first, at most, and what counts as none."""
_SLOWER, _FASTER = 2.0, 0.97
"""Factors of the gap after a refusal and after an answer; at a limit, one request in 25 is refused."""


class Throttle:
    """Spaces out the requests of all threads.

    Every refusal of a busy site doubles the gap between requests, and every answer shortens it a little,
    so that the site's own rate limit is found, whatever it is.
    """

    def __init__(self, stopped: threading.Event, delay: float = 0.0) -> None:
        self.delay = delay
        """Least seconds between two requests."""
        self.refusals = 0
        """How many requests in a row the site has refused."""
        self._stopped = stopped
        self._lock = threading.Lock()
        self._next_request = 0.0
        self._gap = 0.0
        self._slowed_at = 0.0

    def wait_turn(self) -> float:
        """Wait until the next request may be sent; return that moment."""
        while True:
            with self._lock:
                now = time.monotonic()
                wait = self._next_request - now
                if wait <= 0 or self._stopped.is_set():
                    self._next_request = now + max(self.delay, self._gap)
                    return now
            self._stopped.wait(wait)

    def record_refusal(self, sent_at: float, pause: float) -> None:
        """Slow down, since a request that was sent at `sent_at` was refused.

        No request is sent in the next `pause` seconds, which is what `Retry-After` asked for.
        """
        with self._lock:
            self.refusals += 1
            now = time.monotonic()
            if sent_at >= self._slowed_at:
                # Requests sent before the last change of the gap say nothing about the new one.
                self._slowed_at = now
                self._gap = min(max(_SLOWER * self._gap, _FIRST_GAP), _LONGEST_GAP)
            self._next_request = max(self._next_request, now + max(self._gap, pause))

    def record_answer(self) -> None:
        """Speed up a little, since a request was answered."""
        if self._gap or self.refusals:
            with self._lock:
                self.refusals = 0
                faster = _FASTER * self._gap
                self._gap = faster if faster > _NO_GAP else 0.0
