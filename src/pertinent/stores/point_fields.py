"""What the fields of a stored point must be: one check for our points and those of other pipelines."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

from ..identity import is_url, shorten
from ..limits import is_iso_8601

LARGEST: Final = 2**31 - 1
"""The largest number that a column of seed 003's `documents` holds."""

_SHOWN: Final = 60
_HASH: Final = re.compile(r"[0-9a-fA-F]{64}")


class Check(NamedTuple):
    """A test of a value, and what a value that fails it should have been."""

    passes: Callable[[object], bool]
    expected: str


def is_content_hash(value: object) -> bool:
    """Whether it has the form of a SHA-256 in hex."""
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _is_time(value: object) -> bool:
    return isinstance(value, str) and is_iso_8601(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_filled(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_address(value: object) -> bool:
    return isinstance(value, str) and is_url(value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(element, str) for element in value)


_TEXT = Check(_is_text, "text")
_FILLED = Check(_is_filled, "text that is not empty")
_COUNT = Check(_is_count, f"a whole number from 0 to {LARGEST}")
_TEXTS = Check(_is_list_of_texts, "a list of texts")

CHECKS: Final[Mapping[str, Check]] = {
    "chunk_id": _FILLED,
    "document_id": _FILLED,
    "url": Check(_is_address, "an address like https://example.org/docs"),
    "anchor": _TEXT,
    "title": _TEXT,
    "section": _TEXT,
    "position": _COUNT,
    "start": _COUNT,
    "end": _COUNT,
    "text": _FILLED,
    "content_hash": Check(is_content_hash, "64 hex digits"),
    "source_path": _TEXT,
    "slug": _TEXT,
    "source_type": _TEXT,
    "created_at": Check(_is_time, "a time in ISO 8601"),
    "order_index": _COUNT,
    "headings": _TEXTS,
    "url_parents": _TEXTS,
    "source": _TEXT,
    "embedding_key": _TEXT,
}
"""Every field by name; what a point carries beyond them is not looked at."""


def find_problems(
    fields: Mapping[str, object], required: Collection[str], paths: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """What is wrong with the fields, each problem beginning with the field's name; nothing where all is well.

    A field that is None is missing, which is a problem where it is required. `paths` says where a field
    stands in the payload, where that is another name.
    """
    problems = []
    for name, check in CHECKS.items():
        value = fields.get(name)
        if value is None:
            if name in required:
                problems.append(f"{_label(name, paths)} is missing")
        elif not check.passes(value):
            text = shorten(repr(value), _SHOWN)
            problems.append(f"{_label(name, paths)} is {text}, not {check.expected}")
    return tuple(problems)


def _label(name: str, paths: Mapping[str, str] | None) -> str:
    path = (paths or {}).get(name, name)
    return name if path == name else f"{name} ({path})"
