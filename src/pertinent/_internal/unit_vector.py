"""Scaling of vectors to length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def scale_to_unit(vector: NDArray[Any]) -> NDArray[np.float32]:
    """Scale a vector to length 1, however long or short it is; raise ValueError if it is all zeros."""
    exact = vector.astype(np.float64)
    largest = float(np.abs(exact).max())
    if not largest:
        raise ValueError("a vector of zeros")
    # Divided by its largest element first, so that no square overflows or underflows.
    exact /= largest
    return np.asarray(exact / np.linalg.norm(exact), dtype=np.float32)
