"""An embedder without a model: words hashed into a vector, so that texts that share words are near.

For tests of everything but the model. Its vectors rank sensibly, unlike those of a fake that gives
every text the same one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

import numpy as np

from ..ports import Vector

_WORD = re.compile(r"\w+|[^\w\s]")


class HashedWords:
    """A bag of hashed words, at unit length."""

    name = "testing:hashed-words"
    model = "hashed-words"

    def __init__(self, dimension: int = 64, max_tokens: int = 256) -> None:
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.embedded = 0
        """How many documents it was asked to embed."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(_WORD.findall(text)) + 2 for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        return [self._embed(text) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        for text in texts:
            self.embedded += 1
            yield self._embed(text)

    def _embed(self, text: str) -> Vector:
        vector = np.zeros(self.dimension, dtype=np.float32)
        for word in _WORD.findall(text.lower()):
            seed = hashlib.sha256(word.encode("utf-8", "replace")).digest()
            vector[int.from_bytes(seed[:4], "big") % self.dimension] += 1 if seed[4] % 2 else -1
        return vector / max(float(np.linalg.norm(vector)), 1e-12)
