"""A cache of query vectors: people repeat queries, and search boxes send them while people type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .._internal.cache import VersionedCache
from ..ports import Embedder, Vector


class CachedQueries:
    """An embedder that caches the vectors of its last queries, but not those of documents.

    Args:
        inner: The embedder that is asked for vectors.
        size: How many vectors are cached.
    """

    def __init__(self, inner: Embedder, size: int) -> None:
        self.inner = inner
        self.name = inner.name
        self.model = inner.model
        self.max_tokens = inner.max_tokens
        self._vectors: VersionedCache[Vector] = VersionedCache(size)

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        # Read when needed: a hosted model may have to be asked, which a lexical search does without.
        return self.inner.dimension

    def close(self) -> None:
        """Close the connections of a hosted model."""
        if hasattr(self.inner, "close"):
            self.inner.close()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        return self.inner.count_tokens(texts)

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text; only those that are not cached are embedded."""
        vectors = {text: vector for text in texts if (vector := self._vectors.get(text)) is not None}
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        for text, vector in zip(new, self.inner.embed_queries(new) if new else (), strict=True):
            vector.setflags(write=False)  # callers share the array
            self._vectors.put(text, vector)
            vectors[text] = vector
        return [vectors[text] for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        """Yield a vector for each text, in order."""
        return self.inner.embed_documents(texts)
