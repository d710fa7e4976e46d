"""Scores and order: pure functions from what the index found to what a reader sees first.

The score is absolute, so that a threshold means the same for every query: a cosine, a BM25 weight
brought into [0, 1), or the mean of the two. Rank-based fusion has no such score and is not used.
Candidates are ranked as columns; only those that are shown become objects. The columns are lists: a
hundred numbers are added up in the time that NumPy takes to look at its arguments.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

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

Key = TypeVar("Key", bound=Hashable)

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


def contenders(
    named: Mapping[str, Mapping[Key, float]], ranking: Ranking, limit: int, best: int
) -> list[Key]:
    """Which of the points that the sides have named may be among the best.

    Each side has named its best `limit` with their scores: what it has not named scores no more there than
    the last that it has, and where it named fewer, nothing. So a point can be told to be out of the
    question by the part of its score that is known.
    """
    share = SHARES[ranking]
    cosine, lexical = _cosines(named["dense"].values()), _saturated(named["lexical"].values())
    dense = dict(zip(named["dense"], [share * one for one in cosine], strict=True))
    other = dict(zip(named["lexical"], [(1 - share) * one for one in lexical], strict=True))
    least = dense | {key: dense.get(key, 0.0) + one for key, one in other.items()}
    enough = min(sorted(least.values(), reverse=True)[:best], default=0.0)
    unnamed_dense, unnamed_other = _last(dense, limit), _last(other, limit)
    return [
        key
        for key, known in least.items()
        if known >= enough
        or (key not in other and known + unnamed_other >= enough)
        or (key not in dense and unnamed_dense + known >= enough)
    ]


def _last(side: Mapping[Key, float], limit: int) -> float:
    """The most that a side can add to a point which it has not named."""
    return min(side.values(), default=0.0) if len(side) >= limit else 0.0


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
    return cosine and _cosines(cosine), bm25 and _saturated(bm25)


def _cosines(found: Iterable[float]) -> Part:
    return [0.0 if one < 0.0 else 1.0 if one > 1.0 else one for one in found]


def _saturated(bm25: Iterable[float]) -> Part:
    return [one / (one + BM25_MIDPOINT) for one in bm25]


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
