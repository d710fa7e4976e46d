"""BM25 as a sparse vector: the lexical side of every index, made in one place so that all agree.

The weights are term frequencies, saturated and normalised by length; the store multiplies them by
the inverse document frequency, which it alone knows.
"""

from __future__ import annotations

from qdrant_edge import Bm25, Bm25Config, SparseVector

K = 1.2
B = 0.5
AVERAGE_LENGTH = 128.0
LANGUAGE = "english"

SETTINGS = f"bm25 k={K:g} b={B:g} avg={AVERAGE_LENGTH:g} {LANGUAGE}"

_MODEL = Bm25(Bm25Config(k=K, b=B, avg_len=AVERAGE_LENGTH, language=LANGUAGE))


def document(text: str) -> SparseVector:
    """The weights of a document's terms."""
    return _MODEL.embed_document(text)


def query(text: str) -> SparseVector:
    """The terms of a query, each with weight one; none where it has only stop words."""
    return _MODEL.embed_query(text)
