"""HTTP/1.1 on a connection: uvicorn's protocol, with bounds that hold before any request is routed."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import httptools
from starlette.responses import JSONResponse
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from .connection_limits import ConnectionLimits
from .errors import ApiError
from .observability import Observer
from .request_middleware import add_headers

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

HEAD_LIMIT = 32 * 1024
"""The largest head of a request, in bytes. The framing of a chunked body and its trailers count too."""

PARSED_BYTES = 1024
"""How much is parsed at a time. It may hold many small requests; what is behind them waits as bytes."""

HEAD_SECONDS = 10
"""How long a client may take to send the head of a request."""

WRITE_SECONDS = 10
"""In this time a client must read `MIN_READ_BYTES` of a response that waits for it."""

MIN_READ_BYTES = 40 * 1024
"""A client that reads less is disconnected, so that slow readers can't fill the memory with responses."""

LINGER_SECONDS = 2.0
"""How long a refused client may take to read its answer."""

LINGER_BYTES = 1024 * 1024
"""How much more a refused client may send meanwhile."""

BODY_BYTES = 1024 * 1024
"""A longer body ends the connection. Nothing else limits a body that no route reads."""

MAX_LINGERING = 64
"""How many clients beyond the bounds on connections may be answered at once; others are cut off."""

NO_ROUTE = "unparsed"
"""The route of refused heads in logs and metrics."""


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection. Refuses a head that is too large, too slow or malformed, like every other error.

    The parser keeps an unfinished header in memory however long it gets, so what is received is counted here.
    While no request runs, `_wait_timer` ends the connection: uvicorn's own timer for idle connections ends
    with the first byte of the next request.
    """

    observer: ClassVar[Observer]
    limits: ClassVar[ConnectionLimits]

    _head_size = 0  # bytes of the present request so far, without its body
    _body_size = 0  # bytes of the present request's body so far
    _reads_head = True
    _is_admitted = False
    _is_refused = False
    _unparsed = b""  # what the client has sent ahead, behind requests that wait for their turn
    _running: RequestResponseCycle | None = None  # the last request that the application got
    _wait_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit the connection, or refuse it."""
        super().connection_made(transport)
        refusal = self.limits.admit(self._address)
        self._is_admitted = refusal is None
        if refusal is None:
            self._limit_wait(HEAD_SECONDS)
        elif len(self.connections) - self.limits.open > MAX_LINGERING:
            self.transport.abort()
        else:
            self._answer_and_close(refusal)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another connection."""
        if self._is_admitted:
            self.limits.release(self._address)
        for timer in (self._wait_timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        self._disconnect_running()
        super().connection_lost(exc)

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else "unknown"

    def data_received(self, data: bytes) -> None:
        """Parse what the client sent; after a refusal, discard it."""
        if self._is_refused:
            self._head_size += len(data)
            if self._head_size > LINGER_BYTES:
                self.transport.abort()
            return
        self._unparsed += data
        self._parse_data()

    def _parse_data(self) -> None:
        """Parse what has arrived until a request must wait for the one before it.

        Uvicorn goes on reading after each response, however many requests wait.
        """
        data, self._unparsed = self._unparsed, b""
        for start in range(0, len(data), PARSED_BYTES):
            if self._is_refused:
                return
            if self.pipeline:
                self._unparsed = data[start:]
                self.flow.pause_reading()
                return
            self._feed_parser(data[start : start + PARSED_BYTES])

    def _feed_parser(self, data: bytes) -> None:
        self._head_size += len(data)
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if self._is_upgrade():
                self._ignore_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            self._refuse(_find_cause(error))
        if self._head_size > HEAD_LIMIT and not self._is_refused:
            self._refuse(_head_too_large())

    def _is_upgrade(self) -> bool:
        """Whether the head that was parsed asks for another protocol."""
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def _ignore_upgrade(self, unparsed: bytes) -> None:
        """Parse the head again, without `Upgrade`: no other protocol is spoken here.

        The parser takes what follows such a head for data of the other protocol. Java's HTTP client asks for
        HTTP/2 with its first request, and that may have a body.
        """
        line = b"%s %s HTTP/%s" % (
            self.parser.get_method(),
            self.url,
            self.parser.get_http_version().encode(),
        )
        fields = [b"%s: %s" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn's own
        self._head_size = 0
        self._feed_parser(b"\r\n".join([line, *fields, b"", unparsed]))

    def on_headers_complete(self) -> None:
        """Start the request, unless its head is too large."""
        # Heads that end within the data of one read are not counted otherwise.
        fields = sum(len(name) + len(value) + len(b": \r\n") for name, value in self.headers)
        if len(self.url) + fields > HEAD_LIMIT:
            raise _head_too_large()
        if self._is_upgrade():
            return  # `_ignore_upgrade` starts it
        self._reads_head = False
        if self._wait_timer is not None:
            self._wait_timer.cancel()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Receive a part of the body; a body that is too long ends the connection."""
        self._head_size = max(0, self._head_size - len(body))
        self._body_size += len(body)
        if self._body_size > BODY_BYTES:
            self._is_refused = True
            self.transport.abort()
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Note the end of a request."""
        if self._is_upgrade():
            return
        self._head_size = self._body_size = 0
        self._reads_head = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, if no other one waits already."""
        has_next = bool(self.pipeline)
        super().on_response_complete()
        if not has_next:
            self._limit_wait(self.timeout_keep_alive + HEAD_SECONDS)
        if self._unparsed and not self.transport.is_closing():
            self._parse_data()

    def pause_writing(self) -> None:
        """Limit the time that the client takes to read."""
        super().pause_writing()
        self._limit_write()

    def _limit_write(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._write_timer = self.loop.call_later(WRITE_SECONDS, self._check_write, waiting)

    def _check_write(self, waiting: int) -> None:
        """Disconnect a client that has read too little of the bytes that waited for it."""
        if waiting - self.transport.get_write_buffer_size() < MIN_READ_BYTES:
            self.transport.abort()
        else:
            self._limit_write()

    def resume_writing(self) -> None:
        """Note that the client reads."""
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()

    def _limit_wait(self, seconds: float, end: Callable[[], None] | None = None) -> None:
        """Call `end` (by default `_end_wait`) unless a request starts within this time."""
        if self._wait_timer is not None:
            self._wait_timer.cancel()
        self._wait_timer = self.loop.call_later(seconds, end or self._end_wait)

    def _end_wait(self) -> None:
        """End a connection on which no request runs."""
        if self._reads_head and self._head_size and not self.transport.is_closing():
            message = f"the head of the request did not arrive within {HEAD_SECONDS} s"
            self._refuse(ApiError(408, "request_timeout", message))
        else:
            # It may be closing already, with data that the client does not read.
            self.transport.abort()

    def _refuse(self, error: ApiError) -> None:
        """Log the error, answer with it, and close the connection."""
        request_id = uuid.uuid4().hex
        self.observer.log_refusal(error.error, error.status, route=NO_ROUTE, request_id=request_id)
        self._answer_and_close(error, request_id)

    def _answer_and_close(self, error: ApiError, request_id: str | None = None) -> None:
        """Send the error, and close the connection.

        The answer would be lost if the connection were closed while the client still sends: what arrives
        within `LINGER_SECONDS` is discarded.
        """
        self._is_refused = True
        self._head_size = 0
        self.observer.record_failure(error.error)
        self.observer.record_request(NO_ROUTE, "OTHER", error.status, 0.0)
        if self._is_answering():
            self.transport.close()
            return
        self._disconnect_running()  # it gets this answer and no other
        self.transport.write(self._render_error(error, request_id or uuid.uuid4().hex))
        self.transport.write_eof()
        self._limit_wait(LINGER_SECONDS, self.transport.abort)

    def _is_answering(self) -> bool:
        """Whether a response has begun, or an earlier request still runs."""
        running = self._running
        if running is None or running.response_complete:
            return False
        return running.response_started or running is not self.cycle

    def _disconnect_running(self) -> None:
        """Stop the running request from writing to the connection; uvicorn stops only the newest one."""
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _render_error(self, error: ApiError, request_id: str) -> bytes:
        response = JSONResponse(error.body, error.status, {**error.headers, "connection": "close"})
        headers = [*self.server_state.default_headers, *response.raw_headers]
        add_headers(headers, request_id)
        lines = [name + b": " + value + b"\r\n" for name, value in headers]
        return b"".join([STATUS_LINE[error.status], *lines, b"\r\n", bytes(response.body)])


def create_protocol(observer: Observer, limits: ConnectionLimits) -> type[asyncio.Protocol]:
    """Return the protocol class of a service, for `uvicorn.Config(http=…)`."""
    return type("ServiceProtocol", (BoundedHttpProtocol,), {"observer": observer, "limits": limits})


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
