"""Paragraphs, setext headings and lists for markdown-it without indented code, as MDX has them.

CommonMark shields a line that is indented by four columns from every other rule, since it might be
code; in MDX, where the contents of JSX are indented at will, it begins a list or a fence like any.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown_it.rules_block import list_block

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock

_SILENT = True  # asks a rule of markdown-it whether it would match, no more
_WORDS = re.compile(r"(?!import\s|export\s)(?:\*\*|__|`)?[^\W\d_]")
_TABLE_RULE = re.compile(r"[-:|][-:| \t]*")


def paragraphs_plugin(md: MarkdownIt) -> None:
    """Put these rules in the place of a parser's own."""
    md.disable("lheading")
    md.block.ruler.before("table", "words", _words)
    md.block.ruler.at("paragraph", _paragraph)
    md.block.ruler.at("list", _list, {"alt": ["paragraph", "reference", "blockquote"]})


def _list(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """A list, wherever it is indented to: CommonMark takes an item four columns in for more of a text."""
    indent, state.listIndent = state.listIndent, -1
    found = list_block(state, start, end, silent)
    state.listIndent = indent
    return found


def _opens_with_words(state: StateBlock, line: int) -> bool:
    """Whether a line is text for sure, so that no other rule need look at it: one in two is."""
    pos = state.bMarks[line] + state.tShift[line]
    if not _WORDS.match(state.src, pos, state.eMarks[line]):
        return False
    after = line + 1
    if after >= state.lineMax:
        return True
    return not _TABLE_RULE.fullmatch(
        state.src, state.bMarks[after] + state.tShift[after], state.eMarks[after]
    )


def _words(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    return _opens_with_words(state, start) and _paragraph(state, start, end, silent)


def _paragraph(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001, ARG001
    """A paragraph or a setext heading; unlike CommonMark's, a deep indent does not shield a line."""
    end, line, level = state.lineMax, start + 1, 0
    parent, state.parentType = state.parentType, "paragraph"
    while line < end and not state.isEmpty(line):
        level = _underline(state, line)
        if level or (state.sCount[line] >= 0 and _interrupts(state, line, end)):
            break
        line += 1
    content = state.getLines(start, line, state.blkIndent, keepLastLF=False).strip()
    name = f"h{level}" if level else "p"
    kind = "heading" if level else "paragraph"
    state.line = line + 1 if level else line
    state.push(f"{kind}_open", name, 1).map = [start, state.line]
    inline = state.push("inline", "", 0)
    inline.content, inline.map, inline.children = content, [start, state.line], []
    state.push(f"{kind}_close", name, -1)
    state.parentType = parent
    return True


def _interrupts(state: StateBlock, line: int, end: int) -> bool:
    """Whether a line ends the paragraph above it by beginning something else."""
    if _opens_with_words(state, line):
        return False
    return any(rule(state, line, end, _SILENT) for rule in state.md.block.ruler.getRules("paragraph"))


def _underline(state: StateBlock, line: int) -> int:
    if not state.blkIndent <= state.sCount[line]:
        return 0
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
    if text and not text.strip("="):
        return 1
    return 2 if text and not text.strip("-") else 0
