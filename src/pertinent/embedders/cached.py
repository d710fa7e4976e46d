"""A cache of query vectors: readers repeat queries, and refine them as they type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .._internal.cache import VersionedCache
from ..ports import Embedder, Vector


class CachedQueries:
    """An embedder that caches the vectors of its last queries; documents pass through."""

    def __init__(self, inner: Embedder, size: int) -> None:
        self.inner = inner
        self.name = inner.name
        self.model = inner.model
        self.max_tokens = inner.max_tokens
        self._vectors: VersionedCache[Vector] = VersionedCache(size)

    @property
    def dimension(self) -> int:
        # A hosted model may have to be asked for it, which a lexical search can do without.
        return self.inner.dimension

    def close(self) -> None:
        """Give back the connections of a hosted model."""
        if hasattr(self.inner, "close"):
            self.inner.close()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.inner.count_tokens(texts)

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        vectors = {text: vector for text in texts if (vector := self._vectors.get(text)) is not None}
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        for text, vector in zip(new, self.inner.embed_queries(new) if new else (), strict=True):
            vector.setflags(write=False)  # callers share it
            self._vectors.put(text, vector)
            vectors[text] = vector
        return [vectors[text] for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        return self.inner.embed_documents(texts)
