"""An embedding service on this machine: speaks Cohere's and OpenAI's protocols, and misbehaves on demand.

Over real HTTP. It remembers what it was asked; a text's vector follows from the text and from what it
was embedded as, so that a test can tell whose vector it got.
"""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

import numpy as np

from pertinent.ports import Vector

KEY = "sk-Secret/4711-abcdefghijklmnopqrstuvwxyz"

Fault = Literal[
    "400",  # the request is refused
    "401",  # the key is bad
    "403",  # the key is not for this
    "404",  # there is no such model
    "429",  # too many requests, with Retry-After where `retry_after` is set
    "500",  # it failed
    "503",  # it is overloaded
    "slow",  # it never answers
    "cut",  # the connection ends within the body
    "dropped",  # the connection ends before the answer
    "dimension",  # the last vector is one element too long
    "count",  # a vector is missing
    "nan",
    "zeros",
    "words",  # a vector of words
    "nonsense",  # no JSON
    "empty",  # JSON, but no embeddings
    "list",  # JSON of another kind
]

_STATUSES: Mapping[str, int] = {str(status): status for status in (400, 401, 403, 404, 429, 500, 503)}


def vector_of(text: str, kind: str, dimension: int) -> Vector:
    """What the service makes of a text; not of unit length."""
    seed = hashlib.sha256(f"{kind}:{text}".encode()).digest()
    return np.random.default_rng(list(seed[:8])).standard_normal(dimension).astype(np.float32) * 3


def unit_of(text: str, kind: str, dimension: int) -> Vector:
    """The same at unit length, as an embedder should give it."""
    vector = vector_of(text, kind, dimension)
    return vector / np.linalg.norm(vector)


def _packed(vector: Vector) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


@dataclass(frozen=True)
class EmbedRequest:
    """A request that the server received."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def texts(self) -> list[str]:
        return list(self.body["texts"] if self.path == "/v2/embed" else self.body["input"])


class Wire:
    """The service; a context manager that is up while it is open."""

    def __init__(self, dimension: int = 8, *, floats: bool = False) -> None:
        self.dimension = dimension
        self.floats = floats
        """Whether numbers are sent even if base64 is requested."""
        self.backwards = False
        """Whether OpenAI's rows come in reverse order, by their index."""
        self.faults: deque[Fault | None] = deque()
        """What goes wrong with the next requests, one by one."""
        self.always: Fault | None = None
        """What goes wrong with all others."""
        self.tactless = True
        """Whether an error repeats the key, as some services do in part."""
        self.retry_after: str | None = None
        self.on_request: Callable[[EmbedRequest], None] = lambda _: None
        self.requests: list[EmbedRequest] = []
        self.paid: list[str] = []
        """Every text that was embedded, whether or not the answer arrived."""
        self.lock = threading.Lock()
        self.over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.wire = self
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

    def take(self, request: EmbedRequest) -> Fault | None:
        """Note a request, and say what goes wrong with it."""
        with self.lock:
            self.requests.append(request)
            return self.faults.popleft() if self.faults else self.always


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    wire: Wire

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
        """Ignore errors: the client may have been killed by the test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: _Server

    def do_POST(self) -> None:
        wire = self.server.wire
        content = self.rfile.read(int(self.headers["Content-Length"]))
        request = EmbedRequest(self.path, dict(self.headers), json.loads(content))
        fault = wire.take(request)
        wire.on_request(request)
        if fault == "slow":
            wire.over.wait()
            self.close_connection = True
        elif fault == "dropped":
            self._hang_up()
        elif fault is not None and fault in _STATUSES:
            self._refuse(_STATUSES[fault])
        elif fault == "nonsense":
            self._send(200, f"<html>Welcome! Your key is {KEY}.</html>".encode())
        else:
            self._embed(request, fault)

    def _embed(self, request: EmbedRequest, fault: Fault | None) -> None:
        with self.server.wire.lock:
            self.server.wire.paid += request.texts
        shapeless: dict[str | None, object] = {"empty": {"id": "1"}, "list": [1, 2]}
        content = json.dumps(shapeless.get(fault) or self._answer(request, fault)).encode()
        if fault == "cut":
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])
            self._hang_up()
        else:
            self._send(200, content)

    def _answer(self, request: EmbedRequest, fault: Fault | None) -> Any:
        packed = request.body.get("encoding_format") == "base64" and not self.server.wire.floats
        vectors: list[Any] = [
            _packed(vector) if packed else vector.tolist() for vector in self._vectors(request, fault)
        ]
        if fault == "words":
            vectors[-1] = ["no", "numbers"]
        if request.path == "/v2/embed":
            return {"id": "1", "embeddings": {"float": vectors}, "texts": request.texts, "meta": {}}
        rows = [{"index": position, "embedding": vector} for position, vector in enumerate(vectors)]
        rows = rows[::-1] if self.server.wire.backwards else rows
        return {"object": "list", "data": rows, "model": request.body["model"], "usage": {"prompt_tokens": 1}}

    def _vectors(self, request: EmbedRequest, fault: Fault | None) -> list[Vector]:
        dimension = self.server.wire.dimension
        vectors = [vector_of(text, request.body.get("input_type", ""), dimension) for text in request.texts]
        match fault:
            case "dimension":
                vectors[-1] = np.append(vectors[-1], np.float32(1))
            case "count":
                vectors.pop()
            case "nan":
                vectors[-1][0] = np.nan
            case "zeros":
                vectors[-1][:] = 0
        return vectors

    def _refuse(self, status: int) -> None:
        caller = self.headers.get("Authorization") if self.server.wire.tactless else "you"
        message = f"no: {status} for\n{caller}"
        error = {"message": message}
        body = error if self.path == "/v2/embed" else {"error": {**error, "code": status}}
        self._send(status, json.dumps(body).encode())

    def _send(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if self.server.wire.retry_after is not None:
            self.send_header("Retry-After", self.server.wire.retry_after)
        self.end_headers()
        self.wfile.write(content)

    def _hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: object) -> None:
        """Log nothing: the tests read `requests`."""
