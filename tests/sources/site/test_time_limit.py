"""The total time limit of a request, against servers that never stop sending."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import httpcore
import pytest

from pertinent._internal.time_limit import TimeLimitedBackend
from pertinent.sources.site.fetch import Fetcher
from pertinent.sources.site.responses import FetchFailed
from pertinent.sources.site.scope import open_scope

from . import tls
from .conftest import FAST_LIMITS

EARLY_HINTS = b"HTTP/1.1 103 Early Hints\r\n\r\n"


@contextmanager
def listening(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """Run a server that gives every connection to `answer`; the port that it listens on."""

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    def serve(connection: socket.socket) -> None:
        with connection:
            try:
                answer(connection)
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]


def drip(connection: socket.socket, data: Callable[[], bytes]) -> None:
    while True:
        connection.sendall(data())
        time.sleep(0.02)


def drip_over_tls(plain: socket.socket) -> None:
    with tls.server_context().wrap_socket(plain, server_side=True) as connection:
        drip(connection, lambda: EARLY_HINTS)


def test_endless_responses_over_tls_time_out() -> None:
    limits = replace(FAST_LIMITS, page_seconds=0.5)
    with listening(drip_over_tls) as port:
        address = f"https://127.0.0.1:{port}"
        with (
            Fetcher(open_scope(address), limits, tls_context=tls.client_context()) as fetcher,
            pytest.raises(FetchFailed, match=r"takes longer than 0\.5 s"),
        ):
            fetcher.get(f"{address}/a")


def test_time_limit_ends_a_read_from_a_silent_server() -> None:
    backend = TimeLimitedBackend()
    with listening(lambda connection: time.sleep(5)) as port:
        stream = backend.connect_tcp("127.0.0.1", port, timeout=5)
        with backend.deadline(time.monotonic() + 0.1), pytest.raises(httpcore.ReadTimeout):
            stream.read(10, timeout=60)
        with backend.deadline(math.inf), pytest.raises(httpcore.ReadTimeout):
            stream.read(10, timeout=0.1)
        assert not backend.is_over
        stream.close()


def test_time_limit_ends_reads_soon_after_the_crawl_is_stopped() -> None:
    backend = TimeLimitedBackend()
    with listening(lambda connection: time.sleep(5)) as port:
        stream = backend.connect_tcp("127.0.0.1", port, timeout=5)
        threading.Timer(0.1, backend.stopped.set).start()
        with pytest.raises(httpcore.ReadTimeout):
            stream.read(10, timeout=60)
        with pytest.raises(httpcore.ReadTimeout):
            backend.connect_tcp("127.0.0.1", port, timeout=5)
        stream.close()


def test_time_limit_inside_another_ends_at_the_earlier_deadline() -> None:
    backend = TimeLimitedBackend()
    now = time.monotonic()
    with backend.deadline(now + 1000):
        with backend.deadline(now + 10):
            assert backend.remaining(None) <= 10
        assert 10 < backend.remaining(None) <= 1000
        with backend.deadline(now + 5000):
            assert backend.remaining(None) <= 1000
    assert backend.remaining(None) == math.inf
