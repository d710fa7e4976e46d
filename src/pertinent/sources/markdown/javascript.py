"""Read object literals in JavaScript or TypeScript without running the code.

Strings, booleans, null, arrays and objects have values, and so have the names of constants that the same
code declares with `const`. Everything that is computed is `UNKNOWN`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from .jsx import parse_string


class _Unknown:
    """The type of UNKNOWN."""


UNKNOWN: Final = _Unknown()
"""A value that can only be known by running the code."""

Value = str | bool | None | _Unknown | dict[str, "Value"] | list["Value"]
Fields = dict[str, Value]
"""The fields of an object literal, by their names."""

SPREAD: Final = "..."
"""The name of a field that an object has if a spread (`...name`) may give it any other field."""

_TOKEN = re.compile(
    # A regular expression may hold quotes and brackets; a slash that follows a value divides.
    r"(?:(?<=[=(,:\[!&|?;>])|(?<=\breturn))\s*"
    r"(?P<regex>/(?![/*])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.){0,50}+\]){1,100}+/\w*)"
    r"|\s+|//[^\n]*|/\*.*?\*/"
    # A backslash is read with what follows it: else a row of `\"` would begin a string at each quote.
    r"|(?P<string>'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"|`(?:[^`\\]|\\.)*+`)"
    r"|(?P<word>[\w$.]+)|(?P<mark>=>|\\.|.)",
    re.DOTALL,
)
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_LITERALS: Mapping[str, Value] = {"true": True, "false": False, "null": None, "undefined": None}
_RESOLVERS = ("require.resolve", "import.meta.resolve")
"""Calls that give the path of a package; their argument names it as well."""
_ENDS = (",", "}", "]", ")")

_MAX_CHARACTERS = 2**18
"""How much of the code is read; the longest configs have a tenth of that."""


def find_object(code: str, rank: Callable[[Fields], int]) -> Fields:
    """Return the object that the code exports, else the first one of the highest rank above 0, else {}.

    A field that is assigned to (`config.url = …`) is UNKNOWN.
    """
    parser = _CodeParser(code)
    fields = parser.parse_export()
    if not isinstance(fields, dict):
        fields = max(parser.iterate_objects(), key=rank, default={})
        fields = fields if rank(fields) > 0 else {}
    return fields | dict.fromkeys(parser.iterate_assigned_fields(), UNKNOWN)


def iterate_strings(code: str) -> Iterator[str]:
    """Yield the strings of the code; neither those in comments nor the names of imported modules."""
    tokens = _split_tokens(code)
    for index, (kind, text) in enumerate(tokens):
        preceding = " ".join(word for _, word in tokens[max(0, index - 2) : index])
        if kind == "string" and not preceding.endswith(("from", "import", "import (", "require (")):
            yield parse_string(text) or ""


def get_field(fields: Fields, name: str, default: Value = None) -> Value:
    """Return a field of an object; UNKNOWN if only a spread may give it."""
    return fields.get(name, UNKNOWN if SPREAD in fields else default)


class _CodeParser:
    """Parse the object literals of some code; an index is that of a token."""

    def __init__(self, code: str) -> None:
        self._tokens = _split_tokens(code)
        self._partners = _match_brackets([text for _, text in self._tokens])
        self._constants = self._find_constants()
        self._values: dict[str, Value] = {}
        self._operands: dict[int, tuple[Value, int]] = {}
        """What is in brackets, by the index of its first token: each is parsed once, however deep it is."""

    def parse_export(self) -> Value:
        """Return what `module.exports = …` or `export default …` exports; UNKNOWN if it is computed."""
        texts = [text for _, text in self._tokens]
        for index, pair in enumerate(pairwise(texts)):
            if pair in (("module.exports", "="), ("export", "default")):
                return self._parse_statement(index + 2)
        return UNKNOWN

    def iterate_objects(self) -> Iterator[Fields]:
        """Yield every object literal; a block of code is one, too, with few fields or none."""
        for index, (_, text) in enumerate(self._tokens):
            if text == "{" and isinstance(value := self._parse_operand(index)[0], dict):
                yield value

    def iterate_assigned_fields(self) -> Iterator[str]:
        """Yield the name of each field that the code assigns to, or to a part of it, of any object."""
        for index, (kind, target) in enumerate(self._tokens):
            if kind != "word" or target.startswith("."):
                continue
            path, end = target, index + 1
            while self._is_text(end, "[") and end in self._partners:  # `config['url']`, `presets[0].docs`
                path += "." + self._tokens[end + 1][1].strip("'\"`")
                end = self._partners[end] + 1
                end += end < len(self._tokens) and self._tokens[end][1].startswith(".")
            field = path.split(".")[1:2]
            if field and self._is_text(end, "=") and not self._is_text(end + 1, "="):
                yield field[0]

    def _find_constants(self) -> Mapping[str, int | None]:
        """Find the value of each `const`; None if it is declared twice, or has no value."""
        constants: dict[str, int | None] = {}
        for index, (_, text) in enumerate(self._tokens[:-1]):
            kind, name = self._tokens[index + 1]
            if text == "const" and kind == "word":
                constants[name] = None if name in constants else self._find_initializer(index + 2)
        return constants

    def _find_initializer(self, index: int) -> int | None:
        """Return the index behind the `=` of a declaration, past the type of the constant."""
        while index < len(self._tokens) and not self._is_text(index, "=", ";", ")", "]", "}", "const"):
            index = self._partners.get(index, index) + 1
        return index + 1 if self._is_text(index, "=") else None

    def _is_text(self, index: int, *texts: str) -> bool:
        return index < len(self._tokens) and self._tokens[index][1] in texts

    def _resolve_name(self, name: str) -> Value:
        if name not in self._values:
            self._values[name] = UNKNOWN  # for a constant that refers to itself
            index = self._constants.get(name)
            if index is not None:
                self._values[name] = self._parse_statement(index)
        return self._values[name]

    def _parse_statement(self, index: int) -> Value:
        """Return the value that a statement ends with; a word behind it begins the next statement."""
        value, index = self._parse_operand(index)
        is_whole = index >= len(self._tokens) or self._tokens[index][0] == "word"
        return value if is_whole or self._is_text(index, ";", *_ENDS) else UNKNOWN

    def _parse_object(self, index: int) -> tuple[Fields, int]:
        """Parse from the `{` at `index`."""
        fields: Fields = {}
        index += 1
        while index < len(self._tokens) and not self._is_text(index, "}"):
            kind, text = self._tokens[index]
            key = parse_string(text) if kind == "string" else text if kind == "word" else None
            if text.startswith(SPREAD):
                fields = {SPREAD: UNKNOWN}  # it may replace each field above it
                index = self._skip_value(index)
            elif key is not None and self._is_text(index + 1, ":"):
                fields[key], index = self._parse_value(index + 2)
            elif kind == "word" and self._is_text(index + 1, ",", "}"):
                fields[text], index = self._resolve_name(text), index + 1
            else:
                index = self._skip_value(index)
            if index < len(self._tokens) and not self._is_text(index, "}"):
                index += 1  # a comma, or code that is not an object literal
        return fields, index + 1

    def _parse_array(self, index: int) -> tuple[list[Value], int]:
        """Parse from the `[` at `index`."""
        values: list[Value] = []
        index += 1
        while index < len(self._tokens) and not self._is_text(index, "]"):
            value, next_index = self._parse_value(index)
            values.append(value)
            index = max(next_index, index + 1)
            if self._is_text(index, ","):
                index += 1
        return values, index + 1

    def _parse_value(self, index: int) -> tuple[Value, int]:
        """Return the value at `index` and the index after it; operators and calls make it UNKNOWN."""
        value, next_index = self._parse_operand(index)
        if self._is_text(next_index, "as", "satisfies"):
            return value, self._skip_value(next_index)
        if next_index >= len(self._tokens) or self._is_text(next_index, *_ENDS):
            return value, next_index
        return UNKNOWN, self._skip_value(index)

    def _parse_operand(self, index: int) -> tuple[Value, int]:
        """Return the literal, or the value of the name, at `index` and the index after it."""
        if index >= len(self._tokens):
            return UNKNOWN, index
        if index not in self._operands:
            self._operands[index] = self._parse_new_operand(index)
        return self._operands[index]

    def _parse_new_operand(self, index: int) -> tuple[Value, int]:
        text = self._tokens[index][1]
        if text == "{":
            return self._parse_object(index)
        if text == "[":
            return self._parse_array(index)
        if text == "(":  # as in `/** @type {Options} */ ({path: 'docs'})`
            value, end = self._parse_value(index + 1)
            is_whole = self._is_text(end, ")")
            return (value, end + 1) if is_whole else (UNKNOWN, self._partners.get(index, end) + 1)
        if text in _RESOLVERS and self._is_text(index + 1, "(") and self._is_text(index + 3, ")"):
            return self._parse_word(index + 2), index + 4
        return self._parse_word(index), index + 1

    def _parse_word(self, index: int) -> Value:
        """Return the value of a string, of a word such as `true`, or of the name of a constant."""
        kind, text = self._tokens[index]
        if kind == "string":
            string = parse_string(text)
            return UNKNOWN if string is None else string
        return _LITERALS[text] if text in _LITERALS else self._resolve_name(text)

    def _skip_value(self, index: int) -> int:
        """Return the index of the comma or bracket that ends the value at `index`."""
        while index < len(self._tokens) and not self._is_text(index, *_ENDS):
            default = len(self._tokens) if self._is_text(index, *_CLOSING) else index
            index = self._partners.get(index, default) + 1
        return index


def _split_tokens(code: str) -> list[tuple[str, str]]:
    """Return the kind and the text of each token, without comments."""
    matches = _TOKEN.finditer(code[:_MAX_CHARACTERS])
    return [(match.lastgroup, match.group()) for match in matches if match.lastgroup]


def _match_brackets(texts: list[str]) -> Mapping[int, int]:
    """Return the index of the bracket that closes each bracket that is closed."""
    partners: dict[int, int] = {}
    opened: list[int] = []
    for index, text in enumerate(texts):
        if text in _CLOSING:
            opened.append(index)
        elif opened and text == _CLOSING[texts[opened[-1]]]:
            partners[opened.pop()] = index
    return partners
