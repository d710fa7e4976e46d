"""Ranking: pure functions from candidates to a list of hits.

The score is absolute, so that a threshold means the same for every query: a cosine, a BM25 weight mapped
into [0, 1), or the mean of the two. Rank-based fusion has no such score and is not used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..types import Candidates, Chunk, Excluded, Hit, PointId, Ranking, Scores, SearchOptions

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


def rank(candidates: Candidates, chunks: Mapping[PointId, Chunk], ranking: Ranking) -> list[Hit]:
    """Score the candidates and sort them, best first; equal scores are ordered by chunk id.

    A candidate without a chunk was deleted since the index proposed it, and is dropped.
    """
    cosine_share = COSINE_SHARES[ranking]
    count = len(candidates.point_ids)
    cosines: Sequence[float | None] = candidates.cosine or [None] * count
    weights: Sequence[float | None] = candidates.bm25 or [None] * count
    hits = []
    for point_id, raw_cosine, bm25 in zip(candidates.point_ids, cosines, weights, strict=True):
        if point_id not in chunks:
            continue
        cosine = None if raw_cosine is None else min(max(raw_cosine, 0.0), 1.0)
        lexical = None if bm25 is None else bm25 / (bm25 + BM25_MIDPOINT)
        score = cosine_share * (cosine or 0.0) + (1 - cosine_share) * (lexical or 0.0)
        hits.append(Hit(chunks[point_id], score, Scores(cosine, lexical), point_id))
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id))


def select(ranked: Sequence[Hit], options: SearchOptions) -> tuple[list[Hit], list[Excluded]]:
    """Choose the hits to list, and say of the best others why they are not listed.

    A passage that several pages share (a partial, a licence) is listed once, from its best page.
    """
    hits: list[Hit] = []
    excluded: list[Excluded] = []
    hits_of_page: Counter[str] = Counter()
    texts: set[str] = set()
    for hit in ranked:
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
    return hits, excluded
