"""Seed 004: `POST /api/v1/search` and `GET /api/v1/health`."""

from __future__ import annotations

import uuid
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ...identity import digest
from ...limits import RETRIEVAL_IMPLEMENTATION as LIMITS
from ...limits import check_count
from ...search.engine import NO_LEXICAL
from ...types import Answer, Filters, Hit, Ranking, SearchOptions
from . import examples
from .answering import JSON, answer_query, service
from .fields import Body, FilterFields, whole
from .problems import responses

router = APIRouter(prefix="/api/v1", tags=["v1"])

ADVISED = range(10, 501)
"""The lengths of a query that seed 004 calls reasonable."""

NEAREST = 3
"""How many results below the threshold are told of where none passes it."""


def _check_per_page(value: object) -> int:
    return check_count("per_page", value, LIMITS.top_k_max)


class SearchQuery(Body):
    """The input text that is used to find semantically similar content."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "query_text": "How do ROS 2 nodes communicate?",
                "top_k": 5,
                "similarity_threshold": 0.3,
            }
        }
    )

    query_text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LIMITS.query_max,
            description="The input text for the semantic search; 10 to 500 characters are best",
            json_schema_extra={"pattern": r"\S"},
        ),
        BeforeValidator(LIMITS.check_query),
    ]
    top_k: Annotated[
        int,
        Field(ge=1, le=LIMITS.top_k_max, description="Number of results to retrieve"),
        whole(LIMITS.check_top_k),
    ] = 5
    similarity_threshold: Annotated[
        float,
        Field(ge=0.0, le=1.0, allow_inf_nan=False, description="Minimum similarity score for inclusion"),
        BeforeValidator(LIMITS.check_threshold),
    ] = 0.5
    ranking: Annotated[Ranking | None, Field(description="How results are ordered; hybrid unless set")] = None
    filters: Annotated[FilterFields | None, Field(description="Which chunks may be found")] = None
    per_page: Annotated[
        Annotated[int, Field(ge=1, le=LIMITS.top_k_max), whole(_check_per_page)] | None,
        Field(description="At most so many results of one page"),
    ] = None
    explain: Annotated[bool, Field(description="Add the stages' times and what was left out")] = False
    distinct: Annotated[bool, Field(description="Whether a text that several pages share is listed once")] = (
        True
    )
    fallback: Annotated[
        Literal["lexical"] | None, Field(description="How to rank while the embedding model does not answer")
    ] = None


class MetadataPackage(BaseModel):
    """Information about the source of a retrieved chunk."""

    model_config = ConfigDict(json_schema_extra={"example": examples.METADATA})

    url: str = Field(min_length=1, description="Source URL of the original document")
    section: str = Field(description="Section or heading in the original document")
    chunk_id: str = Field(description="Identifier for the specific chunk")
    document_id: str = Field(description="Identifier for the source document")
    document_title: str = Field(description="Title of the source document")
    source_type: str = Field(description='Type of source document (e.g., "docusaurus-page")')
    anchor: str = Field(description="Anchor of the section on its page")
    start: int | None = Field(
        ge=0, description="First character of the chunk in the page's text; null where that is not known"
    )
    end: int | None = Field(ge=0, description="The character after its last one; null where it is not known")
    source_path: str = Field(description="Source file path")
    content_hash: str = Field(description="SHA-256 of the chunk's text")
    created_at: str | None = Field(
        description="When the chunk was indexed, ISO 8601; null where that is not known"
    )


class SimilarityScore(BaseModel):
    """How near a chunk is to the query, and by which measure."""

    model_config = ConfigDict(json_schema_extra={"example": examples.SIMILARITY})

    score: float = Field(ge=0.0, le=1.0, description="The similarity score value")
    algorithm: Literal["hybrid-similarity", "cosine-similarity", "lexical-similarity"]
    query_embedding_id: str = Field(description="Identifier for the query embedding used")
    result_embedding_id: str = Field(description="Identifier for the result embedding compared")


class ComponentScores(BaseModel):
    """The parts of the score."""

    model_config = ConfigDict(json_schema_extra={"example": examples.SCORES})

    cosine: float | None = Field(ge=0.0, le=1.0)
    lexical: float | None = Field(ge=0.0, le=1.0)


class RetrievedChunk(BaseModel):
    """A text segment returned by the semantic search."""

    model_config = ConfigDict(json_schema_extra={"example": examples.RETRIEVED})

    content: str = Field(min_length=1, description="The actual text content of the retrieved chunk")
    similarity_score: float = Field(ge=0.0, le=1.0)
    chunk_id: str
    metadata: MetadataPackage
    position: int = Field(ge=0, description="Sequential position of the chunk within the source document")
    similarity: SimilarityScore
    scores: ComponentScores


class DamagedResult(BaseModel):
    """A stored point that belongs in the results and was left out, since its fields can't be read."""

    model_config = ConfigDict(json_schema_extra={"example": examples.DAMAGED})

    point_id: str
    chunk_id: str = Field(description="Empty where it can't be read")
    problems: list[str] = Field(description="What is wrong with each damaged field, beginning with its name")


class SearchParams(BaseModel):
    """Parameters used for the search."""

    model_config = ConfigDict(json_schema_extra={"example": examples.PARAMS})

    top_k: int
    similarity_threshold: float
    ranking: Ranking
    filters: dict[str, str]


class QueryResponse(BaseModel):
    """Structured result containing the retrieved chunks with their metadata and scores."""

    model_config = ConfigDict(json_schema_extra={"example": examples.QUERY_RESPONSE})

    query_id: str = Field(description="Identifier for the original query")
    query_text: str
    created_at: str = Field(description="When the query was received, ISO 8601 in UTC")
    results: list[RetrievedChunk]
    total_results: int = Field(ge=0)
    query_time_ms: float = Field(ge=0)
    search_params: SearchParams
    status: Literal["success", "partial", "no_results"]
    warnings: list[str] = Field(default_factory=list)
    nearest: list[RetrievedChunk] = Field(
        default_factory=list, description="Where there are no results, the best below the threshold"
    )
    damaged: list[DamagedResult] = Field(
        default_factory=list, description="Stored points that were left out: status is then partial"
    )
    explain: dict[str, Any] | None = None


class ServiceHealth(BaseModel):
    """Which parts of the service answer."""

    model_config = ConfigDict(json_schema_extra={"example": examples.SERVICE_HEALTH})

    status: Literal["ok", "degraded", "error"]
    index: bool
    catalog: bool
    embedder: str
    chunks: int | None = None


@router.post(
    "/search", response_model=QueryResponse, responses=responses(400, 413, 502), summary="Search the index"
)
async def search(request: Request, body: SearchQuery) -> Response:
    """The passages that answer the query best, with their source, their scores and how they came about."""
    options = SearchOptions(
        top_k=body.top_k,
        threshold=body.similarity_threshold,
        ranking=body.ranking,
        filters=body.filters.to_filters() if body.filters else Filters(),
        per_page=body.per_page,
        fallback=body.fallback,
        distinct=body.distinct,
    )
    answer = await answer_query(request, body.query_text, options)
    return JSON(_response(answer, body, digest(service(request).model, body.query_text, length=16)))


def _response(answer: Answer, body: SearchQuery, embedding_id: str) -> dict[str, Any]:
    results = [_chunk(hit, answer.algorithm, embedding_id) for hit in answer.hits]
    below = [] if results else [candidate.hit for candidate in answer.excluded[:NEAREST]]
    response: dict[str, Any] = {
        "query_id": str(uuid.uuid4()),
        "query_text": answer.query,
        "created_at": answer.created_at,
        "results": results,
        "total_results": len(results),
        "query_time_ms": round(sum(answer.timings.values()), 3),
        "search_params": {
            "top_k": answer.top_k,
            "similarity_threshold": answer.threshold,
            "ranking": answer.ranking,
            "filters": body.filters.model_dump(exclude_none=True) if body.filters else {},
        },
        "status": _status(answer),
        "warnings": _warnings(answer),
        "nearest": [_chunk(hit, answer.algorithm, embedding_id) for hit in below],
        "damaged": [
            {"point_id": str(point.point_id), "chunk_id": point.chunk_id, "problems": list(point.problems)}
            for point in answer.damaged
        ],
    }
    if body.explain:
        response["explain"] = {
            "stages_ms": {stage: round(ms, 3) for stage, ms in answer.timings.items()},
            "left_out": [
                {"reason": candidate.reason, **_chunk(candidate.hit, answer.algorithm, embedding_id)}
                for candidate in answer.excluded
            ],
        }
    return response


def _status(answer: Answer) -> str:
    if not answer.hits:
        return "no_results"
    # A side that the collection never had is not down.
    return "partial" if set(answer.notes) - {NO_LEXICAL} else "success"


def _warnings(answer: Answer) -> list[str]:
    advice = (
        []
        if len(answer.query) in ADVISED
        else [f"query_text has {len(answer.query)} characters; 10 to 500 find best"]
    )
    return [*advice, *answer.notes]


def _chunk(hit: Hit, algorithm: str, embedding_id: str) -> dict[str, Any]:
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
            "start": start,
            "end": end,
            "source_path": chunk.source_path,
            "content_hash": chunk.content_hash,
            "created_at": chunk.created_at,
        },
        # Where a chunk stands may not be known of another pipeline's collection; the seed has no null here.
        "position": max(chunk.position, 0),
        "similarity": {
            "score": hit.score,
            "algorithm": algorithm,
            "query_embedding_id": embedding_id,
            "result_embedding_id": str(hit.point_id),
        },
        "scores": {"cosine": hit.scores.cosine, "lexical": hit.scores.lexical},
    }


@router.get(
    "/health",
    response_model=ServiceHealth,
    response_model_exclude_none=True,
    responses={**responses(), 503: {"model": ServiceHealth, "description": "The index does not answer"}},
    summary="Which parts answer?",
)
async def health(request: Request) -> Response:
    """The state of each part; 503 where the index does not answer."""
    found = await service(request).health.check()
    body = {
        "status": found.status,
        "index": found.index,
        "catalog": found.catalog,
        "embedder": service(request).embedder_name,
        "chunks": found.chunks,
    }
    return JSON(body, status_code=200 if found.index else 503)
