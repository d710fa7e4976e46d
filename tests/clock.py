"""A clock for tests of waiting."""

from __future__ import annotations

import threading


class Clock(threading.Event):
    """A clock that only advances by waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    monotonic = __call__

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.now += timeout
        return False
