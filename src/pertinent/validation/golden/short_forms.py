"""Expand what a golden file may leave out or abbreviate: ids of queries, and labels as plain strings."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from ...identity import ascii_slug, digest

if TYPE_CHECKING:
    from pydantic import JsonValue

SLUG_MAX = 60
"""How many characters of a query's text its derived id has at most."""


def derive_id(text: str) -> str:
    """Derive a query's id from its text alone, so that it does not depend on the order of the file.

    The id is the slug of the text. If the slug drops more than case and a final mark, a short hash of the
    text follows, so that "C" and "C++", or two long texts with the same beginning, get different ids.

    Examples:
        >>> derive_id("What is a node?")
        'what-is-a-node'
    """
    slug = ascii_slug(text, SLUG_MAX)
    if re.fullmatch(r"[A-Za-z0-9 -]+[?.!]?", text) and len(ascii_slug(text)) <= SLUG_MAX:
        return slug or f"query-{digest(text, length=6)}"
    return f"{slug or 'query'}-{digest(text, length=6)}"


def check_not_blank(text: str) -> str:
    """Return the text; refuse white space alone."""
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def expand_labels(value: Any) -> Any:
    """Expand labels to their full form: a single label to a list, a plain string to a label's fields."""
    labels = value if isinstance(value, list | tuple | None) else [value]
    return labels and [_expand_label(label) if isinstance(label, str) else label for label in labels]


def _expand_label(text: str) -> dict[str, str]:
    """Expand `https://book.example/docs/topics#qos` or `docs/topics.md#qos` to a label's fields.

    As in an address, `%23` is a # in the name of a page.
    """
    if "://" in text:
        return {"url": text}
    page, mark, anchor = text.rpartition("#")
    fields = {"page": (page if mark else text).replace("%23", "#")}
    return {**fields, "anchor": anchor} if mark else fields


def check_finite(value: JsonValue) -> JsonValue:
    """Refuse numbers that JSON does not have, such as NaN, at any depth of a value."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        check_finite(part)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value
