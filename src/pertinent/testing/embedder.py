"""An embedder without a model: hashes words into a vector, so that texts with common words are similar.

It serves tests of everything but the model, and ranks sensibly: a fake that returns the same vector for
every text can't test ranking. Its entry point in pyproject.toml makes it available as
`testing:hashed-words`, which is also the way in which other packages add an embedder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

import numpy as np

from ..errors import SettingsError
from ..ports import Vector

_WORD = re.compile(r"\w+|[^\w\s]")


def create_embedder(model: str) -> HashedWords:
    """Create the embedder of the provider `testing`.

    Examples:
        >>> create_embedder("hashed-words").name
        'testing:hashed-words'
    """
    if model != HashedWords.model:
        raise SettingsError(f"embedder: must be {HashedWords.name}, not {f'testing:{model}'!r}")
    return HashedWords()


class HashedWords:
    """A bag of hashed words, as a vector of unit length."""

    name = "testing:hashed-words"
    model = "hashed-words"

    def __init__(self, dimension: int = 64, max_tokens: int = 256) -> None:
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.embedded = 0
        """How many documents were embedded."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count words and punctuation marks, and two special tokens."""
        return [len(_WORD.findall(text)) + 2 for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed queries in the same way as documents."""
        return [self._embed(text) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        """Yield a vector for each document, and count it."""
        for text in texts:
            self.embedded += 1
            yield self._embed(text)

    def _embed(self, text: str) -> Vector:
        vector = np.zeros(self.dimension, dtype=np.float32)
        for word in _WORD.findall(text.lower()):
            seed = hashlib.sha256(word.encode("utf-8", "replace")).digest()
            vector[int.from_bytes(seed[:4], "big") % self.dimension] += 1 if seed[4] % 2 else -1
        return vector / max(float(np.linalg.norm(vector)), 1e-12)
