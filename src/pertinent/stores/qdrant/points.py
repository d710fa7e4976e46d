"""Point ids and conditions in the types of qdrant-client."""

from __future__ import annotations

from uuid import UUID

from qdrant_client import models

from ...types import PointId


def match_field(key: str, value: str) -> models.FieldCondition:
    """Return the condition that a payload field has a value."""
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def format_point_id(point: PointId) -> str | int:
    """Format a point's id for JSON."""
    return point if isinstance(point, int) else str(point)


def parse_point_id(name: str | int | UUID) -> PointId:
    """Parse a point's id from JSON."""
    return UUID(name) if isinstance(name, str) else name
