"""A connection whose reads and writes end with the time of the thread that waits for them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
import pytest

from pertinent.sources.site.time_limit import Deadlines, _Stream


@contextmanager
def connected(deadlines: Deadlines) -> Iterator[tuple[httpcore.NetworkStream, socket.socket]]:
    """Our end of a connection, and the other's."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        stream = deadlines.connect_tcp("127.0.0.1", listening.getsockname()[1], timeout=5)
        other, _ = listening.accept()
    try:
        with other:
            yield stream, other
    finally:
        stream.close()


def test_a_long_message_arrives_whole_though_the_other_side_reads_slowly() -> None:
    message = bytes(range(256)) * 40_000
    received = bytearray()

    def read(other: socket.socket) -> None:
        while data := other.recv(100_000):
            received.extend(data)

    deadlines = Deadlines()
    with connected(deadlines) as (stream, other), deadlines.within(30):
        reader = threading.Thread(target=read, args=(other,))
        reader.start()
        stream.write(message, timeout=10)
        stream.write(b"", timeout=10)
        stream.close()
        reader.join()
    assert received == message


def test_writing_to_one_who_does_not_read_ends_with_the_time() -> None:
    deadlines = Deadlines()
    with (
        connected(deadlines) as (stream, _),
        deadlines.within(0.3),
        pytest.raises(httpcore.WriteTimeout),
    ):
        stream.write(bytes(100_000_000), timeout=10)


def test_reading_from_one_who_says_nothing_ends_with_the_time_or_when_it_was_quiet_for_too_long() -> None:
    deadlines = Deadlines()
    with connected(deadlines) as (stream, other):
        for seconds, quiet in ((0.2, 10.0), (10.0, 0.2)):
            with deadlines.within(seconds), pytest.raises(httpcore.ReadTimeout):
                stream.read(10, timeout=quiet)
        # What was too late then is still there.
        other.sendall(b"late")
        with deadlines.within(5):
            assert stream.read(10, timeout=5) == b"late"


def test_a_connection_that_breaks_is_told_as_the_engine_has_it() -> None:
    deadlines = Deadlines()
    with connected(deadlines) as (stream, other), deadlines.within(5):
        other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        other.close()  # with a reset
        with pytest.raises(httpcore.ReadError):
            stream.read(10, timeout=5)
        with pytest.raises(httpcore.WriteError):
            stream.write(b"anybody there?", timeout=5)


class Secret(httpcore.NetworkStream):
    """TLS: what its socket carries can't be read as it is."""

    def __init__(self) -> None:
        self.written = b""
        self.silent = 2

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        assert timeout is not None
        self.silent -= 1
        if self.silent >= 0:
            raise httpcore.ReadTimeout
        return b"plain"[:max_bytes]

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        assert timeout is not None
        self.written += buffer

    def get_extra_info(self, info: str) -> Any:
        return {"socket": socket, "ssl_object": self}.get(info)


def test_tls_is_read_and_written_as_that() -> None:
    inner = Secret()
    deadlines = Deadlines()
    stream = _Stream(inner, deadlines)
    with deadlines.within(5):
        stream.write(b"GET", timeout=5)
        assert stream.read(10, timeout=5) == b"plain"
    assert inner.written == b"GET"


def test_a_time_within_another_ends_with_the_earlier_and_leaves_the_other_as_it_was() -> None:
    deadlines = Deadlines()
    with deadlines.within(1000):
        with deadlines.within(10):
            assert deadlines.left(None) <= 10
        assert 900 < deadlines.left(None) <= 1000
        with deadlines.within(5000):
            assert deadlines.left(None) <= 1000
