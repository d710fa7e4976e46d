"""The fields of a point, as every store keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ..identity import canonical_url
from ..ports import Entry
from ..types import Chunk, Filters

KEYWORDS = ("document_id", "headings", "url_parents", "source_type")
"""The fields that filters ask for, and so the ones that an index should index."""

_CHUNK_FIELDS = tuple(Chunk.__dataclass_fields__)
_EMPTY: Mapping[str, Any] = {
    **dict.fromkeys(_CHUNK_FIELDS, ""),
    **dict.fromkeys(("position", "start", "end"), -1),
}


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


def to_chunk(payload: Mapping[str, Any]) -> Chunk:
    """The chunk that a point of ours carries; what damage has taken from it is empty, and a number -1.

    A search goes on with the rest, and validation and `pertinent doctor` tell what is missing.
    """
    found: list[Any] = [payload.get(field) for field in _CHUNK_FIELDS]
    if None in found:
        found = [
            _EMPTY[field] if value is None else value
            for field, value in zip(_CHUNK_FIELDS, found, strict=True)
        ]
    return Chunk(*found)


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
