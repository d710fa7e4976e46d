"""Clocks: the time of each stage of a piece of work, and timestamps."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class StageTimer:
    """Measures consecutive stages of one piece of work, in milliseconds."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """End the named stage; the next one starts now."""
        now = time.perf_counter()
        self.stages[stage] = (now - self._last) * 1000
        self._last = now

    def seconds(self) -> float:
        """Return the time since the last stage ended."""
        return time.perf_counter() - self._last


def utc_now() -> str:
    """Return the current time in UTC as ISO 8601, ending in Z."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
