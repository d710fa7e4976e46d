"""Check the fields of a stored point, one of ours or of another pipeline."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from ..identity import is_url, shorten
from ..limits import is_iso_8601

LARGEST: Final = 2**31 - 1
"""The largest number that fits in an integer column of seed 003's `documents`."""

_VALUE_MAX: Final = 60
_HASH: Final = re.compile(r"[0-9a-fA-F]{64}")
_TYPES_OF_TEXTS: Final = frozenset([str])

# Each search checks about a hundred points, and those of a page share its address and time.
_is_cached_url = lru_cache(10_000)(is_url)
_is_cached_time = lru_cache(10_000)(is_iso_8601)


class FieldCheck(NamedTuple):
    """A test of a value, and a description of the values that pass it."""

    passes: Callable[[object], bool]
    expected: str


def is_content_hash(value: object) -> bool:
    """Whether the value has the form of a SHA-256 in hex."""
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _is_time(value: object) -> bool:
    return isinstance(value, str) and _is_cached_time(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_filled(value: object) -> bool:
    return isinstance(value, str) and value != "" and not value.isspace()


def _is_address(value: object) -> bool:
    return isinstance(value, str) and _is_cached_url(value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and _TYPES_OF_TEXTS.issuperset(map(type, value))


_TEXT = FieldCheck(_is_text, "text")
_FILLED = FieldCheck(_is_filled, "text that is not empty")
_COUNT = FieldCheck(_is_count, f"a whole number from 0 to {LARGEST}")
_TEXTS = FieldCheck(_is_list_of_texts, "a list of texts")

CHECKS: Final[Mapping[str, FieldCheck]] = {
    "chunk_id": _FILLED,
    "document_id": _FILLED,
    "url": FieldCheck(_is_address, "an address like https://example.org/docs"),
    "anchor": _TEXT,
    "title": _TEXT,
    "section": _TEXT,
    "position": _COUNT,
    "start": _COUNT,
    "end": _COUNT,
    "text": _FILLED,
    "content_hash": FieldCheck(is_content_hash, "64 hex digits"),
    "source_path": _TEXT,
    "slug": _TEXT,
    "source_type": _TEXT,
    "created_at": FieldCheck(_is_time, "a time in ISO 8601"),
    "order_index": _COUNT,
    "headings": _TEXTS,
    "url_parents": _TEXTS,
    "source": _TEXT,
    "embedding_key": _TEXT,
}
"""The checks by field; other fields of a point are not checked."""


def find_problems(
    fields: Mapping[str, object], required: Collection[str], paths: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """List what is wrong with the fields of a point; each problem begins with the name of the field.

    Args:
        fields: The values; None means missing.
        required: The fields that must not be missing.
        paths: The path of each field in the payload, where it has another name there.

    Examples:
        >>> find_problems({"text": " "}, ["text", "url"])
        ('url is missing', "text is ' ', not text that is not empty")
    """
    problems = []
    for name, (passes, expected) in CHECKS.items():
        value = fields.get(name)
        if value is None:
            if name in required:
                problems.append(f"{_label(name, paths)} is missing")
        elif not passes(value):
            text = shorten(repr(value), _VALUE_MAX)
            problems.append(f"{_label(name, paths)} is {text}, not {expected}")
    return tuple(problems)


def _label(name: str, paths: Mapping[str, str] | None) -> str:
    path = (paths or {}).get(name, name)
    return name if path == name else f"{name} ({path})"
