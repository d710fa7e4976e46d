"""Scores and order: pure functions from what the index found to what a reader sees first.

The score is absolute, so that a threshold means the same for every query: a cosine, a BM25 weight
brought into [0, 1), or the mean of the two. Rank-based fusion has no such score and is not used.
Candidates are ranked as columns; only those that are shown become objects. The columns are lists: a
hundred numbers are added up in the time that NumPy takes to look at its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .types import Candidates, PointId, Ranking, Scores

BM25_MIDPOINT = 10.0
"""The BM25 weight that counts as one half."""

DENSE_SHARE = 0.5
"""How much of a hybrid score is the cosine's."""

SHARES: dict[Ranking, float] = {"hybrid": DENSE_SHARE, "dense": 1.0, "lexical": 0.0}
"""The same for each ranking."""

SIDES: dict[Ranking, tuple[str, ...]] = {
    "hybrid": ("dense", "lexical"),
    "dense": ("dense",),
    "lexical": ("lexical",),
}
"""Which sides of the index propose candidates for a ranking."""

Part = list[float]
"""One part of the score of each candidate."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates in order, best first; equal scores are settled by whoever knows the chunk ids."""

    point_ids: list[PointId]
    scores: list[float]
    _cosine: Part | None
    _lexical: Part | None

    def parts(self, place: int) -> Scores:
        """The parts of the score at a place of the list."""
        return Scores(
            None if self._cosine is None else self._cosine[place],
            None if self._lexical is None else self._lexical[place],
        )

    def first(self, count: int) -> Ranked:
        """So many from the top, and those that are as good as the last of them."""
        end = next(batches(self.scores, count), range(0)).stop
        cosine, lexical = (part and part[:end] for part in (self._cosine, self._lexical))
        return Ranked(self.point_ids[:end], self.scores[:end], cosine, lexical)


def contenders(candidates: Candidates, ranking: Ranking, limit: int, best: int) -> list[int]:
    """The places of those that may be among the best; a score that is missing is NaN.

    Each side has named its best `limit`: what it has not named scores no more there than the last that it
    has, and where it named fewer, nothing. So a point can be told to be out of the question by the part of
    its score that is known.
    """
    parts = _parts(candidates)
    count = len(candidates.point_ids)
    least = _totals([_filled(part, 0.0) for part in parts], ranking, count)
    most = _totals([_filled(part, _last(part, limit)) for part in parts], ranking, count)
    enough = min(sorted(least, reverse=True)[:best], default=0.0)
    return [place for place, total in enumerate(most) if total >= enough]


def _filled(part: Part | None, value: float) -> Part | None:
    """With the value in the place of each NaN, which is the one number that does not equal itself."""
    return part and [one if one == one else value for one in part]  # noqa: PLR0124 - a call takes ten times as long


def _last(part: Part | None, limit: int) -> float:
    """The most that a point can have of a part which its side has not named it for."""
    named = [one for one in part or () if one == one]  # noqa: PLR0124 - no NaN
    return min(named) if len(named) >= limit else 0.0


def rank(candidates: Candidates, ranking: Ranking) -> Ranked:
    """Every candidate with its parts in [0, 1] and the one number that the ranking orders by."""
    parts = _parts(candidates)
    total = _totals(parts, ranking, len(candidates.point_ids))
    order = sorted(range(len(total)), key=total.__getitem__, reverse=True)
    cosine, lexical = (part and [part[place] for place in order] for part in parts)
    return Ranked(
        [candidates.point_ids[place] for place in order], [total[place] for place in order], cosine, lexical
    )


def _parts(candidates: Candidates) -> tuple[Part | None, Part | None]:
    """Cosine and BM25, each brought into [0, 1]."""
    cosine, bm25 = candidates.cosine, candidates.bm25
    return (
        cosine and [0.0 if one < 0.0 else 1.0 if one > 1.0 else one for one in cosine],
        bm25 and [one / (one + BM25_MIDPOINT) for one in bm25],
    )


def _totals(parts: Sequence[Part | None], ranking: Ranking, count: int) -> list[float]:
    """The score of each candidate; a part that is not there counts 0."""
    cosine, lexical = (part or [0.0] * count for part in parts)
    dense_share = SHARES[ranking]
    return [dense_share * one + (1 - dense_share) * other for one, other in zip(cosine, lexical, strict=True)]


def batches(scores: list[float], size: int) -> Iterator[range]:
    """The places of the list in parts of about `size`, never cut between two equal scores."""
    start = 0
    while start < len(scores):
        end = min(start + size, len(scores))
        while end < len(scores) and scores[end] == scores[end - 1]:
            end += 1
        yield range(start, end)
        start = end
