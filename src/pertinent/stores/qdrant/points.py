"""Point ids and conditions in the types of qdrant-client."""

from __future__ import annotations

import math
from collections.abc import Iterable
from uuid import UUID

from qdrant_client import models

from ...errors import IndexFailure
from ...identity import shorten
from ...types import PointId


def match_field(key: str, value: str) -> models.FieldCondition:
    """Return the condition that a payload field has a value."""
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def format_point_id(point: PointId) -> str | int:
    """Format a point's id for JSON."""
    return point if isinstance(point, int) else str(point)


def parse_point_id(name: str | int | UUID) -> PointId:
    """Parse a point's id from JSON; raise IndexFailure if it is neither a UUID nor a number."""
    try:
        return UUID(name) if isinstance(name, str) else name
    except ValueError:
        raise IndexFailure(
            f"the Qdrant server sent a point with the id {shorten(str(name), 60)!r}, which is no UUID"
        ) from None


def read_scores(points: Iterable[models.ScoredPoint]) -> dict[PointId, float]:
    """Return the score of each point; raise IndexFailure for one that is not a finite number."""
    scores = {parse_point_id(point.id): point.score for point in points}
    for point, score in scores.items():
        if not math.isfinite(score):
            raise IndexFailure(f"the Qdrant server sent the score {score} for the point {point}")
    return scores
