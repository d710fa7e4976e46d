"""Clocks: how long each stage took, and what time it is for the record."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class Stopwatch:
    """Times the stages of one piece of work, one after the other, in milliseconds."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """The named stage ends now."""
        now = time.perf_counter()
        self.stages[stage] = (now - self._last) * 1000
        self._last = now

    def resume(self) -> None:
        """The next stage begins only now: others were worked on in between."""
        self._last = time.perf_counter()

    def seconds(self) -> float:
        """How long it is since the last stage ended, or the watch was made."""
        return time.perf_counter() - self._last


def utc_now() -> str:
    """The time in UTC, ISO 8601, ending in Z."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
