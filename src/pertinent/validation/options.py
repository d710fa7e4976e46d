"""The options of a validation run."""

from __future__ import annotations

from dataclasses import dataclass

from ..limits import ENGINE, check_at_least, check_count
from ..types import Ranking

MOST_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class ValidationOptions:
    """How the queries of a golden set are run.

    Examples:
        >>> ValidationOptions(ranking="dense", concurrency=4, audit=True)
    """

    ranking: Ranking | None = None
    threshold: float = 0.0
    rerank: bool | None = None
    """Whether the best results are reranked; None reranks those of `hybrid`, if a reranker is set."""
    concurrency: int = 1
    """How many queries run at the same time."""
    audit: bool = False
    """Whether everything that is stored is checked."""
    together: bool = True
    """Whether to check that fifty queries at once get the same results as alone."""
    diagnose: bool = True
    """Whether failed queries are diagnosed."""
    path: str | None = None
    """The file of the golden set."""
    limit: int | None = None
    """How many of its queries are run, the first ones; all unless given."""

    def __post_init__(self) -> None:
        ENGINE.check_threshold(self.threshold)
        check_count("concurrency", self.concurrency, MOST_AT_ONCE)
        if self.limit is not None:
            check_at_least("limit", self.limit, 1)
