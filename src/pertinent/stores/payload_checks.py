"""Check the fields of a stored point, one of ours or of another pipeline."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ..identity import is_url, shorten
from ..limits import is_iso_8601

LARGEST: Final = 2**31 - 1
"""The largest number that fits in an integer column of seed 003's `documents`."""

_VALUE_MAX: Final = 60
_HASH: Final = re.compile(r"[0-9a-fA-F]{64}")
_TYPES_OF_TEXTS: Final = frozenset([str])

_CACHED_VALUES: Final = 10_000
"""How many addresses and times are checked only once: the points of a page share them."""


class FieldCheck(NamedTuple):
    """The type of a field, a test of its value, and a description of the values that pass.

    A search checks some 2,000 values, so the tests are functions of the standard library where one will do.
    """

    type: type
    passes: Callable[[Any], object] | None
    """Returns something true for a value that passes; None where every value of the type does."""
    expected: str


def is_content_hash(value: object) -> bool:
    """Whether the value has the form of a SHA-256 in hex."""
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _has_only_texts(values: list[object]) -> bool:
    return _TYPES_OF_TEXTS.issuperset(map(type, values))


_TEXT = FieldCheck(str, None, "text")
_FILLED = FieldCheck(str, str.strip, "text that is not empty")
_COUNT = FieldCheck(int, range(LARGEST + 1).__contains__, f"a whole number from 0 to {LARGEST}")
_TEXTS = FieldCheck(list, _has_only_texts, "a list of texts")
_ADDRESS = FieldCheck(str, lru_cache(_CACHED_VALUES)(is_url), "an address like https://example.org/docs")
_TIME = FieldCheck(str, lru_cache(_CACHED_VALUES)(is_iso_8601), "a time in ISO 8601")

CHECKS: Final[Mapping[str, FieldCheck]] = {
    "chunk_id": _FILLED,
    "document_id": _FILLED,
    "url": _ADDRESS,
    "anchor": _TEXT,
    "title": _TEXT,
    "section": _TEXT,
    "position": _COUNT,
    "start": _COUNT,
    "end": _COUNT,
    "text": _FILLED,
    "content_hash": FieldCheck(str, _HASH.fullmatch, "64 hex digits"),
    "source_path": _TEXT,
    "slug": _TEXT,
    "source_type": _TEXT,
    "created_at": _TIME,
    "order_index": _COUNT,
    "headings": _TEXTS,
    "url_parents": _TEXTS,
    "source": _TEXT,
    "embedding_key": _TEXT,
}
"""The checks by field; other fields of a point are not checked."""

# Plain tuples are unpacked faster than named ones.
_CHECKS: Final = tuple((name, *check) for name, check in CHECKS.items())


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
    for name, value_type, passes, expected in _CHECKS:
        value = fields.get(name)
        if value is None:
            if name in required:
                problems.append(f"{_label(name, paths)} is missing")
        # Not isinstance: true and false are whole numbers to Python.
        elif type(value) is not value_type or (passes is not None and not passes(value)):
            text = shorten(repr(value), _VALUE_MAX)
            problems.append(f"{_label(name, paths)} is {text}, not {expected}")
    return tuple(problems)


def text_or_empty(value: object) -> str:
    """Return the value if it is text; any other one is empty."""
    return value if isinstance(value, str) else ""


def _label(name: str, paths: Mapping[str, str] | None) -> str:
    path = (paths or {}).get(name, name)
    return name if path == name else f"{name} ({path})"
