"""Reranking: a second, slower model reads the best passages together with the query.

The score of a reranked list is `(1 - share) × base + share × relevance`, where `base` is the score of the
ranking. Both are in [0, 1], and so is the result. A passage that was not reranked gets the lowest relevance
of those that were, so that it can't overtake any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .._internal.timed_calls import TimedCalls
from ..errors import RerankerError
from ..ports import Reranker
from ..types import Chunk, Hit, PointId, SearchOptions
from .ranking import Ranked, select


class Reranking:
    """Reranks the best passages of a list. Thread-safe.

    Args:
        reranker: Judges the passages.
        depth: How many passages of a list are reranked.
        share: The weight of the reranker in the score, in [0, 1].
        timeout: How many seconds a search waits for the reranker; None waits until it answers.
    """

    def __init__(self, reranker: Reranker, depth: int, share: float, timeout: float | None = None) -> None:
        self.reranker = reranker
        self.depth = depth
        self.share = share
        self.failure: str | None = None
        """Why the reranker failed when it was last called; None if it answered."""
        self._calls = None if timeout is None else TimedCalls("the reranker", timeout, RerankerError)

    def __str__(self) -> str:
        """Return what identifies the reranking, for reports."""
        return f"{self.reranker.name} depth={self.depth} share={self.share:g}"

    def apply(self, ranked: Ranked, query: str, options: SearchOptions) -> Ranked:
        """Rerank the best passages that can be listed; raise RerankerError if the reranker fails."""
        best = select(ranked, replace(options, top_k=self.depth, threshold=0.0)).hits
        if not best:
            return ranked
        relevances = self.score(query, [join_passage(hit.chunk) for hit in best])
        by_point = dict(zip((hit.point_id for hit in best), relevances, strict=True))
        return blend_relevances(ranked, by_point, self.share)

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return the relevance of each passage, within the time limit; record a failure."""
        try:
            if self._calls is None:
                relevances = self.reranker.score(query, passages)
            else:
                relevances = self._calls.run(lambda: self.reranker.score(query, passages))
        except RerankerError as error:
            self.failure = str(error)
            raise
        self.failure = None
        return relevances


def join_passage(chunk: Chunk) -> str:
    """Return the text that a reranker reads: the names above the passage, and the passage."""
    return f"{chunk.breadcrumb}\n{chunk.text}"


def blend_relevances(ranked: Ranked, relevances: Mapping[PointId, float], share: float) -> Ranked:
    """Mix the relevance of each passage into its score, and sort the list again.

    Args:
        ranked: The list.
        relevances: The relevance of each passage that was reranked; at least one.
        share: The weight of the relevance.
    """
    lowest = min(relevances.values())

    def blend_score(base: float, relevance: float) -> float:
        # Rounding may lead a little out of the range.
        return min(max((1.0 - share) * base + share * relevance, 0.0), 1.0)

    def blend_hit(hit: Hit) -> Hit:
        relevance = relevances.get(hit.point_id)
        score = blend_score(hit.score, lowest if relevance is None else relevance)
        return replace(hit, score=score, scores=hit.scores._replace(base=hit.score, rerank=relevance))

    hits = sorted(map(blend_hit, ranked.hits), key=lambda hit: (-hit.score, hit.chunk.chunk_id))
    return Ranked(hits, [(blend_score(score, lowest), point) for score, point in ranked.damaged])
