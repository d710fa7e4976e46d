"""Seed 001's Query Response: an answer as plain data, in that door's names."""

from __future__ import annotations

from typing import Any

from .._internal.clock import StageTimer
from ..types import Answer, Hit


def query_response(answer: Answer, *, include_metadata: bool = True) -> dict[str, Any]:
    """The answer as a JSON-ready dict; the stages of the query are in `metadata.stages_ms`."""
    watch = StageTimer()
    results = [
        _retrieved_chunk(hit, answer.algorithm, include_metadata=include_metadata) for hit in answer.hits
    ]
    watch.lap("formatted")
    stages = {**answer.timings, **watch.stages}
    return {
        "query": answer.query,
        "results": results,
        "metadata": {
            "query_time_ms": round(sum(stages.values())),
            "total_results": len(results),
            "timestamp": answer.created_at,
            "ranking": answer.ranking,
            "algorithm": answer.algorithm,
            "stages_ms": {stage: round(ms, 3) for stage, ms in stages.items()},
            "notes": list(answer.notes),
        },
    }


def _retrieved_chunk(hit: Hit, algorithm: str, *, include_metadata: bool) -> dict[str, Any]:
    chunk = hit.chunk
    start, end = chunk.span
    required = {
        "content": chunk.text,
        "url": chunk.url,
        # Seed 001 has no null here, as seed 004 has none.
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
        "scores": {"cosine": hit.scores.cosine, "lexical": hit.scores.lexical},
    }
