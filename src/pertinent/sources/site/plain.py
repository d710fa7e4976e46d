"""HTTP/1.1 without TLS: requests written as they are, answers taken apart by a parser in C.

It stands in for httpcore's own connection, whose parser in Python takes most of the time that a page
costs which has not changed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from http import HTTPStatus

import httpcore
import httptools

KEPT_OPEN = 30.0
"""Seconds that a connection is kept while nobody uses it."""

_READ_BYTES = 64 * 1024
_MOST_BETWEEN = 100 * 1024
"""How much may come that is no body: headers, trailers, and what stands around the pieces of a body."""
_TARGET = re.compile(rb"[!-~]+")
_VALUE = re.compile(rb"[^\0\r\n]*")


class PlainConnection:
    """Asks one origin, by the same line while the other side keeps it open; for one thread."""

    def __init__(self, origin: httpcore.Origin, network: httpcore.NetworkBackend) -> None:
        self._host, self._port = origin.host.decode("ascii"), origin.port
        self._network = network
        self._line: _Line | None = None
        self._lenient: httpcore.ConnectionPool | None = None
        """httpcore's own way, once the other side has answered as only its parser takes it."""

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        """The answer to a GET; its body is read as it is asked for, and closed before the next request."""
        if self._lenient is None:
            try:
                return self._asked(_written(request), request.extensions["timeout"])
            except _NotTaken:
                self._lenient = httpcore.ConnectionPool(
                    max_connections=1, keepalive_expiry=KEPT_OPEN, network_backend=self._network
                )
        return self._lenient.handle_request(request)

    def _asked(self, written: bytes, times: Mapping[str, float]) -> httpcore.Response:
        line = self._line
        if line is not None and line.is_idle():
            try:
                return line.ask(written, times)
            except _NotTaken:
                raise
            except (httpcore.NetworkError, httpcore.RemoteProtocolError):
                # Closed by the other side just now: nothing is wrong before a new line fails too.
                pass
        self._hang_up()
        stream = self._network.connect_tcp(self._host, self._port, times["connect"])
        self._line = _Line(stream)
        return self._line.ask(written, times)

    def close(self) -> None:
        self._hang_up()
        if self._lenient is not None:
            self._lenient.close()

    def _hang_up(self) -> None:
        if self._line is not None:
            self._line.hang_up()
            self._line = None


class _NotTaken(httpcore.RemoteProtocolError):
    """A head that the parser in C refuses and httpcore's may take, such as one with the same length twice."""


class _Line:
    """One connection, and the answer that is being read from it; iterated over, the answer's body."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream
        self._free = False
        self._since = 0.0
        self._parser = httptools.HttpResponseParser(self)
        # What it does not take of a head is left to httpcore; of a body it takes what httpcore does.
        self._parser.set_dangerous_leniencies(lenient_spaces_after_chunk_size=True)

    def ask(self, written: bytes, times: Mapping[str, float]) -> httpcore.Response:
        """The answer, as far as its head."""
        self._wait = times["read"]
        self._status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._pieces: list[bytes] = []
        self._between = 0
        self._whole = False
        self._free = False
        try:
            self._stream.write(written, times["write"])
            while not self._status:
                self._read()
            self._counted = self._is_counted()
        except BaseException:
            self.hang_up()
            raise
        return httpcore.Response(self._status, headers=self._headers, content=self)

    def is_idle(self) -> bool:
        """Whether another question may be asked; not so where something came that nobody asked for."""
        recent = self._free and time.monotonic() - self._since <= KEPT_OPEN
        return recent and not self._stream.get_extra_info("is_readable")

    def __iter__(self) -> Iterator[bytes]:
        while True:
            pieces, self._pieces = self._pieces, []
            yield from pieces
            if self._whole:
                return
            self._read()

    def close(self) -> None:
        """The answer is no longer wanted: if that is before its end, nor is the line."""
        self._since = time.monotonic()
        if not self._free:
            self.hang_up()

    def hang_up(self) -> None:
        self._free = False
        self._stream.close()

    def _is_counted(self) -> bool:
        """Whether the answer itself tells where its body ends."""
        forms = [value.lower() for name, value in self._headers if name.lower() == b"transfer-encoding"]
        if forms and forms != [b"chunked"]:
            raise httpcore.RemoteProtocolError("its Transfer-Encoding is not one that was asked for")
        return bool(forms) or any(name.lower() == b"content-length" for name, _ in self._headers)

    def _read(self) -> None:
        """Hand what comes next to the parser, which calls the methods below."""
        data = self._stream.read(_READ_BYTES, self._wait)
        if not data:
            if not self._status or self._counted:
                raise httpcore.RemoteProtocolError("the connection was closed before the end")
            self._whole = True
            return
        self._between += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            raise httpcore.RemoteProtocolError("it wants to speak another protocol") from None
        except httptools.HttpParserError as error:
            if isinstance(error.__context__, KeyboardInterrupt):
                raise error.__context__ from None
            if not self._whole:
                raise (httpcore.RemoteProtocolError if self._status else _NotTaken)(str(error)) from error
        if self._between > _MOST_BETWEEN:
            raise httpcore.RemoteProtocolError("its headers do not end")

    def on_message_begin(self) -> None:
        # After the end: something that nobody asked for.
        self._free = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._status:
            self._headers.append((name, value.rstrip(b" \t")))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= HTTPStatus.OK and not self._whole:
            self._status = status

    def on_body(self, body: bytes) -> None:
        self._between = 0
        if not self._whole:
            self._pieces.append(body)

    def on_message_complete(self) -> None:
        if self._whole:
            return
        if self._status:
            self._whole = True
            self._free = self._parser.should_keep_alive()
        else:
            # An answer that only announces another.
            self._headers.clear()


def _written(request: httpcore.Request) -> bytes:
    if not _TARGET.fullmatch(request.url.target):
        raise httpcore.LocalProtocolError("its address holds what can't be sent")
    written = b"GET %s HTTP/1.1\r\n" % request.url.target
    for name, value in request.headers:
        if not _VALUE.fullmatch(value):
            raise httpcore.LocalProtocolError(f"what {name.decode()} should say can't be sent")
        written += b"%s: %s\r\n" % (name, value)
    return written + b"\r\n"
