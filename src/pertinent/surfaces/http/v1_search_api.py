"""Seed 004: `POST /api/v1/search`."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ...identity import digest
from ...limits import RETRIEVAL_IMPLEMENTATION as LIMITS
from ...limits import check_count
from ...search.notes import NO_LEXICAL, NO_PHRASE
from ...types import Answer, Hit, Ranking, SearchOptions
from .errors import openapi_errors
from .schemas import (
    NOT_BLANK_PATTERN,
    Anchor,
    ChunkId,
    ContentHash,
    CreatedAt,
    DocumentId,
    Highlights,
    PageUrl,
    Score,
    SearchFields,
    Section,
    Slug,
    SourcePath,
    SourceType,
    SpanEnd,
    SpanStart,
    Text,
    Title,
    check_integer,
)
from .service import answer_query, get_service, make_snippets

router = APIRouter(prefix="/api/v1", tags=["v1"])

ADVISED_LENGTHS = range(10, 501)
"""The lengths of a query that seed 004 calls reasonable; others get a warning."""

MAX_NEAREST = 3
"""How many results below the threshold are returned if none reaches it."""


def _check_per_page(value: object) -> int:
    return check_count("per_page", value, LIMITS.top_k_max)


class SearchQuery(SearchFields):
    """The input text that is used to find semantically similar content."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query_text": "How do ROS 2 nodes communicate?", "top_k": 5, "similarity_threshold": 0.3}
            ]
        }
    )

    query_text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LIMITS.query_max,
            description="The input text for the semantic search; 10 to 500 characters are best",
            json_schema_extra={"pattern": NOT_BLANK_PATTERN},
        ),
        BeforeValidator(LIMITS.check_query),
    ]
    top_k: Annotated[
        int,
        Field(ge=1, le=LIMITS.top_k_max, description="Number of results to retrieve"),
        check_integer(LIMITS.check_top_k),
    ] = 5
    similarity_threshold: Annotated[
        float,
        Field(ge=0.0, le=1.0, allow_inf_nan=False, description="Minimum similarity score for inclusion"),
        BeforeValidator(LIMITS.check_threshold),
    ] = 0.5
    per_page: Annotated[
        Annotated[int, Field(ge=1, le=LIMITS.top_k_max), check_integer(_check_per_page)] | None,
        Field(description="Maximum number of results from one page"),
    ] = None
    explain: Annotated[bool, Field(description="Add the time of each stage, and the results left out")] = (
        False
    )
    distinct: Annotated[bool, Field(description="List a text that several pages share only once")] = True
    fallback: Annotated[
        Literal["lexical"] | None, Field(description="The ranking to use while the embedding model is down")
    ] = None


class MetadataPackage(BaseModel):
    """Information about the source of a retrieved chunk."""

    url: PageUrl = Field(min_length=1, description="Source URL of the original document")
    section: Section = Field(description="Section or heading in the original document")
    chunk_id: ChunkId = Field(description="Identifier for the specific chunk")
    document_id: DocumentId = Field(description="Identifier for the source document")
    document_title: Title = Field(description="Title of the source document")
    source_type: SourceType
    anchor: Anchor
    position: int | None = Field(
        ge=0, description="Position of the chunk in the document; null if unknown", examples=[1]
    )
    start: SpanStart
    end: SpanEnd
    source_path: SourcePath
    slug: Slug
    content_hash: ContentHash
    created_at: CreatedAt


class SimilarityScore(BaseModel):
    """How similar a chunk is to the query, and by which measure."""

    score: Score = Field(description="The similarity score value")
    algorithm: Literal["hybrid-similarity", "cosine-similarity", "lexical-similarity"]
    query_embedding_id: str = Field(
        description="Identifier for the query embedding used", examples=["9f2c1d0e8b7a6f54"]
    )
    result_embedding_id: str = Field(
        description="Identifier for the result embedding compared",
        examples=["b1a7c0de-3f52-5c6e-8d4b-2f9e6a1c7d30"],
    )


class ComponentScores(BaseModel):
    """The features that the score is computed from; null where the ranking does not use one."""

    cosine: float | None = Field(ge=0.0, le=1.0, examples=[0.63])
    lexical: float | None = Field(ge=0.0, le=1.0, examples=[0.51])
    title: float | None = Field(
        None, ge=0.0, le=1.0, description="How well the query matches the page's title", examples=[0.2]
    )
    heading: float | None = Field(
        None, ge=0.0, le=1.0, description="How well the query matches the nearest heading", examples=[0.3]
    )
    page: float | None = Field(
        None, ge=0.0, le=1.0, description="How well the page's best passages match", examples=[0.5]
    )
    numbers: float | None = Field(
        None,
        ge=0.0,
        le=1.0,
        description="How far words count instead of meaning; null for a query without numbers",
        examples=[None],
    )
    base: float | None = Field(
        None, ge=0.0, le=1.0, description="Only in a reranked list: the score before", examples=[0.6]
    )
    rerank: float | None = Field(
        None, ge=0.0, le=1.0, description="The relevance that the reranker gave", examples=[0.9]
    )


class RetrievedChunk(BaseModel):
    """A text segment returned by the semantic search."""

    content: Text = Field(min_length=1, description="The actual text content of the retrieved chunk")
    similarity_score: Score
    chunk_id: ChunkId
    metadata: MetadataPackage
    position: int = Field(
        ge=0, description="Sequential position of the chunk within the source document", examples=[1]
    )
    similarity: SimilarityScore
    scores: ComponentScores
    snippet: Text | None = Field(
        None, description="Only with `snippet_length`: the lines of the chunk that match best"
    )
    highlights: Highlights | None = None


class DamagedResult(BaseModel):
    """A stored point that is left out of the results, because its fields can't be read."""

    point_id: str = Field(examples=["9b2f6f0e-6d3c-5b0e-9f6e-1c2d3e4f5061"])
    chunk_id: ChunkId = Field(description="Empty if it can't be read")
    document_id: DocumentId = Field(description="Empty if it can't be read")
    problems: list[str] = Field(
        description="What is wrong with each damaged field, beginning with its name",
        examples=[["position is 'x', not a whole number from 0 to 2147483647"]],
    )


class SearchParams(BaseModel):
    """Parameters used for the search."""

    top_k: int = Field(examples=[5])
    similarity_threshold: float = Field(examples=[0.3])
    ranking: Ranking
    filters: dict[str, str] = Field(examples=[{}])
    rerank_share: float = Field(
        ge=0.0, le=1.0, description="The reranker's weight in the scores; 0 without reranking", examples=[0.0]
    )


class QueryResponse(BaseModel):
    """Structured result containing the retrieved chunks with their metadata and scores."""

    query_id: str = Field(
        description="Identifier for the original query", examples=["5d8f2c1a-7b3e-4f60-9a1d-c2e4b6d80f13"]
    )
    query_text: str = Field(examples=["What is physical AI?"])
    searched_for: str = Field(
        description="The query with unknown words completed or corrected", examples=["What is physical AI?"]
    )
    corrected: bool = Field(description="Whether `searched_for` has other words than the query")
    created_at: str = Field(
        description="When the query was received, ISO 8601 in UTC", examples=["2026-01-31T09:30:00Z"]
    )
    results: list[RetrievedChunk]
    total_results: int = Field(ge=0, examples=[1])
    query_time_ms: float = Field(ge=0, examples=[4.2])
    search_params: SearchParams
    status: Literal["success", "partial", "no_results"]
    warnings: list[str] = Field(
        default_factory=list, description="Advice on the query, and the notes", examples=[[]]
    )
    notes: list[str] = Field(
        default_factory=list, description="Which parts of the service did not answer", examples=[[]]
    )
    cached: bool = Field(description="Whether the results came from the cache")
    nearest: list[RetrievedChunk] = Field(
        default_factory=list, description="Without results: the best below the threshold", examples=[[]]
    )
    damaged: list[DamagedResult] = Field(
        default_factory=list,
        description="Stored points that were left out; status is then partial",
        examples=[[]],
    )
    explain: dict[str, Any] | None = Field(
        None,
        description="Only with `explain`: the time of each stage, and the results left out",
        examples=[{"stages_ms": {"embedded": 3.1, "searched": 0.9}, "left_out": []}],
    )


@router.post(
    "/search",
    response_model=QueryResponse,
    responses=openapi_errors(400, 413, 502),
    summary="Search the index",
)
async def search(request: Request, body: SearchQuery) -> Response:
    """Return the passages that answer the query best, with their sources and scores."""
    options = SearchOptions(
        top_k=body.top_k,
        threshold=body.similarity_threshold,
        ranking=body.ranking,
        filters=body.to_filters(),
        per_page=body.per_page,
        fallback=body.fallback,
        distinct=body.distinct,
        correct=body.correct,
        rerank=body.rerank,
    )
    answer = await answer_query(request, body.query_text, options)
    model = get_service(request).pertinent.workspace.embedder().model
    embedding_id = digest(model, body.query_text, length=16)
    snippets = await make_snippets(request, answer, body.snippet_length)

    def render_hit(hit: Hit) -> dict[str, Any]:
        fields = _render_hit(hit, answer.algorithm, embedding_id)
        return fields | snippets.get(hit.point_id, {})

    return JSONResponse(_render_answer(answer, body, render_hit))


def _render_answer(
    answer: Answer, body: SearchQuery, render_hit: Callable[[Hit], dict[str, Any]]
) -> dict[str, Any]:
    results = [render_hit(hit) for hit in answer.hits]
    below = [] if results else [candidate.hit for candidate in answer.excluded[:MAX_NEAREST]]
    response: dict[str, Any] = {
        "query_id": str(uuid.uuid4()),
        "query_text": answer.query,
        "searched_for": answer.searched_for,
        "corrected": answer.corrected,
        "created_at": answer.created_at,
        "results": results,
        "total_results": len(results),
        "query_time_ms": round(sum(answer.timings.values()), 3),
        "search_params": {
            "top_k": answer.top_k,
            "similarity_threshold": answer.threshold,
            "ranking": answer.ranking,
            "filters": body.filters.model_dump(exclude_none=True) if body.filters else {},
            "rerank_share": answer.rerank_share,
        },
        "status": _get_status(answer),
        "warnings": _list_warnings(answer),
        "notes": list(answer.notes),
        "cached": answer.cached,
        "nearest": [render_hit(hit) for hit in below],
        "damaged": [
            {
                "point_id": str(point.point_id),
                "chunk_id": point.chunk_id,
                "document_id": point.document_id,
                "problems": list(point.problems),
            }
            for point in answer.damaged
        ],
    }
    if body.explain:
        response["explain"] = {
            "stages_ms": {stage: round(ms, 3) for stage, ms in answer.timings.items()},
            "left_out": [
                {"reason": candidate.reason, **render_hit(candidate.hit)} for candidate in answer.excluded
            ],
        }
    return response


def _get_status(answer: Answer) -> str:
    if not answer.hits:
        return "no_results"
    # Neither a side that the collection never had nor a phrase that does not occur is a part that is down.
    return "partial" if set(answer.notes) - {NO_LEXICAL, NO_PHRASE} else "success"


def _list_warnings(answer: Answer) -> list[str]:
    advice = (
        []
        if len(answer.query) in ADVISED_LENGTHS
        else [f"query_text has {len(answer.query)} characters; 10 to 500 work best"]
    )
    return [*advice, *answer.notes]


def _render_hit(hit: Hit, algorithm: str, embedding_id: str) -> dict[str, Any]:
    chunk = hit.chunk
    start, end = chunk.span
    return {
        "content": chunk.text,
        "similarity_score": hit.score,
        "chunk_id": chunk.chunk_id,
        "metadata": {
            "url": chunk.url,
            "section": chunk.section,
            "chunk_id": chunk.chunk_id,
            "document_id": chunk.document_id,
            "document_title": chunk.title,
            "source_type": chunk.source_type,
            "anchor": chunk.anchor,
            "position": chunk.position if chunk.position >= 0 else None,
            "start": start,
            "end": end,
            "source_path": chunk.source_path,
            "slug": chunk.slug,
            "content_hash": chunk.content_hash,
            "created_at": chunk.created_at,
        },
        # Unknown (-1) in some external collections; the seed allows no null here.
        "position": max(chunk.position, 0),
        "similarity": {
            "score": hit.score,
            "algorithm": algorithm,
            "query_embedding_id": embedding_id,
            "result_embedding_id": str(hit.point_id),
        },
        "scores": hit.scores._asdict(),
    }
