"""Scan JSX tags and `{expressions}` in text: where each one ends, and its attributes.

This is a scanner, not a JavaScript parser: it knows strings, template literals, comments and brackets,
which is enough to find an end. Text that is not a tag or an expression gives None and stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Literal

_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:[.:-][\w$]+)*-*")
_SPACE = re.compile(r"(?:\s+|/\*.*?\*/)*", re.DOTALL)
_ATTRIBUTE = re.compile(r"[A-Za-z_$@:][\w$@:.-]*")
_UNQUOTED = re.compile(r"[^\s\"'=<>`{}]+")
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_BRACKET_OR_QUOTE = re.compile(r"[{}\[\]()'\"`]|//|/\*")
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_OPENING = {"}": "{", "]": "[", ")": "("}
_MAX_TEMPLATE_DEPTH = 5
_MAX_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True, slots=True)
class Tag:
    """A JSX or HTML tag that ends before position `end`.

    `attributes` maps a name to its string, or to None if its value is an expression or missing.
    `expressions` maps a name to the source of its expression; a spread is called `...`.
    """

    name: str
    kind: Literal["open", "close", "self"]
    end: int
    attributes: Mapping[str, str | None] = field(default_factory=dict)
    expressions: Mapping[str, str] = field(default_factory=dict)


def scan_tag(src: str, pos: int, end: int) -> Tag | None:
    """Return the tag that starts at `pos` and ends before `end`, or None if there is none."""
    if not src.startswith("<", pos):
        return None
    cursor = pos + 1
    if _skip_space(src, cursor, end) != cursor:
        return None
    if src.startswith("/", cursor):
        return _scan_closing_tag(src, cursor + 1, end)
    name, cursor = _scan_name(src, cursor, end)
    if not name and not src.startswith(">", cursor):
        return None
    return _scan_opening_tag(src, name, cursor, end)


def _scan_closing_tag(src: str, pos: int, end: int) -> Tag | None:
    name, cursor = _scan_name(src, _skip_space(src, pos, end), end)
    cursor = _skip_space(src, cursor, end)
    return Tag(name, "close", cursor + 1) if cursor < end and src[cursor] == ">" else None


def _scan_opening_tag(src: str, name: str, cursor: int, end: int) -> Tag | None:
    attributes: dict[str, str | None] = {}
    expressions: dict[str, str] = {}
    while cursor < end:
        start = _skip_space(src, cursor, end)
        if start >= end:
            return None
        if src[start] == ">":
            return Tag(name, "open", start + 1, attributes, expressions)
        if src.startswith("/>", start):
            return Tag(name, "self", start + 2, attributes, expressions)
        if start == cursor and not (attributes or expressions):
            return None
        attribute_end = _scan_attribute(src, start, end, attributes, expressions)
        if attribute_end is None:
            return None
        cursor = attribute_end
    return None


def _scan_attribute(
    src: str, pos: int, end: int, attributes: dict[str, str | None], expressions: dict[str, str]
) -> int | None:
    """Store the attribute at `pos`; return the position after it, or None if it is malformed."""
    if src[pos] == "{":
        close = scan_expression(src, pos, end)
        if close is not None:
            expressions["..."] = src[pos + 1 : close - 1]
        return close
    match = _ATTRIBUTE.match(src, pos, end)
    if not match:
        return None
    name, cursor = match.group(), match.end()
    attributes[name] = None
    equals = _skip_space(src, cursor, end)
    if not src.startswith("=", equals) or equals >= end:
        return cursor
    return _scan_value(src, name, _skip_space(src, equals + 1, end), end, attributes, expressions)


def _scan_value(
    src: str, name: str, pos: int, end: int, attributes: dict[str, str | None], expressions: dict[str, str]
) -> int | None:
    if pos >= end:
        return None
    if src[pos] in "\"'":
        close = src.find(src[pos], pos + 1, end)
        attributes[name] = unescape(src[pos + 1 : close])
        return close + 1 if close >= 0 else None
    if src[pos] == "{":
        expression_end = scan_expression(src, pos, end)
        if expression_end is not None:
            expressions[name] = src[pos + 1 : expression_end - 1]
            attributes[name] = parse_string(expressions[name])
        return expression_end
    match = _UNQUOTED.match(src, pos, end)
    if not match:
        return None
    value = match.group()
    if value.endswith("/") and src.startswith(">", match.end()):
        value = value[:-1]
    attributes[name] = unescape(value)
    return pos + len(value)


def scan_expression(src: str, pos: int, end: int, depth: int = 0) -> int | None:
    """Return the position after the bracket that closes the one at `pos`; None if it never closes.

    Args:
        src: The text.
        pos: The position of the opening bracket.
        end: Where to stop looking.
        depth: How many template literals the expression is in.
    """
    stack: list[str] = []
    cursor = pos
    while True:
        match = _BRACKET_OR_QUOTE.search(src, cursor, end)
        if not match:
            return None
        mark, cursor = match.group(), match.end()
        if mark in "{[(":
            stack.append(mark)
        elif mark in _OPENING:
            if not stack or stack.pop() != _OPENING[mark]:
                return None
            if not stack:
                return cursor
        else:
            cursor = _skip_string_or_comment(src, mark, match.start(), end, depth)


def _skip_string_or_comment(src: str, mark: str, pos: int, end: int, depth: int) -> int:
    """Return the position after a string or comment; a quote that its line never closes is a character."""
    if mark in "'\"":
        match = _STRING.match(src, pos, end)
        return match.end() if match else pos + 1
    if mark == "`":
        return _skip_template(src, pos, end, depth) or pos + 1
    if mark == "//":
        if pos and src[pos - 1] == ":":  # an address in JSX text, not a comment
            return pos + 2
        close = src.find("\n", pos, end)
        return close if close >= 0 else end
    close = src.find("*/", pos + 2, end)
    return close + 2 if close >= 0 else end


def _skip_template(src: str, pos: int, end: int, depth: int = 0) -> int | None:
    """Return the position after a template literal; None if it never closes or is nested too deeply."""
    cursor = pos + 1
    while cursor < end:
        char = src[cursor]
        if char == "`":
            return cursor + 1
        if char == "\\":
            cursor += 2
        elif src.startswith("${", cursor):
            close = scan_expression(src, cursor + 1, end, depth + 1) if depth < _MAX_TEMPLATE_DEPTH else None
            if close is None:
                return None
            cursor = close
        else:
            cursor += 1
    return None


def parse_string(expression: str) -> str | None:
    """Return the value of a plain string (in quotes, or a template without `${}`); None for other code."""
    code = expression.strip()
    quoted = _STRING.fullmatch(code)
    template = code.startswith("`") and _skip_template(code, 0, len(code)) == len(code) and "${" not in code
    return _ESCAPE.sub(_unescape, code[1:-1]) if quoted or template else None


def _unescape(match: re.Match[str]) -> str:
    escape = match.group(1)
    if escape[0] in "ux" and len(escape) > 1:
        code_point = int(escape[1:].strip("{}"), 16)
        return (
            chr(code_point) if code_point <= _MAX_CODE_POINT and code_point not in _SURROGATES else "\ufffd"
        )
    return _ESCAPED.get(escape, escape)


def split_html(source: str) -> Iterator[Tag | str]:
    """Split HTML into its tags and the text between them, without comments."""
    pos = 0
    for match in re.finditer(r"<(!--.*?(?:-->|$))?", source, re.DOTALL):
        if match.start() < pos:
            continue
        tag = None if match.group(1) else scan_tag(source, match.start(), len(source))
        if tag or match.group(1):
            yield unescape(source[pos : match.start()])
            pos = tag.end if tag else match.end()
        if tag:
            yield tag
    yield unescape(source[pos:])


def _skip_space(src: str, pos: int, end: int) -> int:
    match = _SPACE.match(src, pos, end)
    return match.end() if match else pos


def _scan_name(src: str, pos: int, end: int) -> tuple[str, int]:
    match = _NAME.match(src, pos, end)
    return (match.group(), match.end()) if match else ("", pos)
