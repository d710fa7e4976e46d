"""The requests of the embedded index to Qdrant Edge: points, filters and search parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast
from uuid import UUID

import qdrant_edge as qdrant

from .._internal.vector_checksum import CHECKSUM_FIELD, compute_checksum, normalize_vector
from ..identity import point_id
from ..ports import Entry, Vector
from ..search.bm25 import Bm25
from ..types import Filters, PointId
from .candidates import DENSE, LEXICAL, SideQuery
from .payload import filter_conditions, to_payload

SEARCH_EFFORT = 512
"""How many vectors a search in the graph keeps in view. Of 100,000, 256 would miss 3 of the nearest 100."""

OVERSAMPLING = 2.0
"""How many candidates of the 8-bit vectors are scored with the exact vectors, per hit."""


def search_params(query: SideQuery) -> qdrant.SearchParams:
    """Return the parameters of a search by vector."""
    oversampling = 1.0 if query.among else OVERSAMPLING
    exact_scores = qdrant.QuantizationSearchParams(rescore=True, oversampling=oversampling)
    return qdrant.SearchParams(hnsw_ef=SEARCH_EFFORT, quantization=exact_scores)


def make_point(entry: Entry, vector: Vector, bm25: Bm25) -> qdrant.Point:
    """Return the point of an entry."""
    terms = qdrant.SparseVector(*bm25.document(entry.embedded_text))
    dense = normalize_vector(vector)
    payload = {**to_payload(entry), CHECKSUM_FIELD: compute_checksum(dense)}
    return qdrant.Point(point_id(entry.chunk.chunk_id), {DENSE: dense.tolist(), LEXICAL: terms}, payload)


def read_id(point: qdrant.ScoredPoint | qdrant.Record) -> UUID:
    """Return the id of a point; Qdrant's type allows for numbers, too, but our points have UUIDs."""
    return cast("UUID", point.id)


def match_field(field: str, value: str) -> qdrant.FieldCondition:
    """Return the condition that a field has a value."""
    return qdrant.FieldCondition(key=field, match=qdrant.MatchValue(value))


def make_filter(filters: Filters) -> qdrant.Filter | None:
    """Return the filter of a search; None if every point is allowed."""
    matches = filter_conditions(filters)
    return (
        qdrant.Filter(must=[match_field(field, value) for field, value in matches.items()])
        if matches
        else None
    )


def match_ids(points: Sequence[PointId]) -> qdrant.Filter:
    """Return the filter that allows only these points."""
    return qdrant.Filter(must=[qdrant.HasIdCondition(set(points))])
