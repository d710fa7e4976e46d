"""Query vectors that a caller passes: checked, and scaled to unit length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._internal.unit_vector import scale_to_unit
from ..errors import DimensionMismatch, InvalidInput
from ..ports import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_numbers(field: str, vector: Sequence[float] | Vector) -> NDArray[Any]:
    """Return the vector as an array; raise InvalidInput unless it is one flat list of finite numbers."""
    try:
        array = np.asarray(vector)
    except ValueError as error:
        raise InvalidInput(field, "must be a list of numbers") from error
    if array.dtype.kind not in "fiu" and array.size:
        raise InvalidInput(field, "must be a list of numbers")
    if array.ndim != 1:
        raise InvalidInput(field, "must be one flat list of numbers")
    # Among numbers, numpy takes true for 1.
    if array is not vector and any(isinstance(value, bool) for value in vector):
        raise InvalidInput(field, "must be a list of numbers")
    if not np.isfinite(array).all():
        raise InvalidInput(field, "contains a value that is not a finite number")
    return array


def normalize_vector(vector: Sequence[float] | Vector, dimension: int) -> Vector:
    """Check a query vector and scale it to unit length.

    Raises:
        DimensionMismatch: It has another number of elements than the index.
        InvalidInput: It is not a flat list of finite numbers, or holds only zeros.

    """
    array = check_numbers("query_embedding", vector)
    if len(array) != dimension:
        raise DimensionMismatch(len(array), dimension)
    # A cosine does not depend on a vector's length; Qdrant fails on very long and very short ones.
    try:
        return scale_to_unit(array)
    except ValueError:
        problem = "must not be all zeros, since such a vector has no direction"
        raise InvalidInput("query_embedding", problem) from None
