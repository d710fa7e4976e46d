"""Failures as answers: one shape for all of them, and nothing in it that should stay inside.

Every failure is `{"error", "message"}`. What the caller did wrong is said in full; what went wrong in
here is said in general and logged in particular, under the request's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from ...errors import EmbedderError, InvalidInput, NotFound, PertinentError
from ...identity import shorten
from .wording import told

LONGEST_MESSAGE = 500
"""A message may quote what the caller sent, but not all of it."""


class ErrorResponse(BaseModel):
    """Standardized error response."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"error": "validation_error", "message": "query: must not be empty"}}
    )

    error: str = Field(description="Error type identifier")
    message: str = Field(description="Human-readable error message")


class Problem(HTTPException):
    """A failure that is ready to be answered; the framework passes its own kind on untouched."""

    def __init__(
        self, status: int, error: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, message)
        self.status = status
        self.error = error
        self.message = shorten(message, LONGEST_MESSAGE)
        self.headers: dict[str, str] = dict(headers or {})

    @property
    def body(self) -> dict[str, str]:
        return {"error": self.error, "message": self.message}


KINDS: Mapping[int, tuple[str, str]] = {
    HTTPStatus.BAD_REQUEST: ("validation_error", "Invalid request parameters"),
    HTTPStatus.UNAUTHORIZED: ("unauthorized", "A key is needed and was not given, or is wrong"),
    HTTPStatus.FORBIDDEN: ("forbidden", "The page of another site may not do this"),
    HTTPStatus.NOT_FOUND: ("not_found", "No such route, chunk or document"),
    HTTPStatus.METHOD_NOT_ALLOWED: ("method_not_allowed", "The route does not take this method"),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ("payload_too_large", "The body is larger than 64 KB"),
    HTTPStatus.TOO_MANY_REQUESTS: ("rate_limited", "Too many requests; Retry-After says when to come back"),
    HTTPStatus.INTERNAL_SERVER_ERROR: ("internal_error", "Unexpected server error"),
    HTTPStatus.BAD_GATEWAY: ("upstream_error", "Embedding service failure"),
    HTTPStatus.SERVICE_UNAVAILABLE: ("service_unavailable", "Database/vector store unreachable"),
}
"""Every status that may be answered with an error, its name and when it is used."""


def of_error(error: PertinentError) -> Problem:
    """The answer to an error of ours."""
    if isinstance(error, InvalidInput):
        return Problem(400, "validation_error", str(error))
    if isinstance(error, NotFound):
        return Problem(404, "not_found", str(error))
    if isinstance(error, EmbedderError):
        return Problem(502, "upstream_error", "the embedding model did not answer; try again later")
    return Problem(503, "service_unavailable", "a store can't be reached; try again later")


def of_status(status: int, method: str, headers: Mapping[str, str]) -> Problem:
    """The answer to a failure that the framework found."""
    known = status if status in KINDS else 400 if status < HTTPStatus.INTERNAL_SERVER_ERROR else 500
    error, message = KINDS[known]
    if known == HTTPStatus.BAD_REQUEST:
        # Not even a place can be told: bytes that are no text, say, or a number of 5000 digits.
        message = "body: can't be read as JSON in UTF-8"
    if known == HTTPStatus.NOT_FOUND:
        message = "there is nothing at this address; the manual at /docs names every route"
    if known == HTTPStatus.METHOD_NOT_ALLOWED and "Allow" in headers:
        message = f"this route takes {headers['Allow']}, not {shorten(method, 20)}"
    return Problem(known, error, message, headers)


def of_validation(errors: list[Any]) -> Problem:
    """The answer to a body or parameter that does not fit: which field, and what is wrong with it."""
    return Problem(400, "validation_error", "; ".join(told(one) for one in errors[:3]))


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI's word on the failures of a route, each with an example."""
    told: dict[int | str, tuple[str, str]] = {
        status: KINDS[status] for status in sorted((*statuses, 401, 429, 500, 503))
    }
    # Without this the framework would promise its own 422.
    told["4XX"] = KINDS[405]
    return {
        status: {
            "model": ErrorResponse,
            "description": meaning if status != "4XX" else "Any other request that can't be answered",
            "content": {"application/json": {"example": {"error": error, "message": meaning}}},
        }
        for status, (error, meaning) in told.items()
    }
