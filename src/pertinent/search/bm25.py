"""BM25 as sparse vectors: the lexical side of every index, computed in one place so that all stores agree.

A document's weights are term frequencies, saturated and normalised by length. The store multiplies them by
the inverse document frequency, which it alone knows.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import NamedTuple, Self
from zlib import crc32

from ..types import LANGUAGES
from .terms import Analyzer, cache_short_texts, split_text

K = 1.2
B = 0.5
AVERAGE_LENGTH = 128.0
VERSION = 4
"""Part of an index's fingerprint: increase it whenever the same text would give other weights."""

MAX_WEIGHT = K + 1
"""The limit of a term's weight as it is repeated, before the inverse document frequency."""


class SparseWeights(NamedTuple):
    """A sparse vector: a hash for each term, and its weight."""

    indices: list[int]
    values: list[float]


class Bm25:
    """Computes the sparse vectors of documents and queries in one language.

    Examples:
        >>> Bm25("english").query("the running nodes").values
        [1.0, 1.0]
    """

    def __init__(self, language: str = "english") -> None:
        self._analyzer = Analyzer(language)
        self._hash_piece = cache_short_texts(self._hash_terms)

    @classmethod
    def from_settings(cls, settings: str) -> Self:
        """Create the weights that an index with these settings has; English if they name no language."""
        language = settings.rpartition(" ")[2]
        return cls(language if language in LANGUAGES else "english")

    @property
    def language(self) -> str:
        """The language whose stems and stop words count."""
        return self._analyzer.language

    @property
    def settings(self) -> str:
        """What the vectors of an index depend on, for its fingerprint."""
        return f"bm25-{VERSION} k={K:g} b={B:g} avg={AVERAGE_LENGTH:g} {self.language}"

    def document(self, text: str) -> SparseWeights:
        """Return the weights of a document's terms."""
        hashed = list(map(self._hash_piece, split_text(text)))
        counts = Counter(chain.from_iterable(hashes for hashes, _ in hashed))
        saturation = K * (1 - B + B * sum(length for _, length in hashed) / AVERAGE_LENGTH)
        weights = {count: count * (K + 1) / (count + saturation) for count in set(counts.values())}
        return SparseWeights(list(counts), [weights[count] for count in counts.values()])

    def query(self, text: str) -> SparseWeights:
        """Return the terms of a query, each with weight one; none if it has only stop words."""
        terms = dict.fromkeys(self._hash_terms(text)[0])
        return SparseWeights(list(terms), [1.0] * len(terms))

    def _hash_terms(self, text: str) -> tuple[tuple[int, ...], int]:
        """Return a hash for each term of a text, and the number of its words."""
        terms, length = self._analyzer.terms_and_length(text)
        return tuple(crc32(term.encode()) for term in terms), length
