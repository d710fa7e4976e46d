"""Formulas in TeX for markdown-it, as in remark-math: `$…$` in a line, and blocks between lines of `$$`.

Their text is kept as it is written, also braces, which are expressions elsewhere in MDX.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown_it.token import Token

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

_FENCE = "$$"
_INLINE = re.compile(r"(?<!\$)(?P<dollars>\${1,2})(?P<tex>[^$]++)(?P=dollars)(?![$\d])")
# Prices and shell variables are no formulas: `$5 and $6`, `$HOME and $PATH`.
_TIGHT = re.compile(r"(?=[^\\{}^_]*+[\\{}^_])\S(?:.*\S)?", re.DOTALL)
_PADDED = re.compile(r"(?=.*\\[A-Za-z])\s.*\S\s+", re.DOTALL)


def formulas_plugin(md: MarkdownIt) -> None:
    """Add the rules of this module to a parser."""
    alt = ["paragraph", "reference", "blockquote", "list"]
    md.block.ruler.before("fence", "formula", _block_rule, {"alt": alt})
    md.inline.ruler.before("escape", "formula", _inline_rule)


def _block_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's signature
    """Match the lines from one that begins with `$$` to the next `$$`, which is alone on its line."""
    first = _line_text(state, start)
    if not first.startswith(_FENCE) or "$" in first[len(_FENCE) :] or state.is_code_block(start):
        return False
    line = start + 1
    while line < end and _FENCE not in _line_text(state, line) and not _is_outside(state, line):
        line += 1
    if line >= end or _is_outside(state, line) or _line_text(state, line) != _FENCE:
        return False
    if not silent:
        tex = state.getLines(start, line, state.blkIndent, keepLastLF=False)
        state.push("inline", "", 0).children = [Token("text", "", 0, content=f"{tex} {_FENCE}")]
        state.line = line + 1
    return True


def _line_text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _is_outside(state: StateBlock, line: int) -> bool:
    """Whether a line is below the list or quote that the formula is in."""
    return not state.isEmpty(line) and state.sCount[line] < state.blkIndent


def _inline_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    if state.src[state.pos] != "$":
        return False
    match = _INLINE.match(state.src, state.pos, state.posMax)
    if match is None or not (_TIGHT.fullmatch(match["tex"]) or _PADDED.fullmatch(match["tex"])):
        return False
    if not silent:
        state.pending += f"${' '.join(match['tex'].split())}$"
    state.pos = match.end()
    return True
