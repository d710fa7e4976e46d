"""Seed 001's Query Response: an answer as JSON-ready data, with the field names of that seed."""

from __future__ import annotations

from typing import Any

from .._internal.clock import StageTimer
from ..types import Answer, Hit


def render_query_response(answer: Answer, *, include_metadata: bool = True) -> dict[str, Any]:
    """Format an answer as a Query Response.

    Args:
        answer: The answer of a search.
        include_metadata: Add title, section, anchor, span, algorithm and the parts of the score to each
            result.

    Returns:
        JSON-ready data; `metadata.stages_ms` has the time of each stage, this one included.
    """
    timer = StageTimer()
    results = [
        _retrieved_chunk(hit, answer.algorithm, include_metadata=include_metadata) for hit in answer.hits
    ]
    timer.lap("formatted")
    stages = {**answer.timings, **timer.stages}
    return {
        "query": answer.query,
        "results": results,
        "metadata": {
            "query_time_ms": round(sum(stages.values())),
            "total_results": len(results),
            "timestamp": answer.created_at,
            "ranking": answer.ranking,
            "algorithm": answer.algorithm,
            "rerank_share": answer.rerank_share,
            "stages_ms": {stage: round(ms, 3) for stage, ms in stages.items()},
            "searched_for": answer.searched_for,
            "corrected": answer.corrected,
            "notes": list(answer.notes),
        },
    }


def _retrieved_chunk(hit: Hit, algorithm: str, *, include_metadata: bool) -> dict[str, Any]:
    chunk = hit.chunk
    start, end = chunk.span
    required = {
        "content": chunk.text,
        "url": chunk.url,
        # Seeds 001 and 004 allow no null here.
        "position": max(chunk.position, 0),
        "similarity_score": hit.score,
        "chunk_id": chunk.chunk_id,
        "created_at": chunk.created_at,
        "citation": chunk.citation,
    }
    if not include_metadata:
        return required
    return required | {
        "title": chunk.title,
        "section": chunk.section,
        "anchor": chunk.anchor,
        "start": start,
        "end": end,
        "algorithm": algorithm,
        "scores": hit.scores._asdict(),
    }
