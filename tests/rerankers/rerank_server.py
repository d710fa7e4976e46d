"""A reranking service on this machine, which speaks the protocols of Cohere, Jina, vLLM and TEI.

Over real HTTP, and it misbehaves on demand. The relevance of a passage follows from the query and the
passage, so that a test can tell whose relevance it got. Like the real services, it sorts its response by
relevance.
"""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

KEY = "sk-Secret/4711-abcdefghijklmnopqrstuvwxyz"

COHERE, JINA, VLLM, TEI = "/v2/rerank", "/v1/rerank", "/rerank", "/tei/rerank"

Fault = Literal[
    "400",  # the request is refused
    "401",  # the key is bad
    "404",  # there is no such model
    "429",  # too many requests, with Retry-After where `retry_after` is set
    "500",  # it failed
    "503",  # it is overloaded
    "slow",  # it never answers
    "cut",  # the connection ends within the body
    "dropped",  # the connection ends before the answer
    "count",  # a passage has no score
    "more",  # there is one score too many
    "nan",
    "infinity",
    "logits",  # scores that are not in [0, 1]
    "text",  # a score that is text
    "outside",  # an index that no passage has
    "negative",  # an index below 0
    "duplicate",  # two scores for a passage
    "nonsense",  # no JSON
    "empty",  # JSON, but no results
    "list",  # JSON of another kind
]

STATUSES: Mapping[str, int] = {str(status): status for status in (400, 401, 404, 429, 500, 503)}


def relevance_of(query: str, passage: str) -> float:
    """Return what the service thinks of a passage, in [0, 1]."""
    return int.from_bytes(hashlib.sha256(f"{query}\0{passage}".encode()).digest()[:4]) / 2**32


@dataclass(frozen=True)
class RerankRequest:
    """A request that the server received."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def passages(self) -> list[str]:
        return list(self.body["texts" if self.path == TEI else "documents"])


class RerankServer:
    """The service; a context manager that is up while it is open."""

    def __init__(self) -> None:
        self.faults: deque[Fault | None] = deque()
        """What goes wrong with the next requests, one by one."""
        self.always: Fault | None = None
        """What goes wrong with all others."""
        self.retry_after: str | None = None
        self.relevances: Mapping[str, float] = {}
        """The relevance of passages that have these words, whatever the query."""
        self.requests: list[RerankRequest] = []
        self.lock = threading.Lock()
        self.over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.service = self
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

    def judge(self, query: str, passage: str) -> float:
        """Return the relevance of a passage."""
        preset = [relevance for words, relevance in self.relevances.items() if words in passage]
        return preset[0] if preset else relevance_of(query, passage)

    def take_fault(self, request: RerankRequest) -> Fault | None:
        """Record a request, and return what goes wrong with it."""
        with self.lock:
            self.requests.append(request)
            return self.faults.popleft() if self.faults else self.always


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    service: RerankServer

    def handle_error(self, *_: object) -> None:
        """Ignore errors: the client may have given up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: _Server

    def do_POST(self) -> None:
        service = self.server.service
        content = self.rfile.read(int(self.headers["Content-Length"]))
        request = RerankRequest(self.path, dict(self.headers), json.loads(content))
        fault = service.take_fault(request)
        if fault == "slow":
            service.over.wait()
            self.close_connection = True
        elif fault == "dropped":
            self._hang_up()
        elif fault is not None and fault in STATUSES:
            self._refuse(STATUSES[fault], f"no: {fault} for\n{self.headers.get('Authorization')}")
        elif fault == "nonsense":
            self._send(200, f"<html>Welcome! Your key is {KEY}.</html>".encode())
        elif problem := _find_problem(request):
            self._refuse(422, problem)
        else:
            self._rerank(request, fault)

    def _rerank(self, request: RerankRequest, fault: Fault | None) -> None:
        shapeless: dict[str | None, object] = {"empty": {"id": "1"}, "list": [1, 2]}
        content = json.dumps(shapeless.get(fault) or self._make_response(request, fault)).encode()
        if fault != "cut":
            self._send(200, content)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self._hang_up()

    def _make_response(self, request: RerankRequest, fault: Fault | None) -> Any:
        query = request.body["query"]
        name = "score" if request.path == TEI else "relevance_score"
        rows: list[dict[str, Any]] = [
            {"index": index, name: self.server.service.judge(query, passage)}
            for index, passage in enumerate(request.passages)
        ]
        rows.sort(key=lambda row: -row[name])
        match fault:
            case "count":
                rows.pop()
            case "more":
                rows.append({"index": len(rows), name: 0.5})
            case "nan" | "infinity":
                rows[-1][name] = float("nan" if fault == "nan" else "inf")
            case "logits":
                rows[-1][name] = -8.25
            case "text":
                rows[-1][name] = "high"
            case "outside":
                rows[-1]["index"] = len(rows)
            case "negative":
                rows[-1]["index"] = -1
            case "duplicate":
                rows[-1]["index"] = rows[0]["index"]
        return rows if request.path == TEI else {"id": "1", "results": rows, "meta": {}}

    def _refuse(self, status: int, message: str) -> None:
        self._send(status, json.dumps({"message": message}).encode())

    def _send(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if self.server.service.retry_after is not None:
            self.send_header("Retry-After", self.server.service.retry_after)
        self.end_headers()
        self.wfile.write(content)

    def _hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: object) -> None:
        """Log nothing: the tests read `requests`."""


def _find_problem(request: RerankRequest) -> str:
    """Return what a service of this kind refuses in the body; empty if it takes it."""
    if request.path == TEI:
        return "" if "texts" in request.body else "missing field `texts`"
    if "documents" not in request.body:
        return "documents: Field required"
    if request.path in (JINA, COHERE) and "model" not in request.body:
        return "model: Field required"
    return ""
