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
_SPACE = re.compile(r"\s*")
_ATTRIBUTE = re.compile(r"[A-Za-z_$@:][\w$@:.-]*")
_UNQUOTED = re.compile(r"[^\s\"'=<>`{}]+")
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_TEMPLATE = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_BRACKET_OR_QUOTE = re.compile(r"[{}\[\]()'\"`]|//|/\*")
_IN_TEMPLATE = re.compile(r"\\.|`|\$\{", re.DOTALL)
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_OPENING = {"}": "{", "]": "[", ")": "("}
_MAX_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


@dataclass(slots=True)
class UnclosedLimit:
    """How many tags and expressions of a page may never close; the others stay text.

    Each is searched up to the end of the page, in all through so many `characters`. Valid MDX has some only
    in its exports.
    """

    expressions: int = 200
    tags: int = 1000
    characters: int = 5_000_000

    def count_expression(self, searched: int) -> None:
        """Count an expression that was searched through so many characters in vain."""
        self.expressions -= 1
        self.characters -= searched

    @property
    def allows_expressions(self) -> bool:
        """Whether a further expression may be searched."""
        return self.expressions > 0 and self.characters > 0


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


def scan_tag(src: str, pos: int, end: int, limit: UnclosedLimit | None = None) -> Tag | None:
    """Return the tag that starts at `pos` and ends before `end`, or None if there is none."""
    limit = limit or UnclosedLimit()
    if limit.tags <= 0 or not src.startswith("<", pos):
        return None
    cursor = pos + 1
    if src.startswith("/*", cursor):
        return None
    if src.startswith("/", cursor):
        tag = _scan_closing_tag(src, cursor + 1, end)
    else:
        name, cursor = _scan_name(src, cursor, end)
        if not name and not src.startswith(">", cursor):
            return None
        tag = _scan_opening_tag(src, name, cursor, end, limit)
    limit.tags -= tag is None
    return tag


def _scan_closing_tag(src: str, pos: int, end: int) -> Tag | None:
    name, cursor = _scan_name(src, _skip_space(src, pos, end), end)
    cursor = _skip_space(src, cursor, end)
    return Tag(name, "close", cursor + 1) if cursor < end and src[cursor] == ">" else None


def _scan_opening_tag(src: str, name: str, cursor: int, end: int, limit: UnclosedLimit) -> Tag | None:
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
        attribute_end = _scan_attribute(src, start, end, limit, attributes, expressions)
        if attribute_end is None:
            return None
        cursor = attribute_end
    return None


def _scan_attribute(
    src: str,
    pos: int,
    end: int,
    limit: UnclosedLimit,
    attributes: dict[str, str | None],
    expressions: dict[str, str],
) -> int | None:
    """Store the attribute at `pos`; return the position after it, or None if it is malformed."""
    if src[pos] == "{":
        close = scan_expression(src, pos, end, limit)
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
    value = _skip_space(src, equals + 1, end)
    if src.startswith("{", value) and value < end:
        close = scan_expression(src, value, end, limit)
        if close is not None:
            expressions[name] = src[value + 1 : close - 1]
            attributes[name] = parse_string(expressions[name])
        return close
    return _scan_value(src, name, value, end, attributes)


def _scan_value(src: str, name: str, pos: int, end: int, attributes: dict[str, str | None]) -> int | None:
    if pos >= end:
        return None
    if src[pos] in "\"'":
        close = src.find(src[pos], pos + 1, end)
        if close < 0:
            return None
        attributes[name] = unescape(src[pos + 1 : close])
        return close + 1
    match = _UNQUOTED.match(src, pos, end)
    if not match:
        return None
    value = match.group()
    if value.endswith("/") and src.startswith(">", match.end()):
        value = value[:-1]
    attributes[name] = unescape(value)
    return pos + len(value)


def scan_expression(src: str, pos: int, end: int, limit: UnclosedLimit | None = None) -> int | None:
    """Return the position after the bracket that closes the one at `pos`; None if it never closes.

    Args:
        src: The text.
        pos: The position of the opening bracket.
        end: Where to stop looking.
        limit: Counts the expressions that never close; None looks for this one in any case.
    """
    if limit is not None and not limit.allows_expressions:
        return None
    close = _find_close(src, pos, end, in_templates=True)
    if close is None and src.find("`", pos, end) >= 0:
        close = _find_close(src, pos, end, in_templates=False)
    if limit is not None and close is None:
        limit.count_expression(end - pos)
    return close


def _find_close(src: str, pos: int, end: int, *, in_templates: bool) -> int | None:
    """Look for the closing bracket in one pass; a backquote may be a character, and not a template's."""
    stack: list[str] = []
    cursor = pos
    while True:
        in_template = bool(stack) and stack[-1] == "`"
        match = (_IN_TEMPLATE if in_template else _BRACKET_OR_QUOTE).search(src, cursor, end)
        if not match:
            return None
        mark, cursor = match.group(), match.end()
        if in_template:
            if mark == "`":
                stack.pop()
            elif mark == "${":
                stack.append("{")
        elif mark in "{[(" or (mark == "`" and in_templates):
            stack.append(mark)
        elif mark in _OPENING:
            if not stack or stack.pop() != _OPENING[mark]:
                return None
            if not stack:
                return cursor
        elif mark != "`":
            cursor = _skip_string_or_comment(src, mark, match.start(), end)


def _skip_string_or_comment(src: str, mark: str, pos: int, end: int) -> int:
    """Return the position after a string or comment; a quote that its line never closes is a character."""
    if mark in "'\"":
        match = _STRING.match(src, pos, end)
        return match.end() if match else pos + 1
    if mark == "//":
        if pos and src[pos - 1] == ":":  # an address in JSX text, not a comment
            return pos + 2
        close = src.find("\n", pos, end)
        return close if close >= 0 else end
    close = src.find("*/", pos + 2, end)
    return close + 2 if close >= 0 else end


def parse_string(expression: str) -> str | None:
    """Return the value of a plain string (in quotes, or a template without `${}`); None for other code."""
    code = expression.strip()
    quoted = _STRING.fullmatch(code)
    template = _TEMPLATE.fullmatch(code) and "${" not in code
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
    pos, limit = 0, UnclosedLimit()
    for match in re.finditer(r"<(!--.*?(?:-->|$))?", source, re.DOTALL):
        if match.start() < pos:
            continue
        tag = None if match.group(1) else scan_tag(source, match.start(), len(source), limit)
        if tag or match.group(1):
            yield unescape(source[pos : match.start()])
            pos = tag.end if tag else match.end()
        if tag:
            yield tag
    yield unescape(source[pos:])


def _skip_space(src: str, pos: int, end: int) -> int:
    """Return the position after spaces and comments."""
    while match := _SPACE.match(src, pos, end):
        pos = match.end()
        close = src.find("*/", pos + 2, end) if src.startswith("/*", pos, end) else -1
        if close < 0:
            break
        pos = close + 2
    return pos


def _scan_name(src: str, pos: int, end: int) -> tuple[str, int]:
    match = _NAME.match(src, pos, end)
    return (match.group(), match.end()) if match else ("", pos)
