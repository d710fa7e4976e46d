"""How fast a site is asked: a delay between requests, and a rest for all when it asks for one."""

from __future__ import annotations

import email.utils
import math
import threading
import time

LONGEST_DELAY = 60.0
"""The longest `Crawl-delay` that is kept to."""


class Pace:
    """Lets requests go one after the other; safe to use from many threads."""

    def __init__(self, stopped: threading.Event, delay: float = 0.0) -> None:
        self.delay = delay
        self._stopped = stopped
        self._lock = threading.Lock()
        self._next = 0.0

    def turn(self) -> None:
        """Return when the next request may go."""
        with self._lock:
            now = time.monotonic()
            mine = max(self._next, now)
            self._next = mine + self.delay
        if mine > now:
            self._stopped.wait(mine - now)

    def rest(self, seconds: float) -> None:
        """Nobody asks again before that time is over."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)


def retry_after(value: str) -> float | None:
    """Seconds to wait, from a Retry-After header in either of its two forms."""
    try:
        seconds = float(value)
    except ValueError:
        parsed = email.utils.parsedate_tz(value)
        seconds = email.utils.mktime_tz(parsed) - time.time() if parsed else math.nan
    return max(seconds, 0.0) if math.isfinite(seconds) else None
