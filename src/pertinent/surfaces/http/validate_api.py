"""Seed 004: `POST /api/v1/validate`."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import ConfigDict, FailFast, Field

from ...limits import RETRIEVAL_IMPLEMENTATION as LIMITS
from ...types import Answer, SearchOptions
from ...validation.seed_tests import EXAMPLE, ValidationRun, ValidationTest, run_tests
from ...workspace.current_build import run_on_current_build
from .errors import openapi_errors
from .schemas import RequestBody, check_integer
from .service import get_service

router = APIRouter(prefix="/api/v1", tags=["v1"])


class ValidationRequest(RequestBody):
    """Tests of retrieval quality."""

    model_config = ConfigDict(
        strict=False, json_schema_extra={"examples": [{"tests": [EXAMPLE], "top_k": 5}]}
    )

    # The errors of the first wrong test are enough.
    tests: Annotated[list[ValidationTest], FailFast(), Field(min_length=1, max_length=1000)]
    top_k: Annotated[
        int,
        Field(ge=1, le=LIMITS.top_k_max, description="How many results each test looks at"),
        check_integer(LIMITS.check_top_k),
    ] = 5


@router.post(
    "/validate",
    response_model=ValidationRun,
    responses=openapi_errors(400, 413, 502),
    summary="Run retrieval tests",
)
async def validate(request: Request, body: ValidationRequest) -> Response:
    """Run each test: search its query, and check that the expected chunks are among the first results."""
    service = get_service(request)
    workspace = service.pertinent.workspace
    deadline = time.monotonic() + service.timeout

    def search(text: str) -> Answer:
        if time.monotonic() > deadline:
            raise TimeoutError  # the caller has got a 503 already, and others need the thread
        return service.engine().search(text, SearchOptions(top_k=body.top_k))

    def run_all() -> ValidationRun:
        return run_tests(body.tests, search, workspace.read_texts)

    run = await service.run_validation(lambda: run_on_current_build(workspace, run_all))
    return JSONResponse(run.model_dump(mode="json"))
