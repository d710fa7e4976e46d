"""A memory of the queries embedded last: readers ask the same things, and refine as they type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..memory import Memory
from ..ports import Embedder, Vector


class CachedQueries:
    """An embedder that remembers the vectors of its last queries; documents pass through."""

    def __init__(self, inner: Embedder, size: int) -> None:
        self.inner = inner
        self.name = inner.name
        self.model = inner.model
        self.max_tokens = inner.max_tokens
        self._vectors: Memory[Vector] = Memory(size)

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
        known = self._vectors.recall_all(texts, None)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        made = dict(zip(new, self.inner.embed_queries(new), strict=True)) if new else {}
        for vector in made.values():
            # Many callers will share it.
            vector.setflags(write=False)
        self._vectors.keep_all(made, None)
        both = known | made
        return [both[text] for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        return self.inner.embed_documents(texts)
