"""Scores the rankings of a peer: nDCG@10 and recall@10 of a BEIR set, or the first pages for readers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
from ir_measures import R, nDCG

import reading
from peers.tasks import Judgments

Rankings = Mapping[str, Sequence[str]]

DEPTH = 10
NDCG, RECALL = nDCG @ DEPTH, R @ DEPTH


def score(rankings: Rankings, pages: Mapping[str, str], judgments: Judgments) -> dict[str, Any]:
    """Score rankings of chunks; a page counts by its best chunk.

    Args:
        rankings: Chunk ids by query id, best first. A query that is missing scores 0.
        pages: The page of each chunk.
        judgments: What is right.
    """
    by_page = {
        query: list(dict.fromkeys(pages[chunk] for chunk in chunks)) for query, chunks in rankings.items()
    }
    if judgments.qrels:
        return score_beir(by_page, judgments.qrels)
    ranks = [reading.find_rank(by_page.get(key, []), query.pages) for key, query in judgments.readers.items()]
    return reading.summarize(list(judgments.readers.values()), ranks)


def score_beir(rankings: Rankings, qrels: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    """Return the means of nDCG@10 and recall@10 over all judged queries."""
    run = {
        query: {page: 1.0 / (rank + 1) for rank, page in enumerate(rankings.get(query, []))}
        for query in qrels
    }
    means = ir_measures.calc_aggregate([NDCG, RECALL], {q: dict(grades) for q, grades in qrels.items()}, run)
    return {"ndcg@10": round(means[NDCG], 4), "recall@10": round(means[RECALL], 4)}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
