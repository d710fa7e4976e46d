"""Pages and sections by their name, while a reader types: `GET /api/v1/suggest`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from ...limits import SUGGESTIONS as LIMITS
from .errors import openapi_errors
from .schemas import Citation, DocumentId, Section, Title, check_integer_parameter
from .service import get_service

router = APIRouter(prefix="/api/v1", tags=["v1"])


class SuggestedName(BaseModel):
    """A page or section whose name fits what was typed."""

    title: Title = Field(description="Title of the page")
    section: Section = Field(description="Headings down to the section; empty for a page")
    url: Citation = Field(description="Address of the page, with the anchor of the section")
    document_id: DocumentId
    is_page: bool = Field(description="Whether it is a page; if not, it is a section of one")


class Suggestions(BaseModel):
    """The names that fit, best first."""

    suggestions: list[SuggestedName]


@router.get(
    "/suggest",
    response_model=Suggestions,
    responses=openapi_errors(400),
    summary="Complete the name of a page or section",
)
async def suggest(
    request: Request,
    q: Annotated[
        str,
        Query(
            max_length=LIMITS.query_max,
            description="What has been typed so far; nothing fits an empty text",
            examples=["physical a"],
        ),
    ],
    limit: Annotated[
        int,
        Query(ge=1, le=LIMITS.top_k_max, description="The maximum number of suggestions"),
        check_integer_parameter("limit", LIMITS.top_k_max),
    ] = 8,
) -> Response:
    """Return pages and sections whose name begins with the text, has its words, or has them with typos."""
    service = get_service(request)
    suggestions = await service.run_without_index(lambda: service.engine().suggest(q, limit))
    return JSONResponse({"suggestions": [asdict(suggestion) for suggestion in suggestions]})
