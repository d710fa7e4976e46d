"""A hosted API on this machine, over real HTTP, which misbehaves on demand."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Generic, Self, TypeVar

KEY = "sk-Secret/4711-abcdefghijklmnopqrstuvwxyz"
STATUSES: Mapping[str, int] = {str(status): status for status in (400, 401, 403, 404, 429, 500, 503)}
"""Faults that are a status of HTTP."""

NO_HEADERS: Mapping[str, str] = {}
UNREADABLE: Mapping[str | None, bytes] = {
    "null": b"null",
    "deep": b"[" * 100_000,
    "bomb": gzip.compress(b" " * 65 * 2**20),
    "latin": f"<html>Vorübergehend nicht verfügbar: {KEY}</html>".encode("latin-1"),
    "digits": b'{"results": [%s]}' % (b"9" * 5000),
}
"""Faults that are the body of a success."""


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that the server received; an API adds what the tests read in it."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


Request = TypeVar("Request", bound=ReceivedRequest)
Fault = TypeVar("Fault", bound=str)


class FaultyApi(Generic[Request, Fault]):
    """The service; a context manager that is up while it is open."""

    def __init__(self, handler: type[FaultyHandler]) -> None:
        self.faults: deque[Fault | None] = deque()
        """What goes wrong with the next requests, one by one."""
        self.always: Fault | None = None
        """What goes wrong with all others."""
        self.retry_after: str | None = None
        self.requests: list[Request] = []
        self.lock = threading.Lock()
        self.over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), handler)
        self._server.api = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def settle(self) -> None:
        """Wait until every request is recorded; the client that sent them must have ended."""
        # Connections are accepted in order: once this one is, all earlier ones are.
        with socket.create_connection(("127.0.0.1", self._server.server_address[1])) as last:
            last.sendall(b"GET / HTTP/1.0\r\n\r\n")
            while last.recv(4096):
                pass
        with self._server.idle:
            assert self._server.idle.wait_for(lambda: self._server.open == 0, timeout=30)

    def take_fault(self, request: Request) -> Fault | None:
        """Record a request, and return what goes wrong with it."""
        with self.lock:
            self.requests.append(request)
            return self.faults.popleft() if self.faults else self.always


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    api: FaultyApi[Any, Any]

    def __init__(self, *args: Any) -> None:
        self.idle = threading.Condition()
        self.open = 0
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self.idle:
            self.open += 1
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self.idle:
            self.open -= 1
            self.idle.notify_all()

    def handle_error(self, *_: object) -> None:
        """Ignore errors: the client may have given up, or been killed by the test."""


class FaultyHandler(BaseHTTPRequestHandler):
    """Answers the requests; an API says how it answers and refuses."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: _Server
    request_type: ClassVar[type[ReceivedRequest]]

    def make_response(self, request: Any, fault: str | None) -> Any:
        """Return the body of the response, with the fault in it."""
        raise NotImplementedError

    def make_error(self, status: int) -> Any:
        """Return the body of an error."""
        raise NotImplementedError

    def find_problem(self, request: Any) -> str:
        """Return what the API refuses in a request; empty if it takes it."""
        return ""

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        request = self.request_type(self.path, dict(self.headers), json.loads(content))
        fault = self.server.api.take_fault(request)
        if fault == "slow":
            self.server.api.over.wait()
            self.close_connection = True
        elif fault == "dropped":
            self._hang_up()
        elif fault is not None and fault in STATUSES:
            self._send(STATUSES[fault], json.dumps(self.make_error(STATUSES[fault])).encode())
        elif fault == "dripping head":
            self._drip(b"HTTP/1.1 200 OK\r\nX-Endless: ", b"x")
        elif fault == "dripping body":
            self._drip(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n")
        elif fault in UNREADABLE:
            self._send(200, UNREADABLE[fault], {"Content-Encoding": "gzip"} if fault == "bomb" else {})
        elif fault == "nonsense":
            self._send(200, f"<html>Welcome! Your key is {KEY}.</html>".encode())
        elif problem := self.find_problem(request):
            self._send(422, json.dumps({"message": problem}).encode())
        else:
            self._answer(request, fault)

    def _answer(self, request: Any, fault: str | None) -> None:
        response = self.make_response(request, fault)
        shapeless: dict[str | None, object] = {"empty": {"id": "1"}, "list": [1, 2]}
        content = json.dumps(shapeless.get(fault) or response).encode()
        if fault != "cut":
            self._send(200, content)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self._hang_up()

    def _drip(self, beginning: bytes, piece: bytes) -> None:
        """Send a few bytes now and then, without end."""
        self.wfile.write(beginning)
        while not self.server.api.over.wait(0.02):
            self.wfile.write(piece)
            self.wfile.flush()

    def _send(self, status: int, content: bytes, headers: Mapping[str, str] = NO_HEADERS) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if self.server.api.retry_after is not None:
            self.send_header("Retry-After", self.server.api.retry_after)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: object) -> None:
        """Log nothing: the tests read `requests`."""
