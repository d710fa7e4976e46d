"""How a validation is run."""

from __future__ import annotations

from dataclasses import dataclass

from ..limits import ENGINE, check_count
from ..types import Ranking

MOST_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Options:
    """How a validation is run."""

    ranking: Ranking | None = None
    threshold: float = 0.0
    concurrency: int = 1
    audit: bool = False
    together: bool = True
    """Whether fifty queries are asked at once."""
    diagnose: bool = True
    path: str | None = None
    """Where the golden set was read from."""
    limit: int | None = None
    """How many of its queries were asked, where not all were."""

    def __post_init__(self) -> None:
        ENGINE.check_threshold(self.threshold)
        check_count("concurrency", self.concurrency, MOST_AT_ONCE)
