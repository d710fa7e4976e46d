"""HTTP clients that limit what they read."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpcore
import httpx
import pytest

from pertinent._internal.bounded_http import AsyncBoundedClient, BoundedClient, connect_directly
from pertinent._internal.time_limit import TimeLimitedBackend

from ..servers.faulty import faulty, reply
from ..sources.site import tls

Fetch = Callable[[str, int], httpx.Response]

ENDLESS_HEAD = b"HTTP/1.1 200 OK\r\nX-Endless: "


def test_response_of_a_proxy_must_arrive_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with faulty(lambda _: ENDLESS_HEAD, drip=b"x") as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        with BoundedClient(1000, timeout=0.2) as client, pytest.raises(httpx.ReadTimeout):
            client.get("http://service.example/")
    assert proxy.paths == ["http://service.example/"]


def get(url: str, max_bytes: int) -> httpx.Response:
    with BoundedClient(max_bytes) as client:
        return client.get(url)


def get_async(url: str, max_bytes: int) -> httpx.Response:
    async def fetch() -> httpx.Response:
        async with AsyncBoundedClient(max_bytes) as client:
            return await client.get(url)

    return asyncio.run(fetch())


@pytest.mark.parametrize("fetch", [get, get_async])
@pytest.mark.parametrize(
    ("body", "encoding", "problem"),
    [
        (gzip.compress(b"x" * 2001, mtime=0), "gzip", "larger than"),
        (b"x" * 2001, "identity", "larger than"),
        (gzip.compress(gzip.compress(b"x", mtime=0), mtime=0), "gzip, gzip", "encoded as gzip, gzip, which"),
        (b"x", "br", "encoded as br, which was not requested"),
        (b"x", "gzip", "ends in the middle"),
    ],
)
def test_large_and_encoded_bodies_are_refused(fetch: Fetch, body: bytes, encoding: str, problem: str) -> None:
    answer = reply("200 OK", body, f"Content-Encoding: {encoding}")
    with faulty(lambda _: answer) as server, pytest.raises(httpx.DecodingError, match=problem):
        fetch(server.url, 2000)


@pytest.mark.parametrize("fetch", [get, get_async])
def test_bodies_up_to_the_limit_are_decompressed(fetch: Fetch) -> None:
    answer = reply("200 OK", gzip.compress(b"x" * 2000), "Content-Encoding: gzip")
    with faulty(lambda _: answer) as server:
        assert fetch(server.url, 2000).content == b"x" * 2000


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_asked_without_a_proxy(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with faulty(lambda _: reply("200 OK", b"here")) as server:
        url = server.url.replace("127.0.0.1", host)
        with BoundedClient(1000, mounts=connect_directly(url)) as client:
            assert client.get(url).text == "here"
    assert connect_directly("http://[::1]:80") == {"all://[::1]": None}
    assert connect_directly("https://service.example") == {}


def test_certificate_file_of_the_environment_counts_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls.CERTIFICATE))
    with (
        tls.served({"/": "here"}) as (address, _),
        BoundedClient(1000, mounts=connect_directly(address)) as client,
    ):
        assert client.get(address).text == "here"


@contextmanager
def slow_reader() -> Iterator[int]:
    """A server that reads a little of a request now and then."""

    def read(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            while connection.recv(64 * 1024):
                time.sleep(0.02)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        threading.Thread(target=read, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]


def test_slow_reading_of_a_request_ends_at_the_deadline() -> None:
    backend = TimeLimitedBackend()
    with slow_reader() as port:
        stream = backend.connect_tcp("127.0.0.1", port, timeout=5)
        with backend.deadline(time.monotonic() + 0.3), pytest.raises(httpcore.TimeoutException):
            stream.write(b"x" * (64 * 2**20), timeout=5)
        stream.close()
