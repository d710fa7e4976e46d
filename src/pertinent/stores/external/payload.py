"""Read the fields of a point of another pipeline, at the paths that its payload format names.

Values in another notation are converted (a number as text, a time in seconds). Reading never fails: a point
with unusable fields is a `DamagedPoint` that names them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from ...identity import canonical_url, document_id, url_of_path
from ...limits import is_iso_8601
from ...types import NAME_MAX, SECTION_SEPARATOR, Chunk, DamagedPoint, PointId, StoredPoint
from ..payload_checks import find_problems, is_content_hash, text_or_empty

Payload = Mapping[str, Any]

_REQUIRED = ("text", "url")
_NUMBERS = ("position", "start")
_MILLISECONDS = 1e11
"""Numbers above this are times in milliseconds, not seconds."""
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class PayloadFormat:
    """The dotted path of each field in a payload; a field without a path is not stored."""

    name: str
    fields: Mapping[str, str]
    position_base: int = 0
    base_url: str = ""
    """The address to which source paths are relative; without it they are files."""


def to_chunk(payload: Payload, point_id: PointId, payload_format: PayloadFormat) -> StoredPoint:
    """Read the chunk of a point, or what is wrong with its fields.

    A missing url is derived from `source_path`, a missing chunk id is the point's id, and a missing document
    id is derived from the url. The span in the page's text is unknown. A title or section
    longer than NAME_MAX is cut, and a longer anchor is dropped, as in an index of Pertinent.
    """
    fields = _read_fields(payload, payload_format)
    stored_url, source_path = fields.get("url"), fields.get("source_path")
    if stored_url is None and isinstance(source_path, str):
        fields["url"] = url_of_path(source_path, payload_format.base_url) or None
    if fields.get("chunk_id") is None:
        fields["chunk_id"] = str(point_id)
    if problems := find_problems(fields, _REQUIRED, payload_format.fields):
        chunk_id, document_id = fields["chunk_id"], fields.get("document_id")
        return DamagedPoint(point_id, text_or_empty(chunk_id), text_or_empty(document_id), problems)
    # find_problems has checked the type of every value.
    values: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    url, _, fragment = values["url"].partition("#")
    page_url = url if stored_url is not None else ""
    anchor = values.get("anchor") or fragment
    return Chunk(
        chunk_id=values["chunk_id"],
        document_id=values.get("document_id")
        or _derive_document_id(page_url, values.get("source_path", ""), values["chunk_id"]),
        url=url,
        anchor=anchor if len(anchor) <= NAME_MAX else "",
        title=values.get("title", "")[:NAME_MAX],
        section=values.get("section", "")[:NAME_MAX],
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


def _read_fields(payload: Payload, payload_format: PayloadFormat) -> dict[str, object]:
    paths = payload_format.fields
    fields = {name: read_field(name, read_path(payload, path)) for name, path in paths.items()}
    position = fields.get("position")
    if isinstance(position, int) and not isinstance(position, bool):
        counted = position - payload_format.position_base
        # A point that counts from 0, written to a collection that counts from 1, has no known position.
        fields["position"] = counted if counted >= 0 or position < 0 else None
    if isinstance(fields.get("content_hash"), str) and not is_content_hash(fields["content_hash"]):
        # Only a SHA-256 hash can be checked.
        fields["content_hash"] = None
    if "url" in fields and paths["url"] == paths.get("source_path"):
        # One field holds an address in some points and a file in others.
        fields["source_path" if "://" in str(fields["url"]) else "url"] = None
    return fields


def read_start(payload: Payload, payload_format: PayloadFormat) -> int:
    """Read where the chunk starts in its page; -1 if that is not stored."""
    return read_number(read_path(payload, payload_format.fields.get("start")))


def read_path(payload: object, path: str | None) -> object:
    """Read the value at a dotted path; JSON that is stored as text is parsed on the way.

    Examples:
        >>> read_path({"metadata": {"url": "https://a.example/"}}, "metadata.url")
        'https://a.example/'
    """
    if path is None:
        return None
    value = payload
    for key in path.split("."):
        if isinstance(value, str):
            value = parse_json_object(value)
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def parse_json_object(text: str) -> object:
    """Parse a JSON object; None if the text is not one."""
    try:
        return orjson.loads(text) if text.startswith("{") else None
    except ValueError:
        return None


def read_field(name: str, value: object) -> object:
    """Convert a value to the field's type; None if it is empty, unchanged if it can't be converted."""
    if isinstance(value, str):
        # LlamaIndex stores "None" for a node without a document.
        text = "" if value.strip() == "None" and name != "text" else value.strip()
        value = (value if name == "text" else text) if text else None
    if name in _NUMBERS:
        number = read_number(value)
        # LangChain stores -1 if it did not find the chunk in its page.
        return number if number >= 0 else None if name == "start" and value == -1 else value
    if name == "section" and isinstance(value, list) and all(isinstance(part, str) for part in value):
        return SECTION_SEPARATOR.join(part.strip() for part in value if part.strip()) or None
    if isinstance(value, bool) or name in ("text", "content_hash"):
        return value
    if name == "created_at" and isinstance(value, str | int | float):
        return _read_time(value) or value
    return str(value) if isinstance(value, int | float) else value


def read_text(name: str, value: object) -> str:
    """Convert a value to text; empty if that is not possible."""
    text = read_field(name, value)
    return text if isinstance(text, str) else ""


def read_number(value: object) -> int:
    """Convert a value to a whole number from 0; -1 if that is not possible."""
    if isinstance(value, bool):
        return -1
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and len(value) <= _DIGITS and value.isdecimal():
        value = int(value)
    return value if isinstance(value, int) and value >= 0 else -1


def _read_time(value: str | float) -> str:
    """Read a stored time as ISO 8601 in UTC, ending in Z; empty where the value is not a time.

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


def _derive_document_id(url: str, source_path: str, chunk_id: str) -> str:
    """Derive the id of the page from its url or path; a chunk without either is a page of its own."""
    key = _canonical(url) or source_path or f"point {chunk_id}"
    key = key.encode("utf-8", "replace").decode()
    return document_id(key, key.rstrip("/").rpartition("/")[2] or "page")


def _canonical(url: str) -> str:
    try:
        return canonical_url(url) if url else ""
    except ValueError:
        return url
