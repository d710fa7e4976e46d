"""Directives for markdown-it, as remark-directive has them: `:::note[Title]`, `::leaf`, `:text`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..elements import KEYWORDS

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

_NAME = r"[A-Za-z](?:[\w-]*[A-Za-z0-9])?"
_OPEN = re.compile(
    rf"(?P<colons>:{{3,}})(?:(?P<name>{_NAME})(?:\[(?P<label>.*)\])?(?P<attributes>\{{[^}}]*\}})?[ \t]*"
    rf"|(?P<keyword>{'|'.join(KEYWORDS)}) +(?P<title>.*))",
    re.ASCII,
)
_LEAF = re.compile(rf"::{_NAME}(?:\[(?P<label>.*)\])?(?:\{{[^}}]*\}})?[ \t]*", re.ASCII)
_TEXT = re.compile(
    rf":(?P<name>{_NAME})(?![\w:-])(?:\[(?P<label>[^\]\n]*)\])?(?P<attributes>\{{[^}}\n]*\}})?", re.ASCII
)
_TITLE = re.compile(r"title=(?:\"([^\"]*)\"|'([^']*)'|([^\s}]+))")


def directives_plugin(md: MarkdownIt) -> None:
    """Add the rules to a parser."""
    alt = ["paragraph", "reference", "blockquote", "list"]
    md.block.ruler.before("fence", "directive", _container, {"alt": alt})
    md.inline.ruler.before("autolink", "text_directive", _text)


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _container(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's signature
    line = _line(state, start)
    if not line.startswith("::") or state.is_code_block(start):
        return False
    match = _OPEN.fullmatch(line)
    if match is None:
        return _leaf(state, start, line, silent)
    if not silent:
        _push(state, match, start, _close(state, start, end, len(match["colons"])))
    return True


def _leaf(state: StateBlock, start: int, line: str, silent: bool) -> bool:  # noqa: FBT001
    """A leaf directive's label; a fence that closes nothing shows nothing."""
    stray = len(line.rstrip()) > 2 and not line.rstrip().strip(":")  # noqa: PLR2004  `:::` and longer
    match = _LEAF.fullmatch(line)
    if not match and not stray:
        return False
    if not silent:
        state.line = start + 1
        if match and match["label"]:
            _paragraph(state, match["label"], start)
    return True


def _close(state: StateBlock, start: int, end: int, colons: int) -> int:
    """The line of the closing fence, or where the container around it ends."""
    for line in range(start + 1, end):
        if state.sCount[line] < state.blkIndent and not state.isEmpty(line):
            return line
        text = _line(state, line).rstrip()
        if len(text) >= colons and not text.strip(":"):
            return line
    return end


def _push(state: StateBlock, match: re.Match[str], start: int, close: int) -> None:
    name = match["name"] or match["keyword"]
    title = match["title"] or match["label"] or _attribute(match["attributes"])
    opening = state.push("directive_open", "", 1)
    opening.meta = {"name": name, "title": bool(title)}
    if title:
        _paragraph(state, title.strip(), start)
    parent, line_max = state.parentType, state.lineMax
    state.parentType, state.lineMax = "directive", close
    state.md.block.tokenize(state, start + 1, close)
    state.parentType, state.lineMax = parent, line_max
    state.push("directive_close", "", -1)
    closed = close < line_max and not _line(state, close).rstrip().strip(":")
    state.line = close + 1 if closed else close


def _attribute(attributes: str | None) -> str:
    match = _TITLE.search(attributes or "")
    return next((group for group in match.groups() if group), "") if match else ""


def _paragraph(state: StateBlock, content: str, line: int) -> None:
    state.push("paragraph_open", "p", 1)
    inline = state.push("inline", "", 0)
    inline.content, inline.map, inline.children = content, [line, line + 1], []
    state.push("paragraph_close", "p", -1)


def _text(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    if state.src[state.pos] != ":" or state.src.startswith("::", state.pos - 1 if state.pos else 0):
        return False
    match = _TEXT.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("text_directive", "", 0)
        simple = match["label"] is None and match["attributes"] is None
        token.content = f":{match['name']}" if simple else match["label"] or ""
        token.meta = {"label": match["label"] or ""}
    state.pos = match.end()
    return True
