"""The outermost middleware: request id, security headers, HEAD requests, metrics and logs."""

from __future__ import annotations

import re
import time
import uuid

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...identity import shorten
from .errors import ERROR_KINDS
from .observability import Observer

_REQUEST_ID = re.compile(r"[\w.:-]{1,128}", re.ASCII)

LOGGED_REFUSALS = frozenset({400, 401, 403, 413, 429})
"""Refusals with a log line of their own. 404 and 405 have none: scanners would flood the log."""

LONGEST_PATH = 200
"""Longer paths are cut in the log."""

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"content-security-policy", PAGE_POLICY.encode()),
    # A cache in front of the service must not give the answer for a caller with a key to others.
    (b"cache-control", b"no-store"),
)


class RequestMiddleware:
    """ASGI middleware around everything else.

    Args:
        app: The next ASGI application.
        observer: Records each request.

    """

    def __init__(self, app: ASGIApp, observer: Observer) -> None:
        self._app = app
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = _read_request_id(headers)
        scope.setdefault("state", {})["request_id"] = request_id
        if "range" in headers:
            # No response is long enough for ranges, and a server may always ignore the header.
            scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"range"]
        method = scope["method"]
        if method == "HEAD":
            # Every GET route answers HEAD: it runs as GET, and the body is dropped.
            scope = {**scope, "method": "GET"}
        start = time.perf_counter()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                add_headers(message["headers"], request_id)
            elif method == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        finally:
            self._record(scope, method, status, time.perf_counter() - start)

    def _record(self, scope: Scope, method: str, status: int, seconds: float) -> None:
        """Count the request; log a refusal or a search."""
        request_id = scope["state"]["request_id"]
        route = getattr(scope.get("route"), "path_format", None)
        # A static file has no route of its own; its mount point stands in `root_path`.
        self._observer.record_request(route or scope.get("root_path") or "unmatched", method, status, seconds)
        if status in LOGGED_REFUSALS:
            # Not the message, which may quote the body, and not the headers, which hold the key.
            path = str(route or shorten(scope["path"], LONGEST_PATH))
            self._observer.log_refusal(ERROR_KINDS[status][0], status, route=path, request_id=request_id)
        for answer in scope["state"].get("answers", ()):
            self._observer.record_search(answer, route=scope["path"], request_id=request_id)


def _read_request_id(headers: Headers) -> str:
    """Take the caller's `X-Request-ID` if it is well-formed, or make one."""
    request_id = headers.get("x-request-id", "")
    return request_id if _REQUEST_ID.fullmatch(request_id) else uuid.uuid4().hex


def add_headers(headers: list[tuple[bytes, bytes]], request_id: str) -> None:
    """Add the request id, and the security headers that the route has not set itself."""
    existing = {name for name, _ in headers}
    headers.extend(header for header in _SECURITY_HEADERS if header[0] not in existing)
    headers.append((b"x-request-id", request_id.encode()))
