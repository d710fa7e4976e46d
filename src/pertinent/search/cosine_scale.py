"""Spread the cosines of a model, so that they mean the same for every model.

The cosines of some models lie between 0.5 and 0.9, even of texts that have nothing in common. Mixed with
other features as they are, they would hardly order anything, and every hit would pass a threshold. The
ranking `hybrid` therefore maps them linearly to the range that the default model has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..ports import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLE = 200
"""How many vectors of an index a scale is estimated from."""

MIN_SAMPLE = 20
"""The fewest vectors that an estimate needs."""

TYPICAL_MEAN = 0.25
TYPICAL_DEVIATION = 0.145
"""Mean and standard deviation of the cosines between passages of a book, with the default model.

They were measured on six books: the means are 0.02 to 0.43, the deviations 0.11 to 0.16.
"""

SMALLEST_DEVIATION = 0.01
"""Vectors that differ less than this are no basis for an estimate."""


class CosineScale(NamedTuple):
    """A linear map of cosines into [0, 1]."""

    factor: float = 1.0
    shift: float = 0.0

    def apply(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the cosines on the common scale."""
        return np.clip(self.factor * cosines + self.shift, 0.0, 1.0)


KNOWN_SCALES: Mapping[str, CosineScale] = {
    "local:all-MiniLM-L6-v2": CosineScale(),
    "local:bge-small-en-v1.5": CosineScale(2.2, -1.1),
}
"""The scales of models that were measured, by the name of the embedder."""


def estimate_scale(vectors: Sequence[Vector]) -> CosineScale:
    """Estimate the scale of a model from unit vectors of passages; plain cosines if they are too few.

    Examples:
        >>> estimate_scale([])
        CosineScale(factor=1.0, shift=0.0)
    """
    directed = [vector for vector in vectors if np.any(vector)]
    if len(directed) < MIN_SAMPLE:
        return CosineScale()
    matrix = np.stack(directed).astype(np.float64)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    cosines = (matrix @ matrix.T)[np.triu_indices(len(matrix), 1)]
    deviation = float(cosines.std())
    if deviation < SMALLEST_DEVIATION:
        return CosineScale()
    factor = TYPICAL_DEVIATION / deviation
    return CosineScale(factor, TYPICAL_MEAN - factor * float(cosines.mean()))
