"""HTTP/1.1 without TLS: requests written as they are, answers taken apart by a parser in C.

It stands in for httpcore's own connection, whose parser in Python takes most of the time that a page
costs which has not changed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from http import HTTPStatus

import httpcore
import httptools

KEPT_OPEN = 30.0
"""Seconds that a connection is kept while nobody uses it."""

_HEAD_BYTES = 100 * 1024
_READ_BYTES = 64 * 1024
_TARGET = re.compile(rb"[!-~]+")
_VALUE = re.compile(rb"[^\0\r\n]*")


class PlainConnection:
    """Asks one origin, by the same connection while the other side keeps it open; for one thread."""

    def __init__(self, origin: httpcore.Origin, network: httpcore.NetworkBackend) -> None:
        self._host, self._port = origin.host.decode("ascii"), origin.port
        self._network = network
        self._stream: httpcore.NetworkStream | None = None
        self._last: _Answer | None = None

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        """The answer to a GET; its body is read as it is asked for, and closed before the next request."""
        written, wait = _written(request), request.extensions["timeout"]["read"]
        kept = self._kept()
        if kept is not None:
            try:
                return self._asked(kept, written, wait)
            except (httpcore.NetworkError, httpcore.RemoteProtocolError):
                # Closed by the other side while nobody looked: nothing is wrong before a new one fails too.
                if self._last and self._last.begun:
                    raise
        self._stream = self._network.connect_tcp(self._host, self._port, wait)
        return self._asked(self._stream, written, wait)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _kept(self) -> httpcore.NetworkStream | None:
        """The connection as it was left, if it can be used again."""
        last = self._last
        if last is None or not last.left_open or time.monotonic() - last.ended > KEPT_OPEN:
            self.close()
        return self._stream

    def _asked(self, stream: httpcore.NetworkStream, written: bytes, wait: float) -> httpcore.Response:
        answer = self._last = _Answer(stream, wait)
        try:
            stream.write(written, wait)
            answer.begin()
        except BaseException:
            self.close()
            raise
        return httpcore.Response(answer.status, headers=answer.headers, content=answer)


class _Answer:
    """One answer: its head, and when iterated over its body."""

    def __init__(self, stream: httpcore.NetworkStream, wait: float) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.status = 0
        self.begun = False
        """Whether there is anything of it."""
        self.left_open = False
        """Whether all of it was read, no more, and the connection may be used again."""
        self.ended = 0.0
        self._stream = stream
        self._wait = wait
        self._pieces: list[bytes] = []
        self._whole = False
        self._parser = httptools.HttpResponseParser(self)
        # What browsers put up with.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_chunked_length=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )

    def begin(self) -> None:
        """Read the head."""
        size = 0
        while not self.status:
            if size > _HEAD_BYTES:
                raise httpcore.RemoteProtocolError("its headers do not end")
            size += self._read()
        if any(b"\0" in value for _, value in self.headers):
            raise httpcore.RemoteProtocolError("its headers are not text")

    def __iter__(self) -> Iterator[bytes]:
        while True:
            pieces, self._pieces = self._pieces, []
            yield from pieces
            if self._whole:
                return
            self._read()

    def close(self) -> None:
        """What was not read is not wanted."""
        self.ended = time.monotonic()
        if not self.left_open:
            self._stream.close()

    def _read(self) -> int:
        """Hand to the parser, which calls the methods below, what comes next."""
        data = self._stream.read(_READ_BYTES, self._wait)
        if not data:
            if not self.status or self._counted():
                raise httpcore.RemoteProtocolError("the connection was closed before the end")
            self._whole = True
            return 0
        self.begun = True
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if not self._whole:
                raise httpcore.RemoteProtocolError(str(error)) from error
        return len(data)

    def _counted(self) -> bool:
        """Whether it tells by itself where its body ends."""
        headers = {name.lower(): value.lower() for name, value in self.headers}
        return b"content-length" in headers or b"chunked" in headers.get(b"transfer-encoding", b"")

    def on_message_begin(self) -> None:
        # After the end: something that nobody asked for.
        self.left_open = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.status:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= HTTPStatus.OK and not self._whole:
            self.status = status

    def on_body(self, body: bytes) -> None:
        if not self._whole:
            self._pieces.append(body)

    def on_message_complete(self) -> None:
        if self._whole:
            return
        if self.status:
            self._whole = True
            self.left_open = self._parser.should_keep_alive()
        else:
            # An answer that only announces another.
            self.headers.clear()


def _written(request: httpcore.Request) -> bytes:
    if not _TARGET.fullmatch(request.url.target):
        raise httpcore.LocalProtocolError("its address holds what can't be sent")
    written = b"GET %s HTTP/1.1\r\n" % request.url.target
    for name, value in request.headers:
        if not _VALUE.fullmatch(value):
            raise httpcore.LocalProtocolError(f"what {name.decode()} should say can't be sent")
        written += b"%s: %s\r\n" % (name, value)
    return written + b"\r\n"
