"""The payload of a point, the same in every store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from ..identity import canonical_url, point_id, shorten
from ..ports import Entry
from ..types import SECTION_SEPARATOR, Chunk, DamagedPoint, Filters, PointId, StoredPoint
from .payload_checks import find_problems, text_or_empty

KEYWORDS = ("document_id", "headings", "url_parents", "source_type")
"""The fields that filters use, which every store therefore indexes."""

_FILTER_NAMES = {"headings": "section", "url_parents": "url"}
"""The filters whose fields have other names."""

_CHUNK_FIELDS = tuple(Chunk.__dataclass_fields__)
_REQUIRED = frozenset(
    ("chunk_id", "document_id", "url", "position", "text", "content_hash", "headings", "url_parents")
)
"""The fields without which a point can't be cited, checked, or found by a filter."""
_MISSING: Mapping[str, Any] = {"start": -1, "end": -1, "created_at": None}
"""The values of missing fields; any other missing field is empty."""


def to_payload(entry: Entry) -> dict[str, Any]:
    """Build the payload: the fields that the seeds require, and those that filters and syncs use."""
    chunk = entry.chunk
    return {
        **{field: getattr(chunk, field) for field in _CHUNK_FIELDS},
        "order_index": chunk.position + 1,
        "headings": _headings(chunk.section),
        "url_parents": _url_parents(chunk.url),
        "source": entry.source,
        "embedding_key": entry.embedding_key,
    }


def to_chunk(payload: Mapping[str, Any], point: PointId) -> StoredPoint:
    """Read the chunk of one of our points, or what is wrong with its fields."""
    problems = find_problems(payload, _REQUIRED)
    chunk_id, document_id = payload.get("chunk_id"), payload.get("document_id")
    if not problems and point_id(payload["chunk_id"]) != point:
        problems = (f"chunk_id is {shorten(repr(chunk_id), 60)}, which has another point id",)
    if problems:
        return DamagedPoint(point, text_or_empty(chunk_id), text_or_empty(document_id), problems)
    values: list[Any] = list(map(payload.get, _CHUNK_FIELDS))
    if None in values:
        values = [
            _MISSING.get(field, "") if value is None else value
            for field, value in zip(_CHUNK_FIELDS, values, strict=True)
        ]
    return Chunk(*values)


def filter_conditions(filters: Filters) -> dict[str, str]:
    """Translate filters to exact matches of payload fields."""
    matches = {
        "document_id": filters.document_id,
        "headings": filters.section,
        "url_parents": canonical_url(filters.url) if filters.url else None,
        "source_type": filters.source_type,
    }
    return {field: value for field, value in matches.items() if value}


def matches_filters(chunk: Chunk, filters: Filters) -> bool:
    """Return whether a search with the filters may return the chunk."""
    return (
        (not filters.document_id or filters.document_id == chunk.document_id)
        and (not filters.section or filters.section in _headings(chunk.section))
        and (not filters.url or is_at_or_below(chunk.url, filters.url))
        and (not filters.source_type or filters.source_type == chunk.source_type)
    )


def is_at_or_below(url: str, page_url: str) -> bool:
    """Return whether an address is that of a page, or of a page below it."""
    page = canonical_url(page_url)
    try:
        address = canonical_url(url)
    except ValueError:
        return False
    return address == page or address.startswith((page.rstrip("/") + "/", page + "?"))


def find_damaged_filters(
    chunks: Iterable[Chunk], count_values: Callable[[str, int], Mapping[str, int]]
) -> list[str]:
    """Return the names of the filters that miss some of the chunks.

    Args:
        chunks: Chunks in the index.
        count_values: Counts the points of each value of a field, as its index has them. Its second argument
            is how many values it returns.
    """
    expected: dict[str, Counter[str]] = {field: Counter() for field in KEYWORDS}
    for chunk in chunks:
        expected["document_id"][chunk.document_id] += 1
        if chunk.source_type:  # a point may lack it
            expected["source_type"][chunk.source_type] += 1
        expected["headings"].update(_headings(chunk.section))
        expected["url_parents"].update(_url_parents(chunk.url))
    damaged = []
    for field, counts in expected.items():
        # Damaged points, which are no chunks, have values of their own.
        counted = count_values(field, 2 * len(counts) + 1000) if counts else {}
        if any(counted.get(value, 0) < count for value, count in counts.items()):
            damaged.append(_FILTER_NAMES.get(field, field))
    return damaged


def _headings(section: str) -> list[str]:
    """List each heading above the chunk and the whole path: a filter may use either."""
    names = section.split(SECTION_SEPARATOR) if section else []
    return list(dict.fromkeys([*names, section])) if names else []


def _url_parents(url: str) -> list[str]:
    """List the page's address and every address above it."""
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}"
    steps = [step for step in parts.path.split("/") if step]
    above = [f"{root}/{'/'.join(steps[: n + 1])}" for n in range(len(steps))]
    return list(dict.fromkeys([f"{root}/", *above, canonical_url(url)]))
