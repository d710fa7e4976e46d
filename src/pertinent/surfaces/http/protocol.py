"""HTTP/1.1 on a connection: uvicorn's protocol, with bounds that hold before any request is routed."""

from __future__ import annotations

import asyncio
import uuid
from typing import ClassVar

import httptools
from starlette.responses import JSONResponse
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from .errors import ApiError
from .observability import Observer
from .request_middleware import add_headers

HEAD_LIMIT = 32 * 1024
"""The largest head of a request, in bytes. The framing of a chunked body and its trailers count too."""

LINGER_SECONDS = 2.0
"""How long a refused client may take to read its answer."""

LINGER_BYTES = 1024 * 1024
"""How much more a refused client may send meanwhile."""

NO_ROUTE = "unparsed"
"""The route of refused heads in logs and metrics."""


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection. Refuses a head that is too large or malformed, in the form of every other error.

    The parser keeps an unfinished header in memory however long it gets, so what is received is counted here.
    """

    observer: ClassVar[Observer]

    _head_size = 0  # bytes of the present request so far, without its body
    _is_refused = False

    def data_received(self, data: bytes) -> None:
        """Parse what the client sent; after a refusal, discard it."""
        self._head_size += len(data)
        if self._is_refused:
            if self._head_size > LINGER_BYTES:
                self.transport.abort()
            return
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # no other protocol is spoken here; the request is answered as it is
        except httptools.HttpParserError as error:
            self._refuse(_find_cause(error))
        if self._head_size > HEAD_LIMIT and not self._is_refused:
            self._refuse(_head_too_large())

    def on_headers_complete(self) -> None:
        """Start the request, unless its head is too large."""
        # Heads that end within the data of one read are not counted otherwise.
        fields = sum(len(name) + len(value) + len(b": \r\n") for name, value in self.headers)
        if len(self.url) + fields > HEAD_LIMIT:
            raise _head_too_large()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Receive a part of the body."""
        self._head_size = max(0, self._head_size - len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note the end of a request."""
        self._head_size = 0
        super().on_message_complete()

    def _refuse(self, error: ApiError) -> None:
        """Answer with the error, and close the connection.

        The answer would be lost if the connection were closed while the client still sends: what arrives
        within `LINGER_SECONDS` is discarded.
        """
        self._is_refused = True
        self._head_size = 0
        request_id = uuid.uuid4().hex
        self.observer.record_failure(error.error)
        self.observer.record_request(NO_ROUTE, "OTHER", error.status, 0.0)
        self.observer.log_refusal(error.error, error.status, route=NO_ROUTE, request_id=request_id)
        if self._is_answering():
            self.transport.close()
            return
        if self.cycle is not None and not self.cycle.response_complete:
            # The request that was being received gets this answer and no other.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write(self._render_error(error, request_id))
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def _is_answering(self) -> bool:
        """Whether a response to an earlier request has begun or will begin."""
        if self.pipeline:
            return True
        return self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete

    def _render_error(self, error: ApiError, request_id: str) -> bytes:
        response = JSONResponse(error.body, error.status, {**error.headers, "connection": "close"})
        headers = [*self.server_state.default_headers, *response.raw_headers]
        add_headers(headers, request_id)
        lines = [name + b": " + value + b"\r\n" for name, value in headers]
        return b"".join([STATUS_LINE[error.status], *lines, b"\r\n", bytes(response.body)])


def create_protocol(observer: Observer) -> type[asyncio.Protocol]:
    """Return the protocol class of a service, for `uvicorn.Config(http=…)`."""
    return type("ServiceProtocol", (BoundedHttpProtocol,), {"observer": observer})


def _head_too_large() -> ApiError:
    message = f"the head of a request must be at most {HEAD_LIMIT} bytes; send less in its path and headers"
    return ApiError(431, "headers_too_large", message)


def _find_cause(error: httptools.HttpParserError) -> ApiError:
    """Return the error of a callback, or say what the parser found."""
    if isinstance(error.__context__, ApiError):
        return error.__context__
    is_own = isinstance(error, httptools.HttpParserCallbackError)
    reason = "" if is_own else f": {error}"
    return ApiError(400, "validation_error", f"this is not a valid HTTP/1.1 request{reason}")
