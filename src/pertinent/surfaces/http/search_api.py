"""Seed 003: `POST /search` and `GET /health`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ...limits import RETRIEVAL_API as LIMITS
from ...types import Hit, SearchOptions
from .errors import openapi_errors
from .schemas import (
    NOT_BLANK_PATTERN,
    ChunkId,
    Citation,
    Highlights,
    Score,
    SearchFields,
    SourcePath,
    Text,
    Title,
    check_integer,
)
from .service import answer_query, get_service, make_snippets

router = APIRouter(tags=["retrieval"])


class SearchRequest(SearchFields):
    """Search request with query and optional parameters."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "What is physical AI?", "top_k": 5}]})

    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LIMITS.query_max,
            description="Natural language search query",
            json_schema_extra={"pattern": NOT_BLANK_PATTERN},
        ),
        BeforeValidator(LIMITS.check_query),
    ]
    top_k: Annotated[
        int,
        Field(ge=1, le=LIMITS.top_k_max, description="Number of results to return (1-20, default 5)"),
        check_integer(LIMITS.check_top_k),
    ] = 5


class SearchHit(BaseModel):
    """Single search result with metadata."""

    model_config = ConfigDict(title="SearchResult")

    chunk_id: ChunkId = Field(description="Unique chunk identifier")
    snippet: Text = Field(
        description="Text content of the chunk; with `snippet_length`, only the lines that match best"
    )
    source_path: SourcePath
    slug: str = Field(description="URL-friendly identifier", examples=["intro"])
    title: Title | None = Field(None, description="Document title")
    score: Score = Field(description="Relevance score (0-1)")
    url: Citation
    highlights: Highlights | None = None


class SearchResponse(BaseModel):
    """Search response with query echo and results."""

    query: str = Field(description="Original search query", examples=["What is physical AI?"])
    results: list[SearchHit] = Field(default_factory=list, description="Ranked search results")
    searched_for: str | None = Field(
        None, description="Present only if words were corrected: what was searched for", examples=["nodes"]
    )
    corrected: bool | None = Field(None, description="Present only if words were corrected")
    notes: list[str] = Field(
        default_factory=list,
        description="Present only if a store was down, or to explain why there are no results",
        examples=[[]],
    )


class HealthResponse(BaseModel):
    """Health check response with dependency status."""

    status: Literal["ok", "degraded", "error"] = Field(description="Overall status (ok/degraded/error)")
    qdrant: bool = Field(description="Qdrant connectivity status")
    postgres: bool = Field(description="Postgres connectivity status")


@router.post(
    "/search",
    response_model=SearchResponse,
    responses=openapi_errors(400, 413, 502),
    summary="Search the index",
)
async def search(request: Request, body: SearchRequest) -> Response:
    """Return the passages that answer the query best, ordered by score."""
    options = SearchOptions(
        top_k=body.top_k,
        ranking=body.ranking,
        filters=body.to_filters(),
        correct=body.correct,
        rerank=body.rerank,
    )
    answer = await answer_query(request, body.query, options)
    snippets = await make_snippets(request, answer, body.snippet_length)
    results = [_render_hit(hit) | snippets.get(hit.point_id, {}) for hit in answer.hits]
    response: dict[str, Any] = {"query": body.query, "results": results}
    if answer.corrected:
        response |= {"searched_for": answer.searched_for, "corrected": True}
    return JSONResponse(response | {"notes": answer.notes} if answer.notes else response)


def _render_hit(hit: Hit) -> dict[str, Any]:
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
    responses={
        **openapi_errors(),
        503: {"model": HealthResponse, "description": "The index does not answer"},
    },
    summary="Check the stores",
)
async def health(request: Request) -> Response:
    """`ok`: both stores answer. `degraded`: the catalog does not. `error`: the index does not (503)."""
    stores = await get_service(request).health.check()
    body = {"status": stores.status, "qdrant": stores.index, "postgres": stores.catalog}
    return JSONResponse(body, status_code=stores.http_status)
