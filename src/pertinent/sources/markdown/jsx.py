"""Finding JSX tags and `{expressions}` in text: where each ends, and what it says.

A scanner, not a parser of JavaScript: it knows strings, template literals, comments and brackets,
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
_STOP = re.compile(r"[{}\[\]()'\"`]|//|/\*")
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_PAIRS = {"}": "{", "]": "[", ")": "("}
_DEEPEST = 5
_LARGEST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)

Kind = Literal["open", "close", "self"]


@dataclass(frozen=True, slots=True)
class Tag:
    """A JSX or HTML tag; an attribute is a string, or None where it is an expression or has no value."""

    name: str
    kind: Kind
    end: int
    attributes: Mapping[str, str | None] = field(default_factory=dict)
    expressions: Mapping[str, str] = field(default_factory=dict)


def scan_tag(src: str, pos: int, end: int) -> Tag | None:
    """The tag that starts at `pos`, if one does and it ends before `end`."""
    if not src.startswith("<", pos):
        return None
    cursor = _space(src, pos + 1, end)
    if cursor != pos + 1:
        return None
    if src.startswith("/", cursor):
        return _closing(src, cursor + 1, end)
    name, cursor = _name(src, cursor, end)
    if not name and not src.startswith(">", cursor):
        return None
    return _opening(src, name, cursor, end)


def _closing(src: str, pos: int, end: int) -> Tag | None:
    name, cursor = _name(src, _space(src, pos, end), end)
    cursor = _space(src, cursor, end)
    return Tag(name, "close", cursor + 1) if cursor < end and src[cursor] == ">" else None


def _opening(src: str, name: str, cursor: int, end: int) -> Tag | None:
    attributes: dict[str, str | None] = {}
    expressions: dict[str, str] = {}
    while cursor < end:
        after = _space(src, cursor, end)
        if after >= end:
            return None
        if src[after] == ">":
            return Tag(name, "open", after + 1, attributes, expressions)
        if src.startswith("/>", after):
            return Tag(name, "self", after + 2, attributes, expressions)
        if after == cursor and not (attributes or expressions):
            return None
        step = _attribute(src, after, end, attributes, expressions)
        if step is None:
            return None
        cursor = step
    return None


def _attribute(
    src: str, pos: int, end: int, attributes: dict[str, str | None], expressions: dict[str, str]
) -> int | None:
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
    equals = _space(src, cursor, end)
    if not src.startswith("=", equals) or equals >= end:
        return cursor
    return _value(src, name, _space(src, equals + 1, end), end, attributes, expressions)


def _value(
    src: str, name: str, pos: int, end: int, attributes: dict[str, str | None], expressions: dict[str, str]
) -> int | None:
    if pos >= end:
        return None
    if src[pos] in "\"'":
        close = src.find(src[pos], pos + 1, end)
        attributes[name] = unescape(src[pos + 1 : close])
        return close + 1 if close >= 0 else None
    if src[pos] == "{":
        after = scan_expression(src, pos, end)
        if after is not None:
            expressions[name] = src[pos + 1 : after - 1]
            attributes[name] = literal(expressions[name])
        return after
    match = _UNQUOTED.match(src, pos, end)
    if not match:
        return None
    value = match.group()
    if value.endswith("/") and src.startswith(">", match.end()):
        value = value[:-1]
    attributes[name] = unescape(value)
    return pos + len(value)


def scan_expression(src: str, pos: int, end: int, depth: int = 0) -> int | None:
    """Where the bracket that opens at `pos` closes (the place after it); None where it never does."""
    stack: list[str] = []
    cursor = pos
    while True:
        match = _STOP.search(src, cursor, end)
        if not match:
            return None
        mark, cursor = match.group(), match.end()
        if mark in "{[(":
            stack.append(mark)
        elif mark in _PAIRS:
            if not stack or stack.pop() != _PAIRS[mark]:
                return None
            if not stack:
                return cursor
        else:
            cursor = _skip(src, mark, match.start(), end, depth)


def _skip(src: str, mark: str, pos: int, end: int, depth: int) -> int:
    """Past the string or comment at `pos`; a quote that never closes on its line is only a character."""
    if mark in "'\"":
        match = _STRING.match(src, pos, end)
        return match.end() if match else pos + 1
    if mark == "`":
        return _template(src, pos, end, depth) or pos + 1
    if mark == "//":
        if pos and src[pos - 1] == ":":  # an address in JSX text, not a comment
            return pos + 2
        close = src.find("\n", pos, end)
        return close if close >= 0 else end
    close = src.find("*/", pos + 2, end)
    return close + 2 if close >= 0 else end


def _template(src: str, pos: int, end: int, depth: int = 0) -> int | None:
    """Past the template literal at `pos`; templates in templates are followed to a sane depth."""
    cursor = pos + 1
    while cursor < end:
        char = src[cursor]
        if char == "`":
            return cursor + 1
        if char == "\\":
            cursor += 2
        elif src.startswith("${", cursor):
            close = scan_expression(src, cursor + 1, end, depth + 1) if depth < _DEEPEST else None
            if close is None:
                return None
            cursor = close
        else:
            cursor += 1
    return None


def literal(expression: str) -> str | None:
    """What the expression shows where it is a plain string (quoted, or a template without `${}`)."""
    code = expression.strip()
    quoted = _STRING.fullmatch(code)
    template = code.startswith("`") and _template(code, 0, len(code)) == len(code) and "${" not in code
    return _ESCAPE.sub(_unescape, code[1:-1]) if quoted or template else None


def _unescape(match: re.Match[str]) -> str:
    what = match.group(1)
    if what[0] in "ux" and len(what) > 1:
        code = int(what[1:].strip("{}"), 16)
        return chr(code) if code <= _LARGEST and code not in _SURROGATES else "\ufffd"
    return _ESCAPED.get(what, what)


def is_comment(expression: str) -> bool:
    """Whether the expression is nothing but comments, which show nothing."""
    return not re.sub(r"/\*.*?\*/|//[^\n]*", "", expression, flags=re.DOTALL).strip()


def html_parts(source: str) -> Iterator[Tag | str]:
    """The tags of a piece of HTML and the text between them, comments left out."""
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


def _space(src: str, pos: int, end: int) -> int:
    match = _SPACE.match(src, pos, end)
    return match.end() if match else pos


def _name(src: str, pos: int, end: int) -> tuple[str, int]:
    match = _NAME.match(src, pos, end)
    return (match.group(), match.end()) if match else ("", pos)
