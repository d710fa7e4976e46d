"""Seed 002 on a real Qdrant: its own payload in a collection of 1024 dimensions that others filled."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

import pertinent
from pertinent import PertinentError, RetrievalResult
from pertinent.identity import content_hash

from ..servers.fixtures import Endpoint

DIMENSION = 1024
KEY = "key-that-nobody-may-see"
QUERY = [1.0 + index / DIMENSION for index in range(DIMENSION)]


def payload(number: int) -> dict[str, Any]:
    """The fields that the seed expects in the collection."""
    text = f"Passage {number} is about joints."
    return {
        "text": text,
        "url": f"https://book.example/docs/page-{number // 3}",
        "chunk_id": f"chunk-{number}",
        "position": number % 3,
        "title": f"Page {number // 3}",
        "content_hash": content_hash(text),
    }


def vector(number: int) -> list[float]:
    """A vector that is the further from the query the higher its number."""
    return [value + 5.0 * number * (index == number) for index, value in enumerate(QUERY)]


def cosine(first: list[float], second: list[float]) -> float:
    return math.fsum(map(float.__mul__, first, second)) / (math.hypot(*first) * math.hypot(*second))


@pytest.fixture
def client(qdrant: Endpoint) -> Iterator[QdrantClient]:
    client = QdrantClient(url=qdrant.url, api_key=qdrant.key)
    yield client
    client.close()


@pytest.fixture(autouse=True)
def _settings(
    client: QdrantClient, qdrant: Endpoint, collection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nine passages in Qdrant, and Cohere at an unreachable address."""
    size = models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE)
    client.create_collection(collection, size)
    points = [models.PointStruct(id=n, vector=vector(n), payload=payload(n)) for n in range(9)]
    client.upsert(collection, points, wait=True)
    monkeypatch.setenv("QDRANT_URL", qdrant.url)
    monkeypatch.setenv("QDRANT_COLLECTION_NAME", collection)
    monkeypatch.setenv("PERTINENT_EMBEDDER", "cohere")
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    monkeypatch.setenv("PERTINENT_COHERE_BASE_URL", "http://127.0.0.1:9")


def test_seed_002_payload_of_the_seed_is_read_with_all_fields() -> None:
    best = pertinent.retrieve_content_chunks(QUERY, limit=1)
    assert best == [
        RetrievalResult(
            text="Passage 0 is about joints.",
            source_url="https://book.example/docs/page-0",
            relevance_score=best[0].relevance_score,
            chunk_id="chunk-0",
            position=0,
            title="Page 0",
        )
    ]


def test_seed_002_limit_is_5_by_default_and_from_1_to_100() -> None:
    assert [len(pertinent.retrieve_content_chunks(QUERY, limit=limit)) for limit in (1, 9, 100)] == [1, 9, 9]
    assert len(pertinent.retrieve_content_chunks(QUERY)) == 5
    for limit in (0, -1, 101, True, None, "5", 1.5):
        with pytest.raises(ValueError, match=r"^limit: "):
            pertinent.retrieve_content_chunks(QUERY, limit)  # type: ignore[arg-type]


def test_seed_002_relevance_score_is_the_cosine_and_orders_the_list() -> None:
    results = pertinent.retrieve_content_chunks(QUERY, limit=9)
    assert [result.chunk_id for result in results] == [f"chunk-{number}" for number in range(9)]
    expected = [cosine(QUERY, vector(number)) for number in range(9)]
    assert [result.relevance_score for result in results] == pytest.approx(expected, abs=1e-5)


def test_seed_002_negative_cosine_is_a_score_of_0() -> None:
    results = pertinent.retrieve_content_chunks([-value for value in QUERY], limit=9)
    assert [result.relevance_score for result in results] == [0.0] * 9


@pytest.mark.parametrize("length", [384, 1023, 1025])
def test_seed_002_vector_has_exactly_1024_elements(length: int) -> None:
    with pytest.raises(ValueError, match=rf"^query_embedding: .*{length}.*1024"):
        pertinent.retrieve_content_chunks([0.1] * length)


@pytest.mark.parametrize(
    "embedding",
    [[], None, "x", [None] * 1024, [True] * 1024, [math.nan] * 1024, [math.inf] * 1024, [0.0] * 1024],
)
def test_seed_002_invalid_vector_is_a_value_error(embedding: Any) -> None:
    with pytest.raises(ValueError, match=r"^query_embedding: "):
        pertinent.retrieve_content_chunks(embedding)


def test_seed_002_title_position_and_hash_may_be_missing(client: QdrantClient, collection: str) -> None:
    for name in ("title", "position", "content_hash"):
        client.delete_payload(collection, [name], points=list(range(9)), wait=True)
    results = pertinent.retrieve_content_chunks(QUERY)
    assert [(result.title, result.position) for result in results] == [("", 0)] * 5


def test_seed_002_failed_cohere_call_is_an_exception_without_the_key() -> None:
    with pytest.raises(PertinentError, match="Cohere") as error:
        pertinent.generate_query_embedding("What is a joint?")
    assert KEY not in str(error.value)
    assert not isinstance(error.value, ValueError)


def test_seed_002_invalid_query_is_refused_before_cohere_is_called() -> None:
    for query in ("", " ", "x" * 1001):
        with pytest.raises(ValueError, match=r"^query: "):
            pertinent.generate_query_embedding(query)


def test_seed_002_failed_search_is_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:9")
    with pytest.raises(PertinentError):
        pertinent.retrieve_content_chunks(QUERY)
