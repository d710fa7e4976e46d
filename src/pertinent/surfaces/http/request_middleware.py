"""What every request gets on its way in, and every answer on its way out: an id, headers and a count.

Plain ASGI, as the gate: both stand in the way of every request.
"""

from __future__ import annotations

import re
import time
import uuid

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...identity import shorten
from .errors import KINDS
from .observability import Observer

_REQUEST_ID = re.compile(r"[\w.:-]{1,128}", re.ASCII)

REFUSED = frozenset({400, 401, 403, 413, 429})
"""What is logged of the requests that get no answer: not who looks for what there isn't."""

LONGEST_PATH = 200

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"content-security-policy", PAGE_POLICY.encode()),
)


class Envelope:
    """The ASGI application around all others."""

    def __init__(self, app: ASGIApp, observer: Observer) -> None:
        self._app = app
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = _request_id(headers)
        scope.setdefault("state", {})["request_id"] = request_id
        if "range" in headers:
            # Nothing here is long enough to be asked for in parts, and a server may always send the whole.
            scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"range"]
        method = scope["method"]
        if method == "HEAD":
            # Whatever can be read can be asked about.
            scope = {**scope, "method": "GET"}
        start = time.perf_counter()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_headers(message["headers"], request_id)
            elif method == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            # Files have no route of their own, but a folder that they are served from.
            route = getattr(scope.get("route"), "path", None) or scope.get("root_path") or "unmatched"
            self._observer.answered(route, method, status, time.perf_counter() - start)
            if status in REFUSED:
                # Neither the message, which may quote the body, nor the headers, which hold the key.
                self._observer.refused(KINDS[status][0], status, route=_told(scope), request_id=request_id)
            if (answer := scope["state"].get("answer")) is not None:
                self._observer.searched(answer, route=scope["path"], request_id=request_id)


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def _told(scope: Scope) -> str:
    """The route as it is declared, or the path of a request that was refused before any route."""
    return str(getattr(scope.get("route"), "path", None) or shorten(scope["path"], LONGEST_PATH))


def _add_headers(headers: list[tuple[bytes, bytes]], request_id: str) -> None:
    """Add those that the route has not set itself."""
    there = {name for name, _ in headers}
    headers.extend(header for header in _HEADERS if header[0] not in there)
    headers.append((b"x-request-id", request_id.encode()))
