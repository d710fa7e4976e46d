"""Checksums of stored vectors, which find bytes that a disk has changed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Id = TypeVar("Id", bound=Hashable)

CHECKSUM_FIELD = "vector_checksum"
"""The payload field with the checksum of the point's dense vector."""


def normalize_vector(vector: NDArray[Any]) -> NDArray[np.float32]:
    """Scale a vector to length 1. Qdrant stores such a vector bit for bit; others it scales itself."""
    exact = np.asarray(vector, np.float64)
    length = float(np.linalg.norm(exact))
    # Adding 0.0 turns -0.0 into 0.0.
    return (exact / (length or 1.0) + 0.0).astype(np.float32)


def compute_checksum(vector: NDArray[np.float32]) -> str:
    """Return the CRC-32 of a vector's bytes, 8 hex digits."""
    return f"{crc32(np.ascontiguousarray(vector, '<f4').tobytes()):08x}"


def find_mismatches(vectors: Mapping[Id, NDArray[np.float32]], checksums: Mapping[Id, str]) -> list[Id]:
    """Return the ids of the vectors that do not match their checksums; one without is not checked."""
    return [
        name
        for name, vector in vectors.items()
        if name in checksums and compute_checksum(vector) != checksums[name]
    ]
