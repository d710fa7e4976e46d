"""Read object literals in JavaScript or TypeScript without running the code.

Strings, booleans, null, arrays and objects have values. Everything that is computed is `UNKNOWN`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final

from .jsx import parse_string


class _Unknown:
    """The type of UNKNOWN."""


UNKNOWN: Final = _Unknown()
"""A value that can only be known by running the code."""

Value = str | bool | None | _Unknown | dict[str, "Value"] | list["Value"]

_TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*.*?\*/"
    # A backslash is read with what follows it: else a row of `\"` would begin a string at each quote.
    r"|(?P<string>'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"|`(?:[^`\\]|\\.)*+`)"
    r"|(?P<word>[\w$.]+)|(?P<mark>=>|\\.|.)",
    re.DOTALL,
)
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_CONSTANTS: Mapping[str, Value] = {"true": True, "false": False, "null": None, "undefined": None}

_MAX_CHARACTERS = 2**18
"""How much of the code is read; the longest configs have a tenth of that."""


class Tokens(list[tuple[str, str]]):
    """The tokens of some code: their kinds and texts."""

    @cached_property
    def partners(self) -> Mapping[int, int]:
        """The index of the bracket that closes each bracket that is closed."""
        partners: dict[int, int] = {}
        opened: list[int] = []
        for index, (_, text) in enumerate(self):
            if text in _CLOSING:
                opened.append(index)
            elif opened and text == _CLOSING[self[opened[-1]][1]]:
                partners[opened.pop()] = index
        return partners


def find_object(code: str, is_wanted: Callable[[dict[str, Value]], bool]) -> dict[str, Value]:
    """Return the first object literal for which `is_wanted` is true; {} if there is none."""
    matches = _TOKEN.finditer(code[:_MAX_CHARACTERS])
    tokens = Tokens((match.lastgroup, match.group()) for match in matches if match.lastgroup)
    for index, (_, text) in enumerate(tokens):
        if text == "{":
            fields, _ = _parse_object(tokens, index)
            if is_wanted(fields):
                return fields
    return {}


def _is_mark(tokens: Tokens, index: int, *marks: str) -> bool:
    return index < len(tokens) and tokens[index][1] in marks


def _parse_object(tokens: Tokens, index: int) -> tuple[dict[str, Value], int]:
    """Parse from the `{` at `index`; a block of code is parsed, too, and gives few fields or none."""
    fields: dict[str, Value] = {}
    index += 1
    while index < len(tokens) and not _is_mark(tokens, index, "}"):
        key = _parse_key(tokens, index)
        if key is None:
            index = _skip_value(tokens, index)
        else:
            fields[key], index = _parse_value(tokens, index + 2)
        if index < len(tokens) and not _is_mark(tokens, index, "}"):
            index += 1  # a comma, or code that is not an object literal
    return fields, index + 1


def _parse_key(tokens: Tokens, index: int) -> str | None:
    if not _is_mark(tokens, index + 1, ":"):
        return None
    kind, text = tokens[index]
    return parse_string(text) if kind == "string" else text if kind == "word" else None


def _parse_value(tokens: Tokens, index: int) -> tuple[Value, int]:
    """Return the value at `index` and the index after it; operators and calls make it UNKNOWN."""
    if index >= len(tokens):
        return UNKNOWN, index
    kind, text = tokens[index]
    value: Value = UNKNOWN
    next_index = index + 1
    if text == "{":
        value, next_index = _parse_object(tokens, index)
    elif text == "[":
        value, next_index = _parse_array(tokens, index)
    elif text == "(":  # as in `/** @type {Options} */ ({path: 'docs'})`
        value, next_index = _parse_value(tokens, index + 1)
        if not _is_mark(tokens, next_index, ")"):
            return UNKNOWN, _skip_value(tokens, index)
        next_index += 1
    elif kind == "string":
        string = parse_string(text)
        value = UNKNOWN if string is None else string
    elif text in _CONSTANTS:
        value = _CONSTANTS[text]
    if _is_mark(tokens, next_index, "as", "satisfies"):
        return value, _skip_value(tokens, next_index)
    if next_index >= len(tokens) or _is_mark(tokens, next_index, ",", "}", "]", ")"):
        return value, next_index
    return UNKNOWN, _skip_value(tokens, index)


def _parse_array(tokens: Tokens, index: int) -> tuple[list[Value], int]:
    values: list[Value] = []
    index += 1
    while index < len(tokens) and not _is_mark(tokens, index, "]"):
        value, next_index = _parse_value(tokens, index)
        values.append(value)
        index = max(next_index, index + 1)
        if _is_mark(tokens, index, ","):
            index += 1
    return values, index + 1


def _skip_value(tokens: Tokens, index: int) -> int:
    """Return the index of the comma or bracket that ends the value at `index`."""
    while index < len(tokens):
        text = tokens[index][1]
        if text in (",", "}", "]", ")"):
            return index
        index = tokens.partners.get(index, len(tokens)) if text in _CLOSING else index
        index += 1
    return index
