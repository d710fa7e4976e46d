"""The functions that seeds 001, 002 and 004 name. They use the index of the current folder."""

from __future__ import annotations

import atexit
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidInput
from ..limits import RETRIEVAL_LAYER, RETRIEVAL_TESTING
from ..search.notes import describe_damage
from ..types import SearchOptions
from .library import Pertinent
from .query_response import render_query_response
from .seed_entities import QueryEmbedding, RetrievalResult, to_retrieval_result

_shared: Pertinent | None = None
_shared_lock = threading.RLock()


def open_shared() -> Pertinent:
    """Return the Pertinent of the current folder and environment, opened at the first call."""
    global _shared  # noqa: PLW0603 - the seeds' functions take no index as an argument
    with _shared_lock:
        if _shared is None:
            _shared = Pertinent.open()
            atexit.register(close_shared)
        return _shared


def close_shared() -> None:
    """Close the shared Pertinent; the next call opens it again."""
    global _shared  # noqa: PLW0603 - as above
    with _shared_lock:
        if _shared is not None:
            _shared.close()
            _shared = None


def generate_query_embedding(query: str) -> QueryEmbedding:
    """Embed a query with the configured model (seed 002).

    Args:
        query: The text of the query, 1 to 1000 characters.

    Raises:
        ValueError: The query is empty or too long.
        EmbedderError: The model or its service failed.

    Examples:
        >>> embedding = generate_query_embedding("How do nodes talk to each other?")
        >>> print(embedding.model, len(embedding.vector))
    """
    text = RETRIEVAL_LAYER.check_query(query)
    embedder = open_shared().workspace.embedder()
    return QueryEmbedding(embedder.embed_queries([text])[0].tolist(), text, embedder.model)


def retrieve_content_chunks(query_embedding: Sequence[float], limit: int = 5) -> list[RetrievalResult]:
    """Find the passages nearest to a vector, best first (seed 002).

    Damaged points are excluded, with a warning.

    Args:
        query_embedding: A vector of the index's dimension.
        limit: The maximum number of results, 1 to 100.

    Returns:
        The results; an empty list if the index has no points.

    Raises:
        ValueError: The vector has another dimension than the index, or the limit is out of range.
        IndexFailure: The search failed.

    Examples:
        >>> results = retrieve_content_chunks(embedding.vector, limit=3)
    """
    limit = RETRIEVAL_LAYER.check_top_k(limit)
    engine = open_shared().workspace.engine()
    answer = engine.search_vector(query_embedding, SearchOptions(top_k=limit))
    for note in describe_damage(answer.damaged):
        warnings.warn(note, stacklevel=2)
    return [to_retrieval_result(hit) for hit in answer.hits]


def retrieve(
    query_text: str,
    top_k: int = 5,
    threshold: float = 0.0,
    include_metadata: bool = True,  # noqa: FBT001, FBT002 - seed 001's signature
) -> dict[str, Any]:
    """Answer seed 001's Query Request with its Query Response.

    Args:
        query_text: The text to search for, 1 to 2000 characters.
        top_k: The maximum number of results, 1 to 20.
        threshold: The minimum score of a result, 0.0 to 1.0.
        include_metadata: Add title, section, anchor, span, algorithm and the parts of the score.

    Returns:
        The Query Response as JSON-ready data: `query`, `results` and `metadata`.

    Raises:
        ValueError: An argument is out of range.

    Examples:
        >>> response = retrieve("joint limits", top_k=3)
        >>> print(response["results"][0]["citation"])
    """
    text = RETRIEVAL_TESTING.check_query(query_text)
    top_k = RETRIEVAL_TESTING.check_top_k(top_k)
    threshold = RETRIEVAL_TESTING.check_threshold(threshold)
    if not isinstance(include_metadata, bool):
        raise InvalidInput("include_metadata", f"must be true or false, not {include_metadata!r}")
    answer = open_shared().search(text, top_k, threshold)
    return render_query_response(answer, include_metadata=include_metadata)


def validate(tests: Sequence[Mapping[str, Any]], top_k: int = 5) -> dict[str, Any]:
    """Run seed 004's validation tests; return what `POST /api/v1/validate` answers.

    Args:
        tests: Validation Tests.
        top_k: How many hits of each query to look at, 1 to 100.

    Examples:
        >>> run = validate([{
        ...     "test_id": "limits",
        ...     "query_text": "joint limits",
        ...     "expected_results": ["joints-1a2b3c4d-0123456789ab"],
        ...     "success_criteria": {"min_accuracy": 1.0, "min_similarity_score": 0.5},
        ... }])
        >>> print(run["validation_status"])
    """
    return open_shared().run_tests(tests, top_k).model_dump(mode="json")
