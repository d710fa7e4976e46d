"""Sizes and revisions of well-known models, so that opening an index needs no request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Size(NamedTuple):
    """Length of a model's vectors, and the longest text that it reads in full."""

    dimension: int | None
    max_tokens: int


LOCAL: Mapping[str, Size] = {"all-MiniLM-L6-v2": Size(384, 256), "bge-small-en-v1.5": Size(384, 512)}

REVISIONS: Mapping[str, int] = {"local:all-MiniLM-L6-v2": 2}
"""Part of an index's fingerprint: increase a number whenever the model gives other vectors than before.

MiniLM's first revision multiplied floats, its second one multiplies integers.
"""

COHERE: Mapping[str, Size] = {
    "embed-english-v3.0": Size(1024, 512),
    "embed-multilingual-v3.0": Size(1024, 512),
    "embed-english-light-v3.0": Size(384, 512),
    "embed-multilingual-light-v3.0": Size(384, 512),
    "embed-v4.0": Size(1536, 128_000),
}


def lookup_dimension(model: str) -> int | None:
    """Return the length of the model's vectors, or None for a model that is not listed here."""
    size = {**LOCAL, **COHERE}.get(model)
    return size.dimension if size else None


def lookup_revision(embedder: str) -> int:
    """Return the revision of an embedder's model: 1, unless its vectors have changed since."""
    return REVISIONS.get(embedder, 1)
