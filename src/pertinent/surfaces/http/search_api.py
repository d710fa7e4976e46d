"""Seed 003: `POST /search` and `GET /health`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ...limits import RETRIEVAL_API as LIMITS
from ...types import Filters, Hit, Ranking, SearchOptions
from . import examples
from .errors import responses
from .schemas import Body, FilterFields, whole
from .service import JSON, answer_query, service

router = APIRouter(tags=["retrieval"])


class SearchRequest(Body):
    """Search request with query and optional parameters."""

    model_config = ConfigDict(json_schema_extra={"example": {"query": "What is physical AI?", "top_k": 5}})

    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LIMITS.query_max,
            description="Natural language search query",
            json_schema_extra={"pattern": r"\S"},
        ),
        BeforeValidator(LIMITS.check_query),
    ]
    top_k: Annotated[
        int,
        Field(ge=1, le=LIMITS.top_k_max, description="Number of results to return (1-20, default 5)"),
        whole(LIMITS.check_top_k),
    ] = 5
    ranking: Annotated[Ranking | None, Field(description="How results are ordered; hybrid unless set")] = None
    filters: Annotated[FilterFields | None, Field(description="Which chunks may be found")] = None


class SearchResult(BaseModel):
    """Single search result with metadata."""

    model_config = ConfigDict(json_schema_extra={"example": examples.RESULT})

    chunk_id: str = Field(description="Unique chunk identifier")
    snippet: str = Field(description="Text content of the chunk")
    source_path: str = Field(description="Source file path")
    slug: str = Field(description="URL-friendly identifier")
    title: str | None = Field(None, description="Document title")
    score: float = Field(ge=0, le=1, description="Relevance score (0-1)")
    url: str = Field(description="Address of the chunk: its page, with the anchor of its section")


class SearchResponse(BaseModel):
    """Search response with query echo and results."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"query": "What is physical AI?", "results": [examples.RESULT]},
        }
    )

    query: str = Field(description="Original search query")
    results: list[SearchResult] = Field(default_factory=list, description="Ranked search results")
    notes: list[str] = Field(
        default_factory=list,
        description="Only where something is to be said: which part was down, or why there are no results",
    )


class HealthResponse(BaseModel):
    """Health check response with dependency status."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"status": "ok", "qdrant": True, "postgres": True}}
    )

    status: Literal["ok", "degraded", "error"] = Field(description="Overall status (ok/degraded/error)")
    qdrant: bool = Field(description="Qdrant connectivity status")
    postgres: bool = Field(description="Postgres connectivity status")


@router.post(
    "/search", response_model=SearchResponse, responses=responses(400, 413, 502), summary="Search the index"
)
async def search(request: Request, body: SearchRequest) -> Response:
    """The passages that answer the query best, in order of their score."""
    options = SearchOptions(
        top_k=body.top_k,
        ranking=body.ranking,
        filters=body.filters.to_filters() if body.filters else Filters(),
    )
    answer = await answer_query(request, body.query, options)
    response = {"query": body.query, "results": [_result(hit) for hit in answer.hits]}
    return JSON(response | {"notes": answer.notes} if answer.notes else response)


def _result(hit: Hit) -> dict[str, Any]:
    chunk = hit.chunk
    return {
        "chunk_id": chunk.chunk_id,
        "snippet": chunk.text,
        "source_path": chunk.source_path,
        "slug": chunk.slug,
        "title": chunk.title or None,
        "score": hit.score,
        "url": chunk.citation,
    }


@router.get(
    "/health",
    response_model=HealthResponse,
    responses={**responses(), 503: {"model": HealthResponse, "description": "The index does not answer"}},
    summary="Are both stores there?",
)
async def health(request: Request) -> Response:
    """`ok`: both stores answer. `degraded`: the catalog does not. `error`: the index does not (503)."""
    found = await service(request).health.check()
    body = {"status": found.status, "qdrant": found.index, "postgres": found.catalog}
    return JSON(body, status_code=200 if found.index else 503)
