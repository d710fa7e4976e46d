"""A reranking service on this machine, which speaks the protocols of Cohere, Jina, vLLM and TEI.

Over real HTTP, and it misbehaves on demand. The relevance of a passage follows from the query and the
passage, so that a test can tell whose relevance it got. Like the real services, it sorts its response by
relevance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

from ..servers.faulty_api import FaultyApi, FaultyHandler, ReceivedRequest

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
    "huge",  # an integer beyond all floats
    "logits",  # scores that are not in [0, 1]
    "text",  # a score that is text
    "outside",  # an index that no passage has
    "negative",  # an index below 0
    "duplicate",  # two scores for a passage
    "nonsense",  # no JSON
    "latin",  # no UTF-8
    "digits",  # JSON with a number of thousands of digits
    "empty",  # JSON, but no results
    "list",  # JSON of another kind
    "null",  # JSON, but nothing
    "deep",  # JSON that is nested without end
    "bomb",  # a small body that decompresses to more than is read
    "dripping head",  # a byte of the headers now and then, without end
    "dripping body",  # the same with the body
]


def relevance_of(query: str, passage: str) -> float:
    """Return what the service thinks of a passage, in [0, 1]."""
    return int.from_bytes(hashlib.sha256(f"{query}\0{passage}".encode()).digest()[:4]) / 2**32


class RerankRequest(ReceivedRequest):
    @property
    def passages(self) -> list[str]:
        return list(self.body["texts" if self.path == TEI else "documents"])


class RerankServer(FaultyApi[RerankRequest, Fault]):
    """The service; a context manager that is up while it is open."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.relevances: Mapping[str, float] = {}
        """The relevance of passages that have these words, whatever the query."""

    def judge(self, query: str, passage: str) -> float:
        """Return the relevance of a passage."""
        preset = [relevance for words, relevance in self.relevances.items() if words in passage]
        return preset[0] if preset else relevance_of(query, passage)


class _Handler(FaultyHandler):
    request_type = RerankRequest

    def find_problem(self, request: RerankRequest) -> str:
        if request.path == TEI:
            return "" if "texts" in request.body else "missing field `texts`"
        if "documents" not in request.body:
            return "documents: Field required"
        if request.path in (JINA, COHERE) and "model" not in request.body:
            return "model: Field required"
        return ""

    def make_error(self, status: int) -> Any:
        return {"message": f"no: {status} for\n{self.headers.get('Authorization')}"}

    def make_response(self, request: RerankRequest, fault: str | None) -> Any:
        service = self.server.api
        assert isinstance(service, RerankServer)
        query = request.body["query"]
        name = "score" if request.path == TEI else "relevance_score"
        rows: list[dict[str, Any]] = [
            {"index": index, name: service.judge(query, passage)}
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
            case "huge":
                rows[-1][name] = 10**400
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
