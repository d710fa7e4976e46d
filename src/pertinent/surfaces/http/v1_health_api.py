"""Seed 004: `GET /api/v1/health` and `GET /api/v1/index`."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from .errors import openapi_errors
from .service import get_service

router = APIRouter(prefix="/api/v1", tags=["v1"])


class ServiceHealth(BaseModel):
    """Which parts of the service answer."""

    status: Literal["ok", "degraded", "error"]
    index: bool
    catalog: bool
    reranker: bool | None = Field(
        None, description="Only with a reranker: whether it answered when it was last needed", examples=[True]
    )


class IndexDescription(BaseModel):
    """What the index was made with, and its size."""

    embedder: str = Field(examples=["local:all-MiniLM-L6-v2"])
    reranker: str | None = Field(
        description="The reranker with its depth and share; null if none is set", examples=[None]
    )
    chunks: int | None = Field(description="Null if the index does not answer", examples=[412])


@router.get(
    "/health",
    response_model=ServiceHealth,
    responses={
        **openapi_errors(),
        503: {"model": ServiceHealth, "description": "The index does not answer"},
    },
    summary="Check the parts of the service",
)
async def health(request: Request) -> Response:
    """Return the state of each part; 503 if the index does not answer."""
    stores = await get_service(request).health.check()
    return JSONResponse(stores.describe_parts(), status_code=stores.http_status)


@router.get(
    "/index",
    response_model=IndexDescription,
    responses=openapi_errors(),
    summary="Describe the index",
)
async def describe_index(request: Request) -> Response:
    """Return the models and the number of chunks; unlike health, this needs a key."""
    service = get_service(request)
    stores = await service.health.check()
    workspace = service.pertinent.workspace
    reranking = workspace.reranking
    return JSONResponse(
        {
            "embedder": workspace.embedder().name,
            "reranker": str(reranking) if reranking else None,
            "chunks": stores.chunks,
        }
    )
