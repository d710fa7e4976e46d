"""What all hosted embedders share: batching, concurrency, retries, the rate limit, checked vectors.

An adapter implements `_request`, which sends one request.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .._internal.concurrency import map_ahead
from .._internal.hosted.endpoint import Endpoint
from .._internal.hosted.retries import DOCUMENT_RETRY, QUERY_RETRY, RetryPolicy
from .._internal.unit_vector import scale_to_unit
from ..errors import EmbedderError
from ..ports import Vector
from .token_rate_limit import TokenRateLimit, estimate_tokens

InputKind = Literal["query", "document"]


@dataclass(frozen=True, slots=True)
class HostedOptions:
    """How a hosted service is used."""

    concurrency: int = 3
    """How many batches are in flight at a time; a killed run loses at most these."""
    tokens_per_minute: int | None = None
    """Rate limit for documents; None sets no limit."""
    queries: RetryPolicy = QUERY_RETRY
    documents: RetryPolicy = DOCUMENT_RETRY


class HostedEmbedder(ABC):
    """An embedder behind HTTP. Thread-safe.

    Args:
        name: `provider:model`, as in the settings.
        endpoint: The service.
        dimension: Length of the vectors; None learns it from the first response.
        max_tokens: The longest text that the model reads in full.
        batch_size: The most texts in one request.
        options: Concurrency, rate limit and retries.
    """

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        *,
        dimension: int | None,
        max_tokens: int,
        batch_size: int,
        options: HostedOptions,
    ) -> None:
        self.name = name
        self.model = endpoint.model
        self.max_tokens = max_tokens
        self._endpoint = endpoint
        self._batch_size = batch_size
        self._options = options
        self._dimension = dimension
        self._dimension_lock = threading.Lock()
        self._rate_limit = TokenRateLimit(options.tokens_per_minute)

    @abstractmethod
    def _request(self, texts: Sequence[str], kind: InputKind, timeout: float) -> object:
        """Send one request; return what should be a list of vectors, in the order of the texts."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections."""

    @property
    def dimension(self) -> int:
        """Length of the vectors; an unknown length is learned from one request."""
        if self._dimension is None:
            self._embed(["dimension"], "document", threading.Event())
        assert self._dimension is not None  # noqa: S101 - every response sets it
        return self._dimension

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return an estimate for each text, since only the service has the tokenizer."""
        return [estimate_tokens(text) for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text, from as few requests as possible."""
        return [
            vector
            for batch in self._batches(texts)
            for vector in self._embed(batch, "query", threading.Event())
        ]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        """Yield a vector for each text, in order, with at most `concurrency` batches requested ahead."""
        cancelled = threading.Event()
        pool = ThreadPoolExecutor(self._options.concurrency, thread_name_prefix="embedding")

        def embed(batch: Sequence[str]) -> list[Vector]:
            return self._embed(batch, "document", cancelled)

        try:
            for vectors in map_ahead(pool, embed, self._batches(texts), ahead=self._options.concurrency):
                yield from vectors
        finally:
            # The caller stopped reading: requests in flight end with their current attempt.
            cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _batches(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        return (texts[start : start + self._batch_size] for start in range(0, len(texts), self._batch_size))

    def _embed(self, texts: Sequence[str], kind: InputKind, cancelled: threading.Event) -> list[Vector]:
        """Return the vectors of one batch, with retries."""
        policy = self._options.queries if kind == "query" else self._options.documents

        def request() -> list[Vector]:
            # A query is small and somebody waits for it: it does not wait for the rate limit.
            if kind == "document":
                self._rate_limit.spend(sum(self.count_tokens(texts)), cancelled)
            if cancelled.is_set():
                raise EmbedderError("cancelled: the caller stopped reading vectors")
            return self._check_vectors(self._request(texts, kind, policy.timeout), len(texts))

        return policy.call(request)

    def _check_vectors(self, embeddings: object, count: int) -> list[Vector]:
        try:
            vectors = unit_vectors(embeddings, count)
        except ValueError as error:
            raise self._endpoint.content_error(str(error)) from None
        with self._dimension_lock:
            dimension = self._dimension or vectors[0].size
            for vector in vectors:
                if vector.size != dimension:
                    problem = f"a vector with {vector.size} elements instead of {dimension}"
                    raise self._endpoint.content_error(problem)
            self._dimension = dimension
        return vectors

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def unit_vectors(embeddings: object, count: int) -> list[Vector]:
    """Return the embeddings of a response as vectors of unit length.

    Args:
        embeddings: What the service sent in place of a list of vectors.
        count: How many vectors there should be.

    Raises:
        ValueError: The response has another form; the message says which.
    """
    if not isinstance(embeddings, list):
        raise ValueError("a response without embeddings")
    if len(embeddings) != count:
        raise ValueError(f"{len(embeddings)} vectors for {count} texts")
    return [_unit_vector(embedding) for embedding in embeddings]


def _unit_vector(embedding: object) -> Vector:
    try:
        with np.errstate(invalid="ignore"):
            vector = np.asarray(embedding, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("a vector with elements that are not numbers") from None
    if vector.ndim != 1 or not vector.size:
        raise ValueError("an embedding that is not a list of numbers")
    if not np.isfinite(vector).all():
        raise ValueError("a vector with NaN or infinity in it")
    return scale_to_unit(vector)
