"""MDX for markdown-it: imports and exports, JSX, `{expressions}` and comments as tokens of their own.

MDX has no indented code, and its blocks may be indented at will inside JSX; a tag or an expression
that fills its line is a block, and any other stands in its paragraph. What is not valid MDX (a
lone `<` or `{`, a tag that never closes) stays text, so plain Markdown goes through unharmed.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from functools import cache
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from ..elements import HIDDEN, HTML, RAW
from .directives import directives_plugin
from .jsx import Tag, scan_expression, scan_tag
from .paragraphs import paragraphs_plugin

if TYPE_CHECKING:
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline

# What an inline rule may begin with; a line break by itself is as good as a space.
_MEANING = re.compile(r"[\\`*_~<{\[]|&[#\w]|:[A-Za-z]|[ \t]\n|\n[ \t]")
_PATIENCE = 200  # braces that never close, in one page; valid MDX has none but in its exports
_DEEPEST = 100  # markdown-it drops what is nested deeper, and its own 20 is ten lists
_ALT = ["paragraph", "reference", "blockquote", "list"]
_IMPORT = re.compile(r"import\s(?:[\w$*{][^'\";]*?\sfrom\s*|[{*][^'\";]*?\bfrom\s*)?(['\"])[^'\"\n]+\1.*")
_EXPORT = re.compile(r"export\s+(?:(?:const|let|var|function|class|default|async)\b|[{*])")
_BINDING = re.compile(r"import\s+([A-Za-z_$][\w$]*)\s*(?:,\s*[{*][^'\"]*)?\sfrom\s*['\"]([^'\"]+)['\"]")


@cache
def parser(*, mdx: bool = True) -> MarkdownIt:
    """The parser: of MDX, or of CommonMark with HTML (where braces are text and indents are code)."""
    md = (
        MarkdownIt("commonmark", {"maxNesting": _DEEPEST})
        .enable(["table", "strikethrough"])
        .use(footnote_plugin)
    )
    md.disable(["html_inline", "footnote_inline"])
    directives_plugin(md)
    md.block.ruler.before("table", "comment", _comment_block, {"alt": _ALT})
    md.core.ruler.at("inline", _inline)
    md.inline.ruler.before("autolink", "comment", _comment_inline)
    md.inline.ruler.after("autolink", "tag", _tag_inline)
    if mdx:
        md.disable(["code", "html_block"])
        md.block.ruler.before("fence", "flow", _flow, {"alt": _ALT})
        md.block.ruler.before("fence", "esm", _esm)
        md.inline.ruler.before("autolink", "expression", _expression_inline)
        paragraphs_plugin(md)
    return md


def parses_as_mdx(text: str) -> bool:
    """Whether a file that may be either shows a mark of MDX: an import, a component, `{/* … */}`."""
    return bool(re.search(r"^(?:import|export)\s.*['\"{(]|</?[A-Z]\w*[\s/>]|\{/\*", text, re.MULTILINE))


def _line_end(state: StateBlock, pos: int, line: int) -> int:
    """The line after the one that holds `pos`."""
    while state.eMarks[line] < pos:
        line += 1
    return line + 1


def _flat(state: StateBlock, line: int) -> bool:
    return state.blkIndent == 0 and state.sCount[line] == 0


def _esm(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's signature
    pos = state.bMarks[start]
    if silent or not _flat(state, start) or not state.src.startswith(("import", "export"), pos):
        return False
    limit = state.eMarks[end - 1]
    match = _IMPORT.match(state.src, pos, limit)
    if match:
        state.line = _line_end(state, match.end(), start)
        binding = _BINDING.match(match.group())
        if binding:
            state.env.setdefault("imports", {})[binding.group(1)] = binding.group(2)
        return True
    if not _EXPORT.match(state.src, pos, limit):
        return False
    state.line = _export_end(state, start, end)
    return True


def _export_end(state: StateBlock, start: int, end: int) -> int:
    """The blank line after which the statement's brackets are all closed; the first if none is."""
    first = None
    for line in range(start + 1, end + 1):
        if line < end and not state.isEmpty(line):
            continue
        first = first or line
        code = "(" + state.src[state.bMarks[start] : state.eMarks[line - 1]] + "\n)"
        if _within_patience(code, 0, len(code), state.env) == len(code):
            return line
    return first or end


def _known(tag: Tag, src: str) -> bool:
    """Whether a tag is meant as one: closed somewhere, or of HTML. `Vec<T>` in prose is not."""
    if tag.kind == "self" or (tag.name.lower() in HTML and tag.name not in HIDDEN):
        return True
    return (f"</{tag.name}" if tag.kind == "open" else f"<{tag.name}") in src


Found = tuple[str, Tag | str, int]
Env = MutableMapping[str, Any]


def _scan_one(src: str, pos: int, end: int, env: Env, *, expressions: bool = False) -> Found | None:
    if src.startswith("<", pos):
        tag = scan_tag(src, pos, end)
        return ("tag", tag, tag.end) if tag and _known(tag, src) else None
    if expressions and src.startswith("{", pos):
        close = _within_patience(src, pos, end, env)
        return ("expression", src[pos + 1 : close - 1], close) if close is not None else None
    return None


def _within_patience(src: str, pos: int, end: int, env: Env) -> int | None:
    """Where an expression ends, until a page has shown that its braces are not of MDX."""
    if env.get("unclosed", 0) > _PATIENCE:
        return None
    close = scan_expression(src, pos, end)
    if close is None:
        env["unclosed"] = env.get("unclosed", 0) + 1
    return close


def _scan_line(src: str, pos: int, end: int, env: Env) -> list[Found] | None:
    """The tags and expressions that fill the rest of the line (or lines); None where text is among them."""
    found: list[Found] = []
    while True:
        # Two expressions in a row are a paragraph to MDX; a tag may stand beside either.
        one = _scan_one(src, pos, end, env, expressions=not found or found[-1][0] == "tag")
        if one is None:
            return None
        found.append(one)
        pos = one[2]
        while pos < end and src[pos] in " \t":
            pos += 1
        if pos >= end or src[pos] == "\n":
            return found


def _flow(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    pos = state.bMarks[start] + state.tShift[start]
    if pos >= state.eMarks[start] or state.src[pos] not in "<{":
        return False
    found = _scan_line(state.src, pos, state.eMarks[end - 1], state.env)
    if not found:
        return False
    if not silent:
        state.line = _push_block(state, found, start, end)
    return True


def _push_block(state: StateBlock, found: list[Found], start: int, end: int) -> int:
    for kind, what, close in found:
        token = state.push(kind, "", 0)
        token.meta = {"what": what, "ends": close == found[-1][2]}
    after = _line_end(state, found[-1][2], start)
    last = found[-1][1]
    if isinstance(last, Tag) and last.kind == "open" and last.name.lower() in RAW:
        closing = re.compile(f"</{last.name}\\s*>", re.IGNORECASE)
        for line in range(after, end):
            if closing.search(state.src, state.bMarks[line], state.eMarks[line]):
                return line
    return after


def _comment_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """A comment; what follows it on its last line is a line for itself, left to the rules after this one."""
    line = start
    while not state.is_code_block(line):
        pos = state.bMarks[line] + state.tShift[line]
        close = (
            state.src.find("-->", pos + 4, state.eMarks[end - 1]) if state.src.startswith("<!--", pos) else -1
        )
        if close < 0:
            break
        if silent:
            return True
        line = _line_end(state, close + 3, line) - 1
        rest = state.src[close + 3 : state.eMarks[line]]
        if not rest.strip():
            line += 1
            break
        state.bMarks[line], state.tShift[line] = close + 3, len(rest) - len(rest.lstrip(" \t"))
        state.sCount[line] = state.sCount[start]
    state.line = line
    return line > start


def _inline(state: StateCore) -> None:
    """Inline parsing, passed by where no character could mean anything, as in half of all lines."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        if token.children is None:
            token.children = []
        if _MEANING.search(token.content):
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        elif token.content:
            token.children.append(Token("text", "", 0, content=token.content))


def _comment_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001, ARG001
    if not state.src.startswith("<!--", state.pos):
        return False
    close = state.src.find("-->", state.pos + 4, state.posMax)
    if close < 0:
        return False
    state.pos = close + 3
    return True


def _tag_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    return _push_inline(state, _scan_one(state.src, state.pos, state.posMax, state.env), silent)


def _expression_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    if state.src[state.pos] != "{":
        return False
    found = _scan_one(state.src, state.pos, state.posMax, state.env, expressions=True)
    return _push_inline(state, found, silent)


def _push_inline(state: StateInline, found: Found | None, silent: bool) -> bool:  # noqa: FBT001
    if found is None:
        return False
    if not silent:
        token = state.push(found[0], "", 0)
        token.meta = {"what": found[1]}
    state.pos = found[2]
    return True
