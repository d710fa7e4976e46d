"""Errors of the API: one exception, its JSON and HTML responses, and their OpenAPI descriptions.

Every error response is `{"error", "message"}`. A mistake of the caller is explained in full. A failure of
the service gets a general message, and the log has the details under the request id.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Scope

from ..._internal.messages import explain_error
from ...errors import EmbedderError, InvalidInput, NotFound, PertinentError
from ...identity import shorten
from ...limits import LONGEST_MESSAGE
from .observability import Observer
from .templates import render_template

JSON_ONLY = ("/api/", "/static/", "/docs/assets/")
"""Paths that scripts request, including those of our own pages: errors there are always JSON."""

ERROR_KINDS: Mapping[int, tuple[str, str]] = {
    HTTPStatus.BAD_REQUEST: ("validation_error", "Invalid request parameters"),
    HTTPStatus.UNAUTHORIZED: ("unauthorized", "The API key is missing or wrong"),
    HTTPStatus.FORBIDDEN: ("forbidden", "This key, site or Host header is not allowed"),
    HTTPStatus.NOT_FOUND: ("not_found", "No such route, chunk or document"),
    HTTPStatus.METHOD_NOT_ALLOWED: ("method_not_allowed", "The route does not support this method"),
    HTTPStatus.REQUEST_TIMEOUT: ("request_timeout", "The head of the request did not arrive in time"),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ("payload_too_large", "The body is larger than 64 KB"),
    HTTPStatus.TOO_MANY_REQUESTS: ("rate_limited", "Too many requests; Retry-After says when to try again"),
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: (
        "headers_too_large",
        "The path and headers are larger than 32 KB",
    ),
    HTTPStatus.INTERNAL_SERVER_ERROR: ("internal_error", "Unexpected server error"),
    HTTPStatus.BAD_GATEWAY: ("upstream_error", "Embedding service failure"),
    HTTPStatus.SERVICE_UNAVAILABLE: ("service_unavailable", "Database/vector store unreachable"),
}
"""Each error status with the `error` identifier of its body and its description."""

HEADLINES = {
    HTTPStatus.UNAUTHORIZED: "An API key is needed",
    HTTPStatus.NOT_FOUND: "Page not found",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests",
    HTTPStatus.SERVICE_UNAVAILABLE: "The service is unavailable",
}
"""Titles of error pages in the browser."""


class ErrorResponse(BaseModel):
    """Standardized error response."""

    error: str = Field(description="Error type identifier", examples=["validation_error"])
    message: str = Field(description="Human-readable error message", examples=["query: must not be empty"])


class ApiError(HTTPException):
    """An error that is ready to be sent to the caller.

    Args:
        status: The HTTP status.
        error: The identifier in the body, such as `not_found`.
        message: What is wrong and what to do; cut to `LONGEST_MESSAGE` characters.
        headers: Further response headers, such as `retry-after`.

    """

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
        """The JSON body of the response."""
        return {"error": self.error, "message": self.message}


def add_error_handlers(app: FastAPI, observer: Observer) -> None:
    """Turn every exception that a route raises into an error response, and count it."""

    def respond(error: ApiError, request: Request) -> Response:
        observer.record_failure(error.error)
        return error_response(error, request.scope)

    async def handle_pertinent_error(request: Request, error: PertinentError) -> Response:
        return respond(report_pertinent_error(error, observer, request.state.request_id), request)

    async def handle_api_error(request: Request, error: ApiError) -> Response:
        return respond(error, request)

    async def handle_validation_error(request: Request, error: RequestValidationError) -> Response:
        message = "; ".join(describe_validation_error(details) for details in error.errors()[:3])
        return respond(ApiError(400, "validation_error", message), request)

    async def handle_framework_error(request: Request, error: HTTPException) -> Response:
        return respond(convert_framework_error(error, request.method), request)

    handlers: dict[type[Exception], Any] = {
        PertinentError: handle_pertinent_error,
        ApiError: handle_api_error,
        RequestValidationError: handle_validation_error,
        HTTPException: handle_framework_error,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def report_pertinent_error(error: PertinentError, observer: Observer, request_id: str) -> ApiError:
    """Convert an error of the library, and log it if it is a failure of the service."""
    api_error = convert_pertinent_error(error)
    if api_error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        kind, detail = type(error).__name__, str(error)
        observer.log.error(api_error.error, request_id=request_id, kind=kind, detail=detail)
    return api_error


def convert_pertinent_error(error: PertinentError) -> ApiError:
    """Convert an error of the library; messages of stores and models stay in the log."""
    if isinstance(error, InvalidInput):
        return ApiError(400, "validation_error", str(error))
    if isinstance(error, NotFound):
        return ApiError(404, "not_found", str(error))
    if isinstance(error, EmbedderError):
        return ApiError(502, "upstream_error", "the embedding model did not answer; try again later")
    return ApiError(503, "service_unavailable", "a store can't be reached; try again later")


def convert_framework_error(error: HTTPException, method: str) -> ApiError:
    """Convert an error that FastAPI or Starlette raised, such as an unknown route."""
    headers, status = error.headers or {}, error.status_code
    if status not in ERROR_KINDS:
        status = 400 if status < HTTPStatus.INTERNAL_SERVER_ERROR else 500
    kind, message = ERROR_KINDS[status]
    if status == HTTPStatus.BAD_REQUEST:
        # FastAPI gives no position here: the bytes are not UTF-8, or a number has thousands of digits.
        message = "body: can't be read as JSON in UTF-8"
    if status == HTTPStatus.NOT_FOUND:
        message = "there is nothing at this address; /docs lists every route"
    if status == HTTPStatus.METHOD_NOT_ALLOWED and "Allow" in headers:
        message = f"this route takes {headers['Allow']}, not {shorten(method, 20)}"
    return ApiError(status, kind, message, headers)


def describe_validation_error(details: Mapping[str, Any]) -> str:
    """Say which field is wrong, why, and what is allowed.

    Args:
        details: One entry of pydantic's or FastAPI's `errors()`.

    """
    cause = details.get("ctx", {}).get("error")
    if isinstance(cause, InvalidInput):
        return str(cause)
    # The first step names the part of the request: body, query or path.
    field = ".".join(shorten(str(step), 100) for step in details["loc"][1:])
    if details["type"] == "json_invalid":
        return f"body: is not JSON: {cause} at character {field}"
    if details["type"] == "model_attributes_type" and not field:
        return "body: must be a JSON object, sent with Content-Type: application/json"
    return f"{field or 'body'}: {explain_error(details)}"


def error_response(error: ApiError, scope: Scope) -> Response:
    """Send the error as JSON to programs, and as a page to browsers."""
    if not _wants_html(scope):
        return JSONResponse(error.body, status_code=error.status, headers=error.headers)
    page = render_template(
        "error.html.jinja",
        root=_path_to_root(scope),
        headline=HEADLINES.get(HTTPStatus(error.status), "The request failed"),
        message=error.message[:1].upper() + error.message[1:],
        status=error.status,
    )
    headers = {"cache-control": "no-store", "vary": "accept", **error.headers}
    return HTMLResponse(page, status_code=error.status, headers=headers)


def _wants_html(scope: Scope) -> bool:
    accepted = Headers(scope=scope).get("accept", "")
    is_browser = scope["method"] == "GET" and "text/html" in accepted and "application/json" not in accepted
    return is_browser and not scope["path"].startswith(JSON_ONLY)


def _path_to_root(scope: Scope) -> str:
    """The relative path from the requested address to the root of the service.

    Relative links keep working behind a proxy that serves us below a path of its own.
    """
    path: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    return "../" * (path.count(b"/") - 1)


def openapi_errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the errors of a route for OpenAPI, each with an example.

    Args:
        statuses: The statuses of this route beyond those of every route (401, 429, 500, 503).

    """
    kinds: dict[int | str, tuple[str, str]] = {
        status: ERROR_KINDS[status] for status in sorted((*statuses, 401, 429, 500, 503))
    }
    # Without a 4XX entry FastAPI would document its own 422, which is never sent.
    kinds["4XX"] = ERROR_KINDS[405]
    return {
        status: {
            "model": ErrorResponse,
            "description": description if status != "4XX" else "Any other invalid request",
            "content": {"application/json": {"example": {"error": error, "message": description}}},
        }
        for status, (error, description) in kinds.items()
    }
