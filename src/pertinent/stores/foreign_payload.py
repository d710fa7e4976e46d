"""The fields of a point that another pipeline wrote: read where a shape says that they stand.

Reading never fails, whatever the point is like: what is not there is empty, and a number -1. A search
goes on with the rest, and validation and `pertinent inspect` tell what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from ..identity import canonical_url, document_id
from ..types import Chunk, PointId

Payload = Mapping[str, Any]

_MILLISECONDS = 1e11
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Shape:
    """Where each thing stands in a payload, as a dotted path; what has no place is not stored."""

    name: str
    fields: Mapping[str, str]
    position_base: int = 0


def to_chunk(payload: Payload, point_id: PointId, shape: Shape) -> Chunk:
    """The chunk that a point carries; where it stands in its page's text is not known.

    Without an id of its own it has the point's, and without a document it is of the page at its address.
    """

    def words(name: str) -> str:
        return words_of(name, value_at(payload, shape.fields.get(name)))

    url, _, fragment = words("url").partition("#")
    chunk_id = words("chunk_id") or str(point_id)
    source_path = words("source_path")
    return Chunk(
        chunk_id=chunk_id,
        document_id=words("document_id") or _page_of(url, source_path, chunk_id),
        url=url,
        anchor=words("anchor") or fragment,
        title=words("title"),
        section=words("section"),
        position=_position(payload, shape),
        start=-1,
        end=-1,
        text=words("text"),
        content_hash=words("content_hash"),
        source_path=source_path,
        slug=words("slug"),
        source_type=words("source_type"),
        created_at=words("created_at"),
    )


def start_of(payload: Payload, shape: Shape) -> int:
    """Where the passage began in the text that it was cut from; -1 where that is not stored."""
    return number_of(value_at(payload, shape.fields.get("start")))


def value_at(payload: object, path: str | None) -> object:
    """What stands at a dotted path; JSON that is kept as text is looked into."""
    if path is None:
        return None
    here = payload
    for step in path.split("."):
        if isinstance(here, str):
            here = parsed(here)
        if not isinstance(here, Mapping):
            return None
        here = here.get(step)
    return here


def parsed(text: str) -> object:
    """The JSON object in a text; None where it holds none."""
    try:
        return orjson.loads(text) if text.startswith("{") else None
    except ValueError:
        return None


def words_of(name: str, value: object) -> str:
    """A value as the text of the thing that it is; nothing where it can't be that."""
    if isinstance(value, str):
        if name == "text":
            return value
        # LlamaIndex writes the word where a node has no document.
        return "" if value == "None" else value.strip()
    if isinstance(value, bool) or name == "text":
        return ""
    if isinstance(value, int | float):
        return _time(value) if name == "created_at" else str(value)
    if name == "section" and isinstance(value, list):
        return " › ".join(one.strip() for one in value if isinstance(one, str) and one.strip())
    return ""


def number_of(value: object) -> int:
    """A value as a number from 0 on; -1 where it is none."""
    if isinstance(value, bool):
        return -1
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and len(value) <= _DIGITS and value.isdecimal():
        value = int(value)
    return value if isinstance(value, int) and value >= 0 else -1


def _position(payload: Payload, shape: Shape) -> int:
    return max(-1, number_of(value_at(payload, shape.fields.get("position"))) - shape.position_base)


def _time(value: float) -> str:
    """A number of seconds or milliseconds since 1970 as ISO 8601."""
    try:
        seconds = value / 1000 if abs(value) > _MILLISECONDS else value
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return ""


def _page_of(url: str, source_path: str, chunk_id: str) -> str:
    """The id of the page that an address or a path names; a chunk without either is a page of its own."""
    key = _canonical(url) or source_path or f"point {chunk_id}"
    key = key.encode("utf-8", "replace").decode()
    return document_id(key, key.rstrip("/").rpartition("/")[2] or "page")


def _canonical(url: str) -> str:
    try:
        return canonical_url(url) if url else ""
    except ValueError:
        return url
