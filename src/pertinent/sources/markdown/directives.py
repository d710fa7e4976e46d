"""Directives for markdown-it, as in remark-directive: `:::note[Title]`, `::leaf[label]`, `:text[label]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..elements import KEYWORDS
from .paragraphs import push_paragraph
from .search_limits import limit_nesting

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

_NAME = r"[A-Za-z](?:[\w-]*[A-Za-z0-9])?"
_ATTRIBUTES = r"\{[^}]{0,1000}+\}"
_CONTAINER = re.compile(
    rf"(?P<colons>:{{3,}})(?:(?P<name>{_NAME})(?:\[(?P<label>.*)\])?(?P<attributes>{_ATTRIBUTES})?[ \t]*"
    rf"|(?P<keyword>{'|'.join(KEYWORDS)}) +(?P<title>.*))",
    re.ASCII,
)
_LEAF = re.compile(rf"::{_NAME}(?:\[(?P<label>.*)\])?(?:{_ATTRIBUTES})?[ \t]*", re.ASCII)
_TEXT = re.compile(
    rf":(?P<name>{_NAME})(?![\w:-])(?:\[(?P<label>[^\]\n]{{0,1000}}+)\])?"
    r"(?P<attributes>\{[^}\n]{0,1000}+\})?",
    re.ASCII,
)
_TITLE = re.compile(r"title=(?:\"([^\"]*)\"|'([^']*)'|([^\s}]+))")


def directives_plugin(md: MarkdownIt) -> None:
    """Add the rules of this module to a parser."""
    alt = ["paragraph", "reference", "blockquote", "list"]
    md.block.ruler.before("fence", "directive", limit_nesting(_block_rule), {"alt": alt})
    md.inline.ruler.before("autolink", "text_directive", _text_rule)


def _line_text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _block_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's signature
    line = _line_text(state, start)
    if not line.startswith("::") or state.is_code_block(start):
        return False
    match = _CONTAINER.fullmatch(line)
    if match is None:
        return _match_leaf(state, start, line, silent)
    if not silent:
        _push_container(state, match, start, _find_close(state, start, end, len(match["colons"])))
    return True


def _match_leaf(state: StateBlock, start: int, line: str, silent: bool) -> bool:  # noqa: FBT001
    """Match a leaf directive, which shows its label, or a `:::` that closes nothing and shows nothing."""
    stray_close = len(line.rstrip()) > 2 and not line.rstrip().strip(":")  # noqa: PLR2004  `:::` and longer
    match = _LEAF.fullmatch(line)
    if not match and not stray_close:
        return False
    if not silent:
        state.line = start + 1
        if match and match["label"]:
            push_paragraph(state, match["label"], start, start + 1)
    return True


def _find_close(state: StateBlock, start: int, end: int, colons: int) -> int:
    """Return the line that closes the directive, or the one where the block around it ends."""
    for line in range(start + 1, end):
        if state.sCount[line] < state.blkIndent and not state.isEmpty(line):
            return line
        text = _line_text(state, line).rstrip()
        if len(text) >= colons and not text.strip(":"):
            return line
    return end


def _push_container(state: StateBlock, match: re.Match[str], start: int, close: int) -> None:
    """Add the tokens of a directive: its title as a paragraph, then what is inside it."""
    title = match["title"] or match["label"] or _title_attribute(match["attributes"])
    opening = state.push("directive_open", "", 1)
    opening.meta = {"name": match["name"] or match["keyword"], "title": bool(title)}
    if title:
        push_paragraph(state, title.strip(), start, start + 1)
    parent, line_max = state.parentType, state.lineMax
    state.parentType, state.lineMax = "directive", close
    state.md.block.tokenize(state, start + 1, close)
    state.parentType, state.lineMax = parent, line_max
    state.push("directive_close", "", -1)
    closed = close < line_max and not _line_text(state, close).rstrip().strip(":")
    state.line = close + 1 if closed else close


def _title_attribute(attributes: str | None) -> str:
    match = _TITLE.search(attributes or "")
    return next((group for group in match.groups() if group), "") if match else ""


def _text_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    if state.src[state.pos] != ":" or state.src.startswith("::", state.pos - 1 if state.pos else 0):
        return False
    match = _TEXT.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("text_directive", "", 0)
        is_bare = match["label"] is None and match["attributes"] is None  # `node:fs` is text
        token.content = f":{match['name']}" if is_bare else match["label"] or ""
        token.meta = {"label": match["label"] or ""}
    state.pos = match.end()
    return True
