"""Scores and order: pure functions from what the index found to what a reader sees first.

The score is absolute, so that a threshold means the same for every query: a cosine, a BM25 weight
brought into [0, 1), or the mean of the two. Rank-based fusion has no such score and is not used.
Candidates are ranked as columns; only those that are shown become objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .types import Candidates, PointId, Ranking, Scores

BM25_MIDPOINT = 10.0
"""The BM25 weight that counts as one half."""

DENSE_SHARE = 0.5
"""How much of a hybrid score is the cosine's."""

SIDES: dict[Ranking, tuple[str, ...]] = {
    "hybrid": ("dense", "lexical"),
    "dense": ("dense",),
    "lexical": ("lexical",),
}
"""Which sides of the index propose candidates for a ranking."""

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates in order, best first; equal scores are settled by whoever knows the chunk ids."""

    point_ids: list[PointId]
    scores: list[float]
    _cosine: list[float] | None
    _lexical: list[float] | None

    def parts(self, place: int) -> Scores:
        """The parts of the score at a place of the list."""
        return Scores(
            None if self._cosine is None else self._cosine[place],
            None if self._lexical is None else self._lexical[place],
        )


def rank(candidates: Candidates, ranking: Ranking) -> Ranked:
    """Every candidate with its parts in [0, 1] and the one number that the ranking orders by."""
    cosine = None if candidates.cosine is None else _clipped(_column(candidates.cosine))
    lexical = None if candidates.bm25 is None else _saturated(_column(candidates.bm25))
    total = combine(cosine, lexical, ranking, len(candidates.point_ids))
    order = (-total).argsort(kind="stable")
    return Ranked(
        [candidates.point_ids[place] for place in order.tolist()],
        total[order].tolist(),
        None if cosine is None else cosine[order].tolist(),
        None if lexical is None else lexical[order].tolist(),
    )


def combine(cosine: Column | None, lexical: Column | None, ranking: Ranking, count: int) -> Column:
    """The score of each candidate; a part that is not there counts 0."""
    dense = np.zeros(count) if cosine is None else cosine
    sparse = np.zeros(count) if lexical is None else lexical
    if ranking == "dense":
        return dense
    if ranking == "lexical":
        return sparse
    return DENSE_SHARE * dense + (1 - DENSE_SHARE) * sparse


def _clipped(values: Column) -> Column:
    # np.clip looks at its arguments for longer than it takes to clip them.
    return np.minimum(np.maximum(values, 0.0), 1.0)


def _saturated(bm25: Column) -> Column:
    return bm25 / (bm25 + BM25_MIDPOINT)


def _column(values: list[float]) -> Column:
    return np.array(values, dtype=np.float64)


def batches(scores: list[float], size: int) -> Iterator[range]:
    """The places of the list in parts of about `size`, never cut between two equal scores."""
    start = 0
    while start < len(scores):
        end = min(start + size, len(scores))
        while end < len(scores) and scores[end] == scores[end - 1]:
            end += 1
        yield range(start, end)
        start = end
