"""Qdrant servers whose responses have another form than promised: each is an IndexFailure."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest

from pertinent.errors import IndexFailure
from pertinent.ports import Fingerprint
from pertinent.stores.qdrant import server as qdrant_server
from pertinent.stores.qdrant.index import QdrantIndex
from pertinent.stores.qdrant.server import Server
from pertinent.testing.index_suite import EMBEDDER
from pertinent.types import Candidates, Filters

from ...servers.faulty import GREETING, faulty, reply

MADE_WITH = Fingerprint(EMBEDDER.name, EMBEDDER.dimension, "structure-1", "bm25")
UUID_1 = "562554d8-34ed-5de0-bf31-929f5ef49d0d"


def query(answer: bytes) -> Candidates:
    """Search on a server that sends this answer to everything but a greeting."""
    with (
        faulty(lambda path: reply("200 OK", GREETING) if path == "/" else answer) as hostile,
        Server(hostile.url, timeout=2) as server,
    ):
        index = QdrantIndex(server, "any", MADE_WITH)
        vector = np.ones(EMBEDDER.dimension, np.float32)
        return index.candidates(vector, None, by=["dense"], limit=5, filters=Filters())


def list_points(*points: tuple[Any, Any]) -> bytes:
    scored = [{"id": point, "version": 0, "score": score} for point, score in points]
    return reply("200 OK", json.dumps({"result": [{"points": scored}]}).encode())


def test_a_point_sent_twice_is_one_candidate() -> None:
    assert query(list_points((UUID_1, 0.5), (UUID_1, 0.5))).cosine == [0.5]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (list_points((UUID_1, float("nan"))), "sent the score nan"),
        (list_points((UUID_1, float("inf"))), "sent the score inf"),
        (list_points(("not-a-uuid", 0.5)), "'not-a-uuid', which is no UUID"),
        (reply("200 OK", b'{"result": []}'), "0 lists of points for 1 queries"),
        (reply("200 OK", b"[" * 100_000), "not a Qdrant server"),
        (reply("200 OK", gzip.compress(b"x" * 300_000, mtime=0), "Content-Encoding: gzip"), "larger than"),
        (reply("200 OK", b"x", "Content-Encoding: gzip, gzip"), "gzip, gzip, which was not requested"),
        (reply("429 Too Many Requests", b"{}", "Retry-After: -5"), "is overloaded"),
        (reply("429 Too Many Requests", b"{}", "Retry-After: 0.5"), "is overloaded"),
        (
            reply("429 Too Many Requests", b'{"status": {"error": 5}}', "Retry-After: 0"),
            "is overloaded: 5",
        ),
    ],
    ids=[
        "nan", "infinity", "bad id", "no list", "deeply nested", "bomb", "bomb in a bomb", "negative wait",
        "wait of half a second", "message that is a number",
    ],
)  # fmt: skip
def test_response_of_another_form_is_an_index_failure(
    answer: bytes, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qdrant_server, "MAX_RESPONSE_BYTES", 200_000)
    with pytest.raises(IndexFailure, match=message):
        query(answer)


def test_version_of_thousands_of_digits_is_read() -> None:
    greeting = GREETING.replace(b"1.16.3", b"9" * 5000)
    with faulty(lambda _: reply("200 OK", greeting)) as hostile, Server(hostile.url) as server:
        assert server.version() > (1, 16)
