"""An embedding service on this machine: speaks Cohere's and OpenAI's protocols, and misbehaves on demand.

Over real HTTP. It remembers what it was asked; a text's vector follows from the text and from what it
was embedded as, so that a test can tell whose vector it got.
"""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from pertinent.ports import Vector

from ..servers.faulty_api import FaultyApi, FaultyHandler, ReceivedRequest

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
    "latin",  # no UTF-8
    "digits",  # JSON with a number of thousands of digits
    "empty",  # JSON, but no embeddings
    "list",  # JSON of another kind
    "null",  # JSON, but nothing
    "deep",  # JSON that is nested without end
    "bomb",  # a small body that decompresses to more than is read
    "dripping head",  # a byte of the headers now and then, without end
    "dripping body",  # the same with the body
]


def vector_of(text: str, kind: str, dimension: int) -> Vector:
    """What the service makes of a text; not of unit length."""
    seed = hashlib.sha256(f"{kind}:{text}".encode()).digest()
    return np.random.default_rng(list(seed[:8])).standard_normal(dimension).astype(np.float32) * 3


def unit_of(text: str, kind: str, dimension: int) -> Vector:
    """The same at unit length, as an embedder should give it."""
    vector = vector_of(text, kind, dimension)
    return vector / np.linalg.norm(vector)


def join_embedding_threads() -> None:
    """Wait for requests that were in flight when the caller stopped reading vectors."""
    for thread in threading.enumerate():
        if thread.name.startswith("embedding"):
            thread.join(timeout=30)


def _packed(vector: Vector) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


class EmbedRequest(ReceivedRequest):
    @property
    def texts(self) -> list[str]:
        return list(self.body["texts"] if self.path == "/v2/embed" else self.body["input"])


class Wire(FaultyApi[EmbedRequest, Fault]):
    """The service; a context manager that is up while it is open."""

    def __init__(self, dimension: int = 8, *, floats: bool = False) -> None:
        super().__init__(_Handler)
        self.dimension = dimension
        self.floats = floats
        """Whether numbers are sent even if base64 is requested."""
        self.backwards = False
        """Whether OpenAI's rows come in reverse order, by their index."""
        self.tactless = True
        """Whether an error repeats the key, as some services do in part."""
        self.on_request: Callable[[EmbedRequest], None] = lambda _: None
        self.paid: list[str] = []
        """Every text that was embedded, whether or not the answer arrived."""

    def take_fault(self, request: EmbedRequest) -> Fault | None:
        fault = super().take_fault(request)
        self.on_request(request)
        return fault


class _Handler(FaultyHandler):
    request_type = EmbedRequest

    @property
    def wire(self) -> Wire:
        api = self.server.api
        assert isinstance(api, Wire)
        return api

    def make_response(self, request: EmbedRequest, fault: str | None) -> Any:
        with self.wire.lock:
            self.wire.paid += request.texts
        packed = request.body.get("encoding_format") == "base64" and not self.wire.floats
        vectors: list[Any] = [
            _packed(vector) if packed else vector.tolist() for vector in self._vectors(request, fault)
        ]
        if fault == "words":
            vectors[-1] = ["no", "numbers"]
        if request.path == "/v2/embed":
            return {"id": "1", "embeddings": {"float": vectors}, "texts": request.texts, "meta": {}}
        rows = [{"index": position, "embedding": vector} for position, vector in enumerate(vectors)]
        rows = rows[::-1] if self.wire.backwards else rows
        return {"object": "list", "data": rows, "model": request.body["model"], "usage": {"prompt_tokens": 1}}

    def _vectors(self, request: EmbedRequest, fault: str | None) -> list[Vector]:
        dimension = self.wire.dimension
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

    def make_error(self, status: int) -> Any:
        caller = self.headers.get("Authorization") if self.wire.tactless else "you"
        error = {"message": f"no: {status} for\n{caller}"}
        return error if self.path == "/v2/embed" else {"error": {**error, "code": status}}
