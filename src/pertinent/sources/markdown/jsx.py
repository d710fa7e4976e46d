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

from .search_limits import SearchLimits

_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:[.:-][\w$]+)*-*")
_SPACE = re.compile(r"\s*")
_ATTRIBUTE = re.compile(r"[A-Za-z_$@:][\w$@:.-]*")
_UNQUOTED = re.compile(r"[^\s\"'=<>`{}]+")
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"", re.DOTALL)
_TEMPLATE = re.compile(r"`(?:[^`\\]|\\.)*+`", re.DOTALL)
# A backslash is read with what follows it: else a row of `\"` would begin a string at each quote.
_BRACKET_OR_QUOTE = re.compile(r"[{}\[\]()'\"`]|//|/\*|\\.", re.DOTALL)
_IN_TEMPLATE = re.compile(r"\\.|`|\$\{", re.DOTALL)
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_ENDLESS_NUMBER = re.compile(r"&#[0-9]{1000,}+;?")
_OPENING = {"}": "{", "]": "[", ")": "("}
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


def scan_tag(src: str, pos: int, end: int, limits: SearchLimits | None = None) -> Tag | None:
    """Return the tag that starts at `pos` and ends before `end`, or None if there is none."""
    limits = limits or SearchLimits()
    if limits.characters <= 0 or not src.startswith("<", pos):
        return None
    scanner = _TagScanner(src, pos + 1, end, limits)
    tag = scanner.scan()
    if tag is None:
        limits.characters -= scanner.cursor - pos
    return tag


class _TagScanner:
    """Scan one tag. `cursor` is where the scan is, or where it stopped because the text is not a tag."""

    def __init__(self, src: str, cursor: int, end: int, limits: SearchLimits) -> None:
        self._src = src
        self.cursor = cursor
        self._end = end
        self._limits = limits
        self._attributes: dict[str, str | None] = {}
        self._expressions: dict[str, str] = {}

    def scan(self) -> Tag | None:
        """Return the tag, from behind its `<`."""
        if self._sees("/*"):
            return None
        if self._sees("/"):
            self.cursor += 1
            self._skip_space()
            name = self._scan_name()
            self._skip_space()
            return self._close_tag(name, "close", ">")
        name = self._scan_name()
        if not name and not self._sees(">"):
            return None
        while True:
            before = self.cursor
            self._skip_space()
            if tag := self._close_tag(name, "open", ">") or self._close_tag(name, "self", "/>"):
                return tag
            is_apart = self.cursor > before or self._attributes or self._expressions
            if not is_apart or not self._scan_attribute():
                return None

    def _sees(self, mark: str) -> bool:
        return self._src.startswith(mark, self.cursor, self._end)

    def _close_tag(self, name: str, kind: Literal["open", "close", "self"], mark: str) -> Tag | None:
        """Return the tag if this mark ends it."""
        if not self._sees(mark):
            return None
        return Tag(name, kind, self.cursor + len(mark), self._attributes, self._expressions)

    def _skip_space(self) -> None:
        """Move behind spaces and comments; a comment that never closes fills the rest of the text."""
        while match := _SPACE.match(self._src, self.cursor, self._end):
            self.cursor = match.end()
            if not self._sees("/*"):
                break
            close = self._src.find("*/", self.cursor + 2, self._end)
            self.cursor = close + 2 if close >= 0 else self._end

    def _scan_name(self) -> str:
        match = _NAME.match(self._src, self.cursor, self._end)
        self.cursor = match.end() if match else self.cursor
        return match.group() if match else ""

    def _scan_attribute(self) -> bool:
        """Store the attribute at the cursor and move behind it; return False if it is malformed."""
        if self._sees("{"):
            return self._scan_braces("...")
        match = _ATTRIBUTE.match(self._src, self.cursor, self._end)
        if not match:
            return False
        name, name_end = match.group(), match.end()
        self._attributes[name] = None
        self.cursor = name_end
        self._skip_space()
        if not self._sees("="):
            self.cursor = name_end
            return True
        self.cursor += 1
        self._skip_space()
        if not self._sees("{"):
            return self._scan_value(name)
        if not self._scan_braces(name):
            return False
        self._attributes[name] = parse_string(self._expressions[name])
        return True

    def _scan_braces(self, name: str) -> bool:
        close = scan_expression(self._src, self.cursor, self._end, self._limits)
        if close is None:
            return False
        self._expressions[name] = self._src[self.cursor + 1 : close - 1]
        self.cursor = close
        return True

    def _scan_value(self, name: str) -> bool:
        """Store the value of an attribute, with or without quotes."""
        if self._sees("'") or self._sees('"'):
            start = self.cursor + 1
            close = self._src.find(self._src[self.cursor], start, self._end)
            self.cursor = close + 1 if close >= 0 else self._end
            self._attributes[name] = unescape_entities(self._src[start:close])
            return close >= 0
        match = _UNQUOTED.match(self._src, self.cursor, self._end)
        if not match:
            return False
        value = match.group()
        if value.endswith("/") and self._src.startswith(">", match.end()):
            value = value[:-1]
        self._attributes[name] = unescape_entities(value)
        self.cursor += len(value)
        return True


def scan_expression(src: str, pos: int, end: int, limits: SearchLimits | None = None) -> int | None:
    """Return the position after the bracket that closes the one at `pos`; None if it never closes.

    Args:
        src: The text.
        pos: The position of the opening bracket.
        end: Where to stop looking.
        limits: Those of the page, which an expression that never closes uses up; None has no limits.
    """
    if limits is not None and limits.characters <= 0:
        return None
    close = _find_close(src, pos, end, in_templates=True)
    if close is None and src.find("`", pos, end) >= 0:
        close = _find_close(src, pos, end, in_templates=False)
    if limits is not None and close is None:
        limits.characters -= end - pos
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
        elif mark[0] not in "`\\":
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


def unescape_entities(text: str) -> str:
    """Replace character references such as `&amp;`; Python refuses numbers of thousands of digits."""
    return unescape(_ENDLESS_NUMBER.sub("\ufffd", text))


def _unescape(match: re.Match[str]) -> str:
    escape = match.group(1)
    if escape[0] in "ux" and len(escape) > 1:
        code_point = int(escape[1:].strip("{}"), 16)
        return (
            chr(code_point) if code_point <= _MAX_CODE_POINT and code_point not in _SURROGATES else "\ufffd"
        )
    return _ESCAPED.get(escape, escape)


def split_html(source: str, limits: SearchLimits) -> Iterator[Tag | str]:
    """Split HTML into its tags and the text between them, without comments."""
    pos = 0
    for match in re.finditer(r"<(!--.*?(?:-->|$))?", source, re.DOTALL):
        if match.start() < pos:
            continue
        tag = None if match.group(1) else scan_tag(source, match.start(), len(source), limits)
        if tag or match.group(1):
            yield unescape_entities(source[pos : match.start()])
            pos = tag.end if tag else match.end()
        if tag:
            yield tag
    yield unescape_entities(source[pos:])
