"""Connections of a real service: how long they may wait, and how many there may be."""

from __future__ import annotations

import asyncio
import http.client
import json
import resource
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import structlog
import uvicorn

from pertinent.surfaces.http import protocol
from pertinent.surfaces.http.connection_limits import ConnectionLimits
from pertinent.surfaces.http.observability import Observer
from pertinent.surfaces.http.protocol import create_protocol
from pertinent.surfaces.http.trusted_proxies import TrustedProxies
from pertinent.surfaces.library import Pertinent

from .test_request_head import read_error
from .test_server import InstalledServer, Server, write_pages

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]

HEAD_SECONDS = 10
HALF = b"GET /livez HTTP/1.1\r\nHost: loc"
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"

Start = Callable[..., Server]
Connect = Callable[..., socket.socket]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("bounded")
    with Pertinent.open(root / "data", embedder="testing:hashed-words") as pertinent:
        pertinent.index(write_pages(root / "docs"))
    return root / "data"


@pytest.fixture
def start(data: Path) -> Iterator[Start]:
    """Start a service with these settings."""
    servers: list[Server] = []

    def start_server(kind: type[Server] = Server, **settings: Any) -> Server:
        environment = {f"PERTINENT_{name.upper()}": str(value) for name, value in settings.items()}
        arguments = ("--folder", str(data), "--embedder", "testing:hashed-words")
        servers.append(kind(*arguments, **environment))
        return servers[-1]

    yield start_server
    assert [server.end() for server in servers] == [0] * len(servers)


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connect to a service from an address of this machine, and send it some data."""
    with ExitStack() as connections:

        def open_connection(server: Server, data: bytes = b"", address: str = "127.0.0.1") -> socket.socket:
            target = ("127.0.0.1", server.port)
            connection = socket.create_connection(target, 30, source_address=(address, 0))
            connections.enter_context(connection)
            connection.sendall(data)
            return connection

        yield open_connection


def read_status(connection: socket.socket) -> int:
    response = http.client.HTTPResponse(connection)
    response.begin()
    response.read()
    return response.status


def list_events(server: Server, event: str) -> list[dict[str, Any]]:
    entries = [json.loads(line) for line in list(server.output) if line.startswith("{")]
    return [entry for entry in entries if entry["event"] == event]


def count_descriptors(server: Server) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


def test_unfinished_heads_are_ended_after_10_seconds(start: Start, connect: Connect) -> None:
    """Neither bytes that trickle in nor an earlier request on the connection prolong the time."""
    server = start()
    silent = connect(server)
    half = connect(server, HALF)
    trickling = connect(server, HALF)
    early = connect(server, b"POST /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
    reused = connect(server, LIVEZ)
    assert (read_status(early), read_status(reused)) == (404, 200)
    early.sendall(b"x")
    reused.sendall(HALF)
    trickling.settimeout(0.5)
    trickle = b""
    for _ in range(4 * HEAD_SECONDS):
        try:
            trickle = trickling.recv(15, socket.MSG_PEEK)
            break
        except TimeoutError:
            trickling.sendall(b"x")
    assert trickle == b"HTTP/1.1 408 Re"
    for connection in (half, trickling, reused):
        connection.settimeout(30)
        assert read_error(connection) == (
            408,
            "request_timeout",
            "the head of the request did not arrive within 10 s",
        )
    assert silent.recv(1) == b""
    assert early.recv(1) == b""


class Gate:
    """An application that answers each request with its path, once it is open."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.opened.wait()
        body = scope["path"].encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def listen(app: Any) -> AsyncIterator[tuple[tuple[str, int], set[Any]]]:
    """Serve an application with the protocol of the service: its address, and its open connections."""
    observer = Observer(structlog.get_logger())
    limits = ConnectionLimits(observer, 10, 10, None, TrustedProxies(()))
    config = uvicorn.Config(app, http=create_protocol(observer, limits), lifespan="off", log_config=None)
    config.load()
    state = uvicorn.Server(config).server_state
    with socket.socket() as listener:
        # Accepted connections inherit it: what the client does not read waits in the service.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        listener.bind(("127.0.0.1", 0))
        server = await asyncio.get_running_loop().create_server(
            lambda: config.http_protocol_class(config=config, server_state=state, app_state={}),  # type: ignore[call-arg]
            sock=listener,
        )
        yield listener.getsockname(), state.connections
        server.close()


def test_pipelined_requests_wait_unparsed_and_are_answered_in_order() -> None:
    """Each parsed request takes some kilobytes: 20,000 of them on each of 200 connections would be 10 GB."""
    paths = [f"/{number}" for number in range(20_000)]
    requests = b"".join(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode() for path in paths)
    waiting: list[int] = []

    async def exchange() -> list[str]:
        gate = Gate()
        async with listen(gate) as (address, connections):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(requests)
            bodies = []
            for path in paths:
                if path == "/0":
                    await asyncio.sleep(0.5)  # as much arrives as the service takes
                    gate.opened.set()
                head = await reader.readuntil(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 200")
                bodies.append((await reader.readexactly(len(path))).decode())
                waiting.extend(len(connection.pipeline) for connection in connections)
            writer.close()
            return bodies

    assert asyncio.run(exchange()) == paths
    assert max(waiting) <= 100


def test_idle_connections_are_closed(start: Start, connect: Connect) -> None:
    idle = connect(start(), LIVEZ)
    assert read_status(idle) == 200
    assert idle.recv(1) == b""


def test_client_that_does_not_read_is_cut_off(start: Start, connect: Connect) -> None:
    """Some 60 MB of responses, none of which the client reads."""
    request = b"GET /docs/assets/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
    server = start()
    first = connect(server, LIVEZ)
    assert read_status(first) == 200
    idle = count_descriptors(server) - 1
    connect(server, request * 40)
    deadline = time.monotonic() + 60
    while count_descriptors(server) < idle + 2:
        assert time.monotonic() < deadline, "the connection was never open"
        time.sleep(0.01)
    while count_descriptors(server) > idle:
        assert time.monotonic() < deadline, "the connection is still open"
        time.sleep(0.1)
    assert not list_events(server, "unexpected")


def test_client_that_reads_slowly_gets_the_whole_response(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes two seconds, in a service whose clients may read nothing for one second."""
    monkeypatch.setattr(protocol, "WRITE_SECONDS", 1.0)
    monkeypatch.setattr(protocol, "MIN_READ_BYTES", 1)
    body = bytes(2_000_000)

    async def respond(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def read() -> int:
        loop = asyncio.get_running_loop()
        async with listen(respond) as (address, _):
            with socket.socket() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
                connection.setblocking(False)
                await loop.sock_connect(connection, address)
                await loop.sock_sendall(connection, LIVEZ)
                size = 0
                while size < len(body) and (piece := await loop.sock_recv(connection, 50_000)):
                    size += len(piece)
                    await asyncio.sleep(len(piece) / 1_000_000)
                return size

    assert asyncio.run(read()) > len(body)


def test_connections_of_an_address_are_bounded(start: Start, connect: Connect) -> None:
    server = start(max_connections_per_address=5)
    waiting = [connect(server, HALF) for _ in range(5)]
    for _ in range(20):
        status, error, message = read_error(connect(server, LIVEZ))
        assert (status, error) == (429, "rate_limited")
        assert "5 connections" in message
    assert read_status(connect(server, LIVEZ, "127.0.0.2")) == 200
    refusal = server.wait_for_entry("connections refused")
    assert (refusal["level"], refusal["bound"]) == ("warning", "max_connections_per_address")
    message = "one line in some seconds, not one for each connection"
    assert len(list_events(server, "connections refused")) == 1, message
    for connection in waiting:
        connection.sendall(b"alhost\r\nConnection: close\r\n\r\n")
        assert read_status(connection) == 200
        assert connection.recv(1) == b""
    assert read_status(connect(server, LIVEZ)) == 200


def test_connections_in_all_are_bounded(start: Start, connect: Connect) -> None:
    server = start(max_connections=5)
    waiting = [connect(server, HALF, f"127.0.0.{number}") for number in range(1, 6)]
    refused = connect(server, LIVEZ, "127.0.0.9")
    status, error, _ = read_error(refused)
    assert (status, error) == (503, "service_unavailable")
    assert server.wait_for_entry("connections refused")["bound"] == "max_connections"
    waiting[0].sendall(b"alhost\r\nConnection: close\r\n\r\n")
    assert read_status(waiting[0]) == 200
    assert waiting[0].recv(1) == b""
    assert read_status(connect(server, LIVEZ, "127.0.0.9")) == 200


def test_connections_leave_a_descriptor_for_each_file_that_is_sent() -> None:
    limits = ConnectionLimits(Observer(structlog.get_logger()), 1000, 200, 1024, TrustedProxies(()))
    for number in range(1000):
        limits.admit(f"127.0.0.{number}")
    assert 400 < limits.open <= (1024 - 128) / 2


def test_service_with_few_file_descriptors_goes_on_and_says_so(start: Start, connect: Connect) -> None:
    """300 half-sent requests of one address, with 256 descriptors."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        server = start(InstalledServer)  # which inherits the limit
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    for _ in range(300):
        connect(server, HALF)
    for _ in range(5):
        other = connect(server, LIVEZ, "127.0.0.2")
        assert read_status(other) == 200
    assert server.process.poll() is None
    (few,) = list_events(server, "few file descriptors")
    assert (few["level"], few["descriptors"]) == ("warning", 256)
    assert server.wait_for_entry("connections refused")
