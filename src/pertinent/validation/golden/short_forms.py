"""What a golden file may leave out or write short: ids that are made from texts, labels as plain strings."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from ...identity import ascii_slug, digest

if TYPE_CHECKING:
    from pydantic import JsonValue

SLUG_MAX = 60
"""How much of a query's text is in the id that is made from it."""


def derive_id(text: str) -> str:
    """A query's id from its text alone, so that it stays the same wherever in the file the query stands.

    It is the slug of the text. Where that leaves out more than case and a final mark, a short hash of the
    text follows it, so that "C" and "C++", or two long texts with the same beginning, have their own ids.
    """
    slug = ascii_slug(text, SLUG_MAX)
    if re.fullmatch(r"[A-Za-z0-9 -]+[?.!]?", text) and len(ascii_slug(text)) <= SLUG_MAX:
        return slug or f"query-{digest(text, length=6)}"
    return f"{slug or 'query'}-{digest(text, length=6)}"


def check_not_blank(text: str) -> str:
    """The text itself; refused where it is white space alone."""
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def read_labels(value: Any) -> Any:
    """Labels in their full form: one label as a list, a plain string as the place that it names."""
    labels = value if isinstance(value, list | tuple | None) else [value]
    return labels and [_read_place(label) if isinstance(label, str) else label for label in labels]


def _read_place(text: str) -> dict[str, str]:
    """`https://book.example/docs/topics#qos` or `docs/topics.md#qos` as a label's fields."""
    if "://" in text:
        return {"url": text}
    page, _, anchor = text.rpartition("#") if "#" in text else (text, "", "")
    return {"page": page, **({"anchor": anchor} if anchor else {})}


def check_finite(value: JsonValue) -> JsonValue:
    """The value, or an error where it holds a number that JSON does not have."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        check_finite(part)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be a number that is finite")
    return value
