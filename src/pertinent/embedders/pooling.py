"""How a sentence model turns its states into a vector, and which prompts it was trained with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..ports import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pooling = Literal["cls", "mean", "lasttoken"]
"""Which states make the vector: that of the first token, the mean of all, or that of the last token."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """Pooling and prompts of a model."""

    pooling: Pooling = "mean"
    query_prompt: str = ""
    """Text before each query."""

    document_prompt: str = ""
    """Text before each document."""

    pools_prompt: bool = True
    """Whether the tokens of the prompt count in the mean."""


def pool_states(
    states: NDArray[Any], lengths: Sequence[int], pooling: Pooling, skipped: int = 0
) -> list[Vector]:
    """Return a vector of unit length for each text of a batch that is padded on the right.

    Args:
        states: The model's last layer, texts × tokens × dimension.
        lengths: The number of tokens of each text.
        pooling: Which states make the vector.
        skipped: How many tokens at the beginning of each text do not count in the mean.
    """
    if pooling == "cls":
        return [normalize(row[0]) for row in states]
    if pooling == "lasttoken":
        return [normalize(row[length - 1]) for row, length in zip(states, lengths, strict=True)]
    return [
        normalize(row[min(skipped, length - 1) : length].mean(axis=0))
        for row, length in zip(states, lengths, strict=True)
    ]


def normalize(vector: NDArray[Any]) -> Vector:
    """Return the vector at unit length."""
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12), np.float32)
