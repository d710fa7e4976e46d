"""Ranking: pure functions from candidates to a list of hits.

The score is absolute, so that a threshold means the same for every query: a cosine, a BM25 weight mapped
into [0, 1), or the mean of the two. Rank-based fusion has no such score and is not used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..types import (
    Candidates,
    DamagedPoint,
    Excluded,
    Hit,
    PointId,
    Ranking,
    Scores,
    SearchOptions,
    StoredPoint,
)

BM25_MIDPOINT = 10.0
"""The BM25 weight that maps to one half."""

COSINE_SHARES: Mapping[Ranking, float] = {"hybrid": 0.5, "dense": 1.0, "lexical": 0.0}
"""The share of the cosine in the score of each ranking; the lexical score has the remainder."""

CANDIDATE_SIDES: Mapping[Ranking, tuple[str, ...]] = {
    "hybrid": ("dense", "lexical"),
    "dense": ("dense",),
    "lexical": ("lexical",),
}
"""The sides of the index that propose candidates for each ranking."""

EXCLUDED_LIMIT = 5
"""How many excluded candidates an answer reports."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates in order, best first; those that can't be read stand apart, with their scores."""

    hits: list[Hit]
    damaged: list[tuple[float, DamagedPoint]]

    def all_reach(self, threshold: float) -> bool:
        """Say whether every candidate has at least this score, so that further ones might too."""
        scores = [*(hit.score for hit in self.hits), *(score for score, _ in self.damaged)]
        return min(scores, default=0.0) >= threshold


class Selection(NamedTuple):
    """The hits to list, the best candidates that are not listed, and the damaged ones that would be."""

    hits: list[Hit]
    excluded: list[Excluded]
    damaged: list[DamagedPoint]


def rank(candidates: Candidates, points: Mapping[PointId, StoredPoint], ranking: Ranking) -> Ranked:
    """Score the candidates and sort them, best first; equal scores are ordered by chunk id.

    A candidate without a stored point was deleted since the index proposed it, and is dropped.
    """
    cosine_share = COSINE_SHARES[ranking]
    count = len(candidates.point_ids)
    cosines: Sequence[float | None] = candidates.cosine or [None] * count
    weights: Sequence[float | None] = candidates.bm25 or [None] * count
    hits: list[Hit] = []
    damaged: list[tuple[float, DamagedPoint]] = []
    for point_id, raw_cosine, bm25 in zip(candidates.point_ids, cosines, weights, strict=True):
        if point_id not in points:
            continue
        cosine = None if raw_cosine is None else min(max(raw_cosine, 0.0), 1.0)
        lexical = None if bm25 is None else bm25 / (bm25 + BM25_MIDPOINT)
        score = cosine_share * (cosine or 0.0) + (1 - cosine_share) * (lexical or 0.0)
        point = points[point_id]
        if isinstance(point, DamagedPoint):
            damaged.append((score, point))
        else:
            hits.append(Hit(point, score, Scores(cosine, lexical), point_id))
    return Ranked(
        sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id)),
        sorted(damaged, key=lambda scored: (-scored[0], scored[1].chunk_id)),
    )


def select(ranked: Ranked, options: SearchOptions) -> Selection:
    """Choose the hits to list, and say of the best others why they are not listed.

    A passage that several pages share (a partial, a licence) is listed once, from its best page.
    """
    hits: list[Hit] = []
    excluded: list[Excluded] = []
    hits_of_page: Counter[str] = Counter()
    texts: set[str] = set()
    for hit in ranked.hits:
        page = hit.chunk.document_id
        if hit.score < options.threshold:
            reason = f"score {hit.score:.3f} is below the threshold {options.threshold:g}"
        elif options.distinct and hit.chunk.content_hash in texts:
            reason = "its text is that of a better hit, word for word"
        elif options.per_page is not None and hits_of_page[page] >= options.per_page:
            reason = f"its page has {options.per_page} better hits already"
        elif len(hits) >= options.top_k:
            reason = f"the list is full: top_k is {options.top_k}"
        else:
            hits_of_page[page] += 1
            texts.add(hit.chunk.content_hash or hit.chunk.chunk_id)
            hits.append(hit)
            continue
        if len(excluded) < EXCLUDED_LIMIT:
            excluded.append(Excluded(hit, reason))
    lowest = hits[-1].score if len(hits) >= options.top_k else options.threshold
    damaged = [point for score, point in ranked.damaged if score >= max(lowest, options.threshold)]
    return Selection(hits, excluded, damaged)
