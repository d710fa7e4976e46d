"""The fields of a point that another pipeline wrote: read where a shape says that they stand.

Reading is lenient where a value is only written otherwise (a number as text, a time in seconds) and never
fails: a point whose fields can't be what they should be is a `DamagedPoint` that names them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from ...identity import canonical_url, document_id, url_of_path
from ...limits import is_iso_8601
from ...types import Chunk, DamagedPoint, PointId, StoredPoint
from ..point_fields import find_problems, is_content_hash

Payload = Mapping[str, Any]

_REQUIRED = ("text", "url")
_NUMBERS = ("position", "start")
_MILLISECONDS = 1e11
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Shape:
    """Where each thing stands in a payload, as a dotted path; what has no place is not stored."""

    name: str
    fields: Mapping[str, str]
    position_base: int = 0
    base_url: str = ""
    """Below this address the source paths stand; without it they are files."""


def to_chunk(payload: Payload, point_id: PointId, shape: Shape) -> StoredPoint:
    """The chunk that a point carries, or what is wrong with its fields.

    Without a url it has the address of its `source_path`. Without an id of its own it has the point's, and
    without a document it is of the page at its address. Where it stands in its page's text is not known.
    """
    fields = _read_fields(payload, shape)
    stored_url, source_path = fields.get("url"), fields.get("source_path")
    if stored_url is None and isinstance(source_path, str):
        fields["url"] = url_of_path(source_path, shape.base_url) or None
    if fields.get("chunk_id") is None:
        fields["chunk_id"] = str(point_id)
    if problems := find_problems(fields, _REQUIRED, shape.fields):
        chunk_id = fields["chunk_id"]
        return DamagedPoint(point_id, chunk_id if isinstance(chunk_id, str) else "", problems)
    # All that is there has its type from here on.
    values: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    url, _, fragment = values["url"].partition("#")
    page_url = url if stored_url is not None else ""
    return Chunk(
        chunk_id=values["chunk_id"],
        document_id=values.get("document_id")
        or _page_of(page_url, values.get("source_path", ""), values["chunk_id"]),
        url=url,
        anchor=values.get("anchor") or fragment,
        title=values.get("title", ""),
        section=values.get("section", ""),
        position=values.get("position", -1),
        start=-1,
        end=-1,
        text=values["text"],
        content_hash=values.get("content_hash", ""),
        source_path=values.get("source_path", ""),
        slug=values.get("slug", ""),
        source_type=values.get("source_type", ""),
        created_at=values.get("created_at"),
    )


def _read_fields(payload: Payload, shape: Shape) -> dict[str, object]:
    fields = {name: read_field(name, value_at(payload, path)) for name, path in shape.fields.items()}
    position = fields.get("position")
    if isinstance(position, int) and not isinstance(position, bool):
        fields["position"] = position - shape.position_base
    if isinstance(fields.get("content_hash"), str) and not is_content_hash(fields["content_hash"]):
        # Another hash than SHA-256 is none that can be checked.
        fields["content_hash"] = None
    if "url" in fields and shape.fields["url"] == shape.fields.get("source_path"):
        # One field holds an address in one point and a file in the next.
        fields["source_path" if "://" in str(fields["url"]) else "url"] = None
    return fields


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


def read_field(name: str, value: object) -> object:
    """The value as the field should have it; None where it is empty, and as it is where it can't be read."""
    if isinstance(value, str):
        # LlamaIndex writes the word where a node has no document.
        text = "" if value.strip() == "None" and name != "text" else value.strip()
        value = (value if name == "text" else text) if text else None
    if name in _NUMBERS:
        number = number_of(value)
        # LangChain writes -1 where it did not find the passage in its page.
        return number if number >= 0 else None if name == "start" and value == -1 else value
    if name == "section" and isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " › ".join(part.strip() for part in value if part.strip()) or None
    if isinstance(value, bool) or name in ("text", "content_hash"):
        return value
    if name == "created_at" and isinstance(value, str | int | float):
        return _read_time(value) or value
    return str(value) if isinstance(value, int | float) else value


def words_of(name: str, value: object) -> str:
    """The value as text; empty where it can't be read as that."""
    text = read_field(name, value)
    return text if isinstance(text, str) else ""


def number_of(value: object) -> int:
    """A value as a number from 0 on; -1 where it is none."""
    if isinstance(value, bool):
        return -1
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and len(value) <= _DIGITS and value.isdecimal():
        value = int(value)
    return value if isinstance(value, int) and value >= 0 else -1


def _read_time(value: str | float) -> str:
    """A stored time as ISO 8601 in UTC, ending in Z; empty where the value is no time.

    A time without a zone is taken for UTC, a number for seconds or milliseconds since 1970.
    """
    try:
        if isinstance(value, str):
            # Python's `str(datetime)` writes a space for the T.
            text = value.replace(" ", "T", 1)
            if not is_iso_8601(text):
                return ""
            moment = datetime.fromisoformat(text)
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        else:
            seconds = value / 1000 if abs(value) > _MILLISECONDS else value
            moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=0)
    except (OverflowError, ValueError, OSError):
        return ""
    return moment.isoformat().replace("+00:00", "Z")


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
