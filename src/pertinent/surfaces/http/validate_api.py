"""Seed 004: `POST /api/v1/validate`."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import ConfigDict, Field

from ...limits import RETRIEVAL_IMPLEMENTATION as LIMITS
from ...types import Answer, SearchOptions
from ...validation.seed_tests import EXAMPLE, ValidationRun, ValidationTest, run_tests
from .answering import JSON, in_thread, service
from .fields import Body, whole
from .problems import responses

router = APIRouter(prefix="/api/v1", tags=["v1"])


class ValidationRequest(Body):
    """Tests of retrieval quality."""

    model_config = ConfigDict(strict=False, json_schema_extra={"example": {"tests": [EXAMPLE], "top_k": 5}})

    tests: Annotated[list[ValidationTest], Field(min_length=1, max_length=1000)]
    top_k: Annotated[
        int,
        Field(ge=1, le=LIMITS.top_k_max, description="How many results each test looks at"),
        whole(LIMITS.check_top_k),
    ] = 5


@router.post(
    "/validate",
    response_model=ValidationRun,
    responses=responses(400, 413, 502),
    summary="Test what is found",
)
async def validate(request: Request, body: ValidationRequest) -> Response:
    """Run the tests: each query, and whether the expected chunks are among its first results."""
    shared = service(request)

    end = time.monotonic() + shared.timeout

    def search(text: str) -> Answer:
        if time.monotonic() > end:
            raise TimeoutError  # nobody waits for it any more, and others need the thread
        return shared.engine().search(text, SearchOptions(top_k=body.top_k))

    read_texts = shared.pertinent.workspace.read_texts
    run = await in_thread(request, lambda: run_tests(body.tests, search, read_texts))
    return JSON(run.model_dump(mode="json"))
