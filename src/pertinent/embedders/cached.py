"""A memory of the queries embedded last: readers ask the same things, and refine as they type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..ports import Embedder, Vector


class CachedQueries:
    """An embedder that remembers the vectors of its last queries; documents pass through."""

    def __init__(self, inner: Embedder, size: int) -> None:
        self._inner = inner
        self.name = inner.name
        self.model = inner.model
        self.dimension = inner.dimension
        self.max_tokens = inner.max_tokens
        self._query = lru_cache(maxsize=size)(self._embed)

    def _embed(self, text: str) -> Vector:
        vector = self._inner.embed_query(text)
        # Many callers will share it.
        vector.setflags(write=False)
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    def embed_query(self, text: str) -> Vector:
        return self._query(text)

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        return self._inner.embed_documents(texts)
