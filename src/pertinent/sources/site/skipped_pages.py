"""Counts of the pages that a crawl skips, for its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...types import Skipped

_MAX_REASONS = 5
"""How many reasons are reported."""


class SkippedPages:
    """Counts the pages that are skipped for each reason, with the address of the first."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def add(self, reason: str, address: str, count: int = 1) -> None:
        self._counts[reason] += count
        self._examples.setdefault(reason, address)

    def summarize(self) -> Iterator[Skipped]:
        """Yield the most frequent reasons, each with an example and how many pages were skipped."""
        for reason, count in self._counts.most_common(_MAX_REASONS):
            yield Skipped(f"{reason}, such as {self._examples[reason][:200]}", count)
