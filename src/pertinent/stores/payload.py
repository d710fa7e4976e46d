"""The fields of a point, as every store keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ..identity import canonical_url, point_id, shorten
from ..ports import Entry
from ..types import Chunk, DamagedPoint, Filters, PointId, StoredPoint
from .point_fields import find_problems

KEYWORDS = ("document_id", "headings", "url_parents", "source_type")
"""The fields that filters ask for, and so the ones that an index should index."""

_CHUNK_FIELDS = tuple(Chunk.__dataclass_fields__)
_REQUIRED = frozenset(
    ("chunk_id", "document_id", "url", "position", "text", "content_hash", "headings", "url_parents")
)
"""What no point of ours lacks: without these it can't be cited, checked, or found by a filter."""
_UNKNOWN: Mapping[str, Any] = {"start": -1, "end": -1, "created_at": None}
"""What a field that is missing is read as; any other is then empty."""


def to_payload(entry: Entry) -> dict[str, Any]:
    """All that the seeds expect of a point, and what our filters need beside it."""
    chunk = entry.chunk
    return {
        **{field: getattr(chunk, field) for field in _CHUNK_FIELDS},
        "order_index": chunk.position + 1,
        "headings": _headings(chunk.section),
        "url_parents": _parents(chunk.url),
        "source": entry.source,
        "embedding_key": entry.embedding_key,
    }


def to_chunk(payload: Mapping[str, Any], point: PointId) -> StoredPoint:
    """The chunk that a point of ours carries, or what is wrong with its fields."""
    problems = find_problems(payload, _REQUIRED)
    chunk_id = payload.get("chunk_id")
    if not problems and point_id(payload["chunk_id"]) != point:
        problems = (f"chunk_id is {shorten(repr(chunk_id), 60)}, not the one that the point was made from",)
    if problems:
        return DamagedPoint(point, chunk_id if isinstance(chunk_id, str) else "", problems)
    values: list[Any] = [payload.get(field) for field in _CHUNK_FIELDS]
    if None in values:
        values = [
            _UNKNOWN.get(field, "") if value is None else value
            for field, value in zip(_CHUNK_FIELDS, values, strict=True)
        ]
    return Chunk(*values)


def conditions(filters: Filters) -> dict[str, str]:
    """Filters as exact matches of payload fields."""
    wanted = {
        "document_id": filters.document_id,
        "headings": filters.section,
        "url_parents": canonical_url(filters.url) if filters.url else None,
        "source_type": filters.source_type,
    }
    return {field: value for field, value in wanted.items() if value}


def _headings(section: str) -> list[str]:
    """Each heading above the chunk, and the whole path: a section may be asked for by either."""
    names = section.split(" › ") if section else []
    return list(dict.fromkeys([*names, section])) if names else []


def _parents(url: str) -> list[str]:
    """The page's address and every address above it."""
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}"
    steps = [step for step in parts.path.split("/") if step]
    above = [f"{root}/{'/'.join(steps[: n + 1])}" for n in range(len(steps))]
    return list(dict.fromkeys([f"{root}/", *above, canonical_url(url)]))
