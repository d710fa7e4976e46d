"""CORS: which other sites' pages may use the API from a browser."""

from __future__ import annotations

from http import HTTPStatus

from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import Headers

from .errors import ApiError


class JsonCorsMiddleware(CORSMiddleware):
    """Starlette's CORS middleware, with refused preflights in the shape of all other errors.

    It runs before `AccessMiddleware`, because a preflight request carries no API key.
    """

    def preflight_response(self, request_headers: Headers) -> Response:
        """Answer a preflight request."""
        response = super().preflight_response(request_headers)
        if response.status_code == HTTPStatus.OK:
            return response
        error = ApiError(400, "validation_error", bytes(response.body).decode())
        cors_headers = {
            name: value for name, value in response.headers.items() if not name.startswith("content-")
        }
        return JSONResponse(error.body, status_code=error.status, headers=cors_headers)
