"""Audits over HTTP: `pertinent validate --audit` for an index that the service has open."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from .audit_queue import AuditQueue
from .errors import openapi_errors
from .schemas import RequestBody
from .service import get_service

router = APIRouter(prefix="/api/v1/audits", tags=["audits"])

AUDIT_ID_MAX = 100


class AuditRequest(RequestBody):
    """An empty object: pages of other sites can't send JSON, and so can't start an audit."""


class Audit(BaseModel):
    """An audit of the stored data."""

    id: str = Field(examples=["0a1b2c3d4e5f60718293a4b5c6d7e8f9"])
    faults: list[str] | None = Field(
        description="A line for each fault; null while the audit waits or runs", examples=[[]]
    )


@router.post(
    "",
    response_model=Audit,
    responses=openapi_errors(400, 413),
    summary="Start an audit of the stored data",
)
async def start_audit(request: Request, _body: AuditRequest) -> Response:
    """Start the checks of `pertinent validate --audit`; they run one after another, in the background."""
    get_service(request).engine()  # raises a 503 if nothing is indexed
    return JSONResponse({"id": _get_queue(request).start(), "faults": None})


@router.get(
    "/{audit_id}",
    response_model=Audit,
    responses=openapi_errors(400, 404, 502),
    summary="Get the faults that an audit found",
)
async def get_audit(request: Request, audit_id: Annotated[str, Path(max_length=AUDIT_ID_MAX)]) -> Response:
    """Wait a few seconds for the end of the audit, and return its faults; null if it still runs."""
    return JSONResponse({"id": audit_id, "faults": await _get_queue(request).wait_for_faults(audit_id)})


def _get_queue(request: Request) -> AuditQueue:
    queue: AuditQueue = request.app.state.audit_queue
    return queue
