"""A memory of the queries embedded last: readers ask the same things, and refine as they type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..ports import Embedder, Vector


class CachedQueries:
    """An embedder that remembers the vectors of its last queries; documents pass through."""

    def __init__(self, inner: Embedder, size: int) -> None:
        self.inner = inner
        self.name = inner.name
        self.model = inner.model
        self.max_tokens = inner.max_tokens
        self._query = lru_cache(maxsize=size)(self._embed)

    @property
    def dimension(self) -> int:
        # A hosted model may have to be asked for it, which a lexical search can do without.
        return self.inner.dimension

    def close(self) -> None:
        """Give back the connections of a hosted model."""
        if hasattr(self.inner, "close"):
            self.inner.close()

    def _embed(self, text: str) -> Vector:
        vector = self.inner.embed_query(text)
        # Many callers will share it.
        vector.setflags(write=False)
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.inner.count_tokens(texts)

    def embed_query(self, text: str) -> Vector:
        return self._query(text)

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        return self.inner.embed_documents(texts)
