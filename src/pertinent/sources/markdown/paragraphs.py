"""Paragraphs, underlined headings and lists for markdown-it, as MDX has them: without indented code.

CommonMark protects a line that is indented by four columns from every other rule, because it might be
code. In MDX the contents of JSX may be indented at will, so such a line can begin a list or a fence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown_it.rules_block import list_block

from .search_limits import limit_depth

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock

_SILENT = True  # asks a rule of markdown-it only whether it matches
_WORD = re.compile(r"(?!import\s|export\s)(?:\*\*|__|`)?[^\W\d_]")
_TABLE_RULE = re.compile(r"[-:|][-:| \t]*")


def paragraphs_plugin(md: MarkdownIt) -> None:
    """Replace a parser's own rules by those of this module."""
    md.disable("lheading")
    md.block.ruler.before("table", "plain_text", _plain_text_rule)
    md.block.ruler.at("paragraph", _paragraph_rule)
    md.block.ruler.at("list", limit_depth(_list_rule), {"alt": ["paragraph", "reference", "blockquote"]})


def push_paragraph(state: StateBlock, content: str, start: int, end: int, *, level: int = 0) -> None:
    """Add the tokens of a paragraph on the lines from `start` to `end`; with a `level`, of a heading."""
    kind, tag = ("heading", f"h{level}") if level else ("paragraph", "p")
    state.push(f"{kind}_open", tag, 1).map = [start, end]
    inline = state.push("inline", "", 0)
    inline.content, inline.map, inline.children = content, [start, end], []
    state.push(f"{kind}_close", tag, -1)


def _list_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Match a list at any indent: CommonMark reads an item four columns in as a continued paragraph."""
    indent, state.listIndent = state.listIndent, -1
    matched = list_block(state, start, end, silent)
    state.listIndent = indent
    return matched


def _plain_text_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Match a line that is surely text, before the other rules look at it. Half of all lines are."""
    return _opens_with_word(state, start) and _paragraph_rule(state, start, end, silent)


def _opens_with_word(state: StateBlock, line: int) -> bool:
    """Whether a line begins with a word and is not the head of a table."""
    pos = state.bMarks[line] + state.tShift[line]
    if not _WORD.match(state.src, pos, state.eMarks[line]):
        return False
    below = line + 1
    if below >= state.lineMax:
        return True
    return not _TABLE_RULE.fullmatch(
        state.src, state.bMarks[below] + state.tShift[below], state.eMarks[below]
    )


def _paragraph_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001, ARG001
    """Match a paragraph or an underlined heading."""
    end, line, level = state.lineMax, start + 1, 0
    parent, state.parentType = state.parentType, "paragraph"
    while line < end and not state.isEmpty(line):
        level = _underline_level(state, line)
        if level or (state.sCount[line] >= 0 and _interrupts_paragraph(state, line, end)):
            break
        line += 1
    content = state.getLines(start, line, state.blkIndent, keepLastLF=False).strip()
    state.line = line + 1 if level else line
    push_paragraph(state, content, start, state.line, level=level)
    state.parentType = parent
    return True


def _interrupts_paragraph(state: StateBlock, line: int, end: int) -> bool:
    """Whether a line ends the paragraph above it because another block begins there."""
    if _opens_with_word(state, line):
        return False
    return any(rule(state, line, end, _SILENT) for rule in state.md.block.ruler.getRules("paragraph"))


def _underline_level(state: StateBlock, line: int) -> int:
    """Return the heading level of an underline, 1 for `===` and 2 for `---`, or 0 for another line."""
    if not state.blkIndent <= state.sCount[line]:
        return 0
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
    if text and not text.strip("="):
        return 1
    return 2 if text and not text.strip("-") else 0
