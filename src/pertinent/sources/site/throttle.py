"""How fast a site is asked: a delay between requests, a longer one while it refuses some, a rest if asked."""

from __future__ import annotations

import email.utils
import math
import threading
import time

LONGEST_DELAY = 60.0
"""The longest `Crawl-delay` that is kept to."""

_FIRST_GAP, _LONGEST_GAP, _NO_GAP = 0.1, 2.0, 0.01
"""Seconds between two requests to a busy site: at first, at most, and what is none any more."""
_SLOWER, _FASTER = 2.0, 0.97
"""What a refusal and an answer make of it: so one request in 25 is refused where there is a limit."""


class Pace:
    """Lets requests go one after the other; safe to use from many threads.

    A site that refuses requests for being busy is asked half as often each time, and a little more
    often with each answer: so its limit is found, whatever it is.
    """

    def __init__(self, stopped: threading.Event, delay: float = 0.0) -> None:
        self.delay = delay
        self.refusals = 0
        """How many there were since the site last answered."""
        self._stopped = stopped
        self._lock = threading.Lock()
        self._next = 0.0
        self._gap = 0.0
        self._slowed = 0.0

    def turn(self) -> float:
        """Return when the next request may go: that moment."""
        while True:
            with self._lock:
                now = time.monotonic()
                early = self._next - now
                if early <= 0 or self._stopped.is_set():
                    self._next = now + max(self.delay, self._gap)
                    return now
            self._stopped.wait(early)

    def refused(self, went: float, rest: float) -> None:
        """A request that went at that moment was one too many; nobody asks again before the rest is over."""
        with self._lock:
            self.refusals += 1
            now = time.monotonic()
            if went >= self._slowed:
                # Those that are on their way already say nothing of the new pace.
                self._slowed = now
                self._gap = min(max(_SLOWER * self._gap, _FIRST_GAP), _LONGEST_GAP)
            self._next = max(self._next, now + max(self._gap, rest))

    def answered(self) -> None:
        """A request was answered."""
        if self._gap or self.refusals:
            with self._lock:
                self.refusals = 0
                faster = _FASTER * self._gap
                self._gap = faster if faster > _NO_GAP else 0.0


def retry_after(value: str) -> float | None:
    """Seconds to wait, from a Retry-After header in either of its two forms."""
    try:
        seconds = float(value)
    except ValueError:
        parsed = email.utils.parsedate_tz(value)
        seconds = email.utils.mktime_tz(parsed) - time.time() if parsed else math.nan
    return max(seconds, 0.0) if math.isfinite(seconds) else None
