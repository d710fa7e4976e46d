"""BM25 as sparse vectors, the same for every index.

The weights are term frequencies, saturated and normalised by length. The store multiplies them by the inverse
document frequency, which only the store knows.
"""

from __future__ import annotations

from qdrant_edge import Bm25, Bm25Config, SparseVector

K = 1.2
B = 0.5
AVERAGE_LENGTH = 128.0
LANGUAGE = "english"

SETTINGS = f"bm25 k={K:g} b={B:g} avg={AVERAGE_LENGTH:g} {LANGUAGE}"

_MODEL = Bm25(Bm25Config(k=K, b=B, avg_len=AVERAGE_LENGTH, language=LANGUAGE))


def embed_document(text: str) -> SparseVector:
    """Return the weights of a document's terms."""
    return _MODEL.embed_document(text)


def embed_query(text: str) -> SparseVector:
    """Return the terms of a query, each with weight 1; none if it has only stop words."""
    return _MODEL.embed_query(text)
