"""The head of a request over a real socket: its size, its form, and what the service answers to a bad one."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest

from pertinent.surfaces.library import Pertinent

from .test_server import Server, write_pages

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]

HEAD_LIMIT = 32 * 1024
MEGABYTE = 1024 * 1024
START = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n"
POST = (
    b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"X-API-Key: a-secret-key\r\n"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with API keys: what is refused here is refused before authentication."""
    root = tmp_path_factory.mktemp("guarded")
    folder = str(root / "data")
    with Pertinent.open(folder, embedder="testing:hashed-words") as pertinent:
        pertinent.index(write_pages(root / "docs"))
    arguments = ("--folder", folder, "--embedder", "testing:hashed-words")
    running = Server(*arguments, PERTINENT_API_KEYS="a-secret-key")
    yield running
    assert running.end() == 0


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def read_error(connection: socket.socket) -> tuple[int, str, str]:
    """The status and the body of an error response, which must have the form of every other."""
    response = http.client.HTTPResponse(connection)
    response.begin()
    body = json.loads(response.read())
    assert response.headers["content-type"] == "application/json"
    assert response.headers["connection"] == "close"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["x-request-id"]
    assert set(body) == {"error", "message"}
    assert connection.recv(1) == b""
    return response.status, body["error"], body["message"]


def exchange(server: Server, *parts: bytes) -> tuple[int, str, str]:
    with connect(server) as connection:
        for part in parts:
            connection.sendall(part)
        return read_error(connection)


def make_header(size: int) -> bytes:
    """A complete head of this many bytes."""
    name, end = b"X-Padding: ", b"\r\n\r\n"
    return START + name + b"x" * (size - len(START) - len(name) - len(end)) + end


def test_endless_header_is_refused_with_431_and_stalls_nobody(server: Server) -> None:
    """64 MB of one header line, without its end."""
    sent = 0
    with connect(server) as attacker:
        attacker.sendall(START + b"X-Padding: ")
        with suppress(ConnectionError):
            for _ in range(64):
                attacker.sendall(b"x" * MEGABYTE)
                sent += 1
        with suppress(ConnectionError):
            status, error, message = read_error(attacker)
            assert (status, error) == (431, "headers_too_large")
            assert "32768 bytes" in message
    with connect(server) as other:
        other.sendall(START + b"\r\n")
        assert other.recv(15) == b"HTTP/1.1 200 OK"
    assert sent < 64, "the service has read all of it"


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([START + b"X: ", b"x" * HEAD_LIMIT], id="an unfinished header"),
        pytest.param([START, *[b"X-%d: x\r\n" % number for number in range(5000)]], id="many headers"),
        pytest.param([b"GET /" + b"x" * HEAD_LIMIT], id="an unfinished path"),
        pytest.param([b"GET /?" + b"x" * HEAD_LIMIT + b" HTTP/1.1\r\n\r\n"], id="a path"),
        pytest.param([make_header(HEAD_LIMIT + 100)], id="a complete head"),
        pytest.param([make_header(HEAD_LIMIT * 4)], id="a complete head in several reads"),
        pytest.param(
            [POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"x" * HEAD_LIMIT], id="a trailer"
        ),
        pytest.param(
            [POST + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x" * HEAD_LIMIT], id="a chunk extension"
        ),
    ],
)
def test_head_larger_than_32_kb_is_refused_with_431(server: Server, parts: list[bytes]) -> None:
    with connect(server) as connection:
        connection.sendall(b"".join(parts))
        status, error, message = read_error(connection)
    assert (status, error) == (431, "headers_too_large")
    assert message == "the head of a request must be at most 32768 bytes; send less in its path and headers"


def test_head_of_almost_32_kb_is_answered(server: Server) -> None:
    with connect(server) as connection:
        connection.sendall(make_header(HEAD_LIMIT - 100))
        assert connection.recv(15) == b"HTTP/1.1 200 OK"


def test_body_does_not_count_as_head(server: Server) -> None:
    """Two requests on one connection, each with a body of 60 KB in two parts."""
    head = POST + b"Content-Length: 61440\r\n\r\n"
    with connect(server) as connection:
        for _ in range(2):
            connection.sendall(head + b" " * 30720)
            connection.sendall(b" " * 30720)
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert response.status == 400
            assert "body: is not JSON" in json.loads(response.read())["message"]


@pytest.mark.parametrize(
    ("start", "status"), [(START, 200), (POST.replace(b"a-secret-key", b"wrong"), 401)], ids=["GET", "401"]
)
def test_endless_body_that_no_route_reads_ends_the_connection(
    server: Server, start: bytes, status: int
) -> None:
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    with closing(connect(server)) as connection:
        connection.sendall(start + b"Transfer-Encoding: chunked\r\n\r\n" + chunk[: MEGABYTE // 2])
        response = http.client.HTTPResponse(connection)
        response.begin()
        assert response.status == status
        # The operating system takes some megabytes that the service does not read.
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            connection.sendall(chunk * 512)


@pytest.mark.parametrize("size", [1, 700, 5000], ids="pieces of {} bytes".format)
def test_request_that_asks_for_another_protocol_keeps_its_body(server: Server, size: int) -> None:
    """Java's HTTP client asks for HTTP/2 with its first request. The body looks like a request of its own."""
    padding = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50
    upgrade = POST + b"Upgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n"
    requests = b""
    for connection_header, body in (
        (b"Upgrade, HTTP2-Settings", json.dumps({"query": "joint", "padding": padding}).encode()),
        (b"Upgrade, HTTP2-Settings, close", b'{"query": "joint"}'),
    ):
        head = b"Connection: %s\r\nContent-Length: %d\r\n\r\n" % (connection_header, len(body))
        requests += upgrade + head + body
    with connect(server) as connection, connection.makefile("rb") as responses:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(requests), size):
            connection.sendall(requests[start : start + size])
        received = responses.read()
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"400", b"200"]
    assert b"padding: there is no such field" in received


@pytest.mark.parametrize(
    "malformed",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"GET\r\n\r\n",
        b"\x00" * 5000,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /search HTTP/1.1\r\n\xff: x\r\n\r\n",
        b"GET /search HTTP/1.1\r\nHost localhost\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"Content-Length: -5\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nno-number\r\n",
    ],
)
def test_rule_7_what_the_parser_refuses_is_answered_in_our_shape(server: Server, malformed: bytes) -> None:
    status, error, message = exchange(server, malformed)
    assert (status, error) == (400, "validation_error")
    assert message.startswith("this is not a valid HTTP/1.1 request")


def test_refused_heads_are_logged_without_their_content(server: Server) -> None:
    exchange(server, START + b"X-API-Key: a-secret-key-" + b"x" * HEAD_LIMIT)
    line = server.wait_for_entry("refused", error="headers_too_large")
    assert (line["status"], line["level"], line["route"]) == (431, "info", "unparsed")
    assert "a-secret-key" not in "".join(server.output)


@pytest.mark.parametrize("probe", ["/livez", "/readyz", "/health", "/api/v1/health"])
def test_rule_24_probes_of_a_running_service_need_no_key(server: Server, probe: str) -> None:
    with closing(server.connect()) as connection:
        connection.request("GET", probe)
        response = connection.getresponse()
        assert (response.status, json.loads(response.read())["status"]) == (200, "ok")
