"""The sizes of the models that are known beforehand, so that opening an index asks nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Size(NamedTuple):
    """How long a model's vectors are, and the longest text that it reads whole."""

    dimension: int | None
    max_tokens: int


LOCAL: Mapping[str, Size] = {"all-MiniLM-L6-v2": Size(384, 256)}

COHERE: Mapping[str, Size] = {
    "embed-english-v3.0": Size(1024, 512),
    "embed-multilingual-v3.0": Size(1024, 512),
    "embed-english-light-v3.0": Size(384, 512),
    "embed-multilingual-light-v3.0": Size(384, 512),
    "embed-v4.0": Size(1536, 128_000),
}


def known_dimension(model: str) -> int | None:
    """How many elements the model's vectors have; None for a model that is not known beforehand."""
    size = {**LOCAL, **COHERE}.get(model)
    return size.dimension if size else None
