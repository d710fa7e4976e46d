"""Probes for operators: `/livez`, `/readyz` and `/metrics`."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from .service import get_service

router = APIRouter(include_in_schema=False)


@router.get("/livez")
async def check_liveness() -> Response:
    """Answer if the process runs; no store is asked."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz")
async def check_readiness(request: Request) -> Response:
    """Say which parts answer; 503 without the index."""
    health = await get_service(request).health.check()
    return JSONResponse(health.describe_parts(), status_code=health.http_status)


@router.get("/metrics")
async def read_metrics(request: Request) -> Response:
    """Return all metrics in the format of Prometheus."""
    service = get_service(request)
    await service.health.check()  # updates the number of chunks
    content_type = "text/plain; version=0.0.4; charset=utf-8"
    return PlainTextResponse(service.observer.render_metrics(), media_type=content_type)
