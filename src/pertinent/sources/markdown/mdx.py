"""MDX for markdown-it: imports, exports, JSX tags, `{expressions}` and comments as tokens of their own.

MDX has no indented code, and blocks inside JSX may be indented at will. A tag or an expression that
fills its line is a block; any other belongs to its paragraph. What is not valid MDX (a lone `<` or
`{`, a tag that never closes) stays text, so plain Markdown is read as well.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from ..elements import HIDDEN, HTML_TAGS, RAW_TEXT
from .directives import directives_plugin
from .formulas import formulas_plugin
from .jsx import Tag, scan_expression, scan_tag
from .large_files import MAX_MARKS, PageTooLarge
from .paragraphs import paragraphs_plugin
from .search_limits import Env, search_limits, search_limits_plugin

if TYPE_CHECKING:
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline

# What an inline construct can begin with. A line break without spaces around it is plain text.
_INLINE_MARKUP = re.compile(r"[\\`*_~<{\[]|\$\$|&[#\w]|:[A-Za-z]|[ \t]\n|\n[ \t]")
_MAX_NESTING = 100  # markdown-it drops what is nested deeper; its default of 20 is ten lists
_ALT = ["paragraph", "reference", "blockquote", "list"]
_NAME = r"(?:[^\W\d]|\$)[\w$]*"
# The names of an import have a limit, or a page with many lines that begin with `import` would take long.
_IMPORT = re.compile(
    rf"""
    import\s+
    (?:(?:{_NAME}\s*,\s*)?(?:{_NAME}|\*\s*as\s+{_NAME}|\{{[^}}]{{0,2000}}\}})\s*from\s*)?
    (?P<quote>['"])[^'"\n]+(?P=quote)
    [ \t]*(?:(?:;|//|/\*|(?:with|assert)[ \t]*\{{).*)?$
    """,
    re.VERBOSE | re.MULTILINE,
)
# Only what no sentence has: a paragraph of plain Markdown may begin with the word.
_STRICT_EXPORT = re.compile(
    rf"""
    export\s+(?:
        (?:const|let|var)\s+(?:{_NAME}\s*=|[\[{{])
        |(?:async\s+)?function\b\s*\*?\s*(?:{_NAME}\s*)?\(
        |class\s+{_NAME}\s*(?:\{{|extends\b)
        |default\s+(?:(?:async|class|function|new)\b|[(\[{{<"'`]|{_NAME}[ \t]*(?:[;(.]|=>|$))
        |\*\s*(?:as\s+{_NAME}\s*)?from\b
        |\{{
    )
    """,
    re.VERBOSE | re.MULTILINE,
)
# In MDX no paragraph begins with `export`; still, what reads like a sentence is kept as text.
_EXPORT = re.compile(
    rf"""
    {_STRICT_EXPORT.pattern}
    |export\s+(?:
        (?:let|var)\s+{_NAME}[ \t]*(?:[;,/]|$)
        |default\s+(?:[-+!~\d/]|(?:await|typeof|void)\b|{_NAME}[ \t]*[-+*/%&|^<>=?!\[`])
    )
    """,
    re.VERBOSE | re.MULTILINE,
)
_BINDING = re.compile(r"import\s+([A-Za-z_$][\w$]*)\s*(?:,\s*[{*][^'\"]*)?\sfrom\s*['\"]([^'\"]+)['\"]")
_COMMENT_END = re.compile("-->")
_SPACES = re.compile(r"(?P<indent>[ \t]*)\s*")


class _Construct(NamedTuple):
    """A tag, or an expression with its source as value, that ends before position `end`."""

    kind: str
    value: Tag | str
    end: int


@cache
def markdown_parser(*, mdx: bool, may_be_markdown: bool = False) -> MarkdownIt:
    """Return the parser of MDX, or of CommonMark with HTML (where braces are text and indents are code).

    Tags and expressions become tokens of the types `tag` and `expression` with the Tag or the source in
    `meta["value"]`. The imports of a page are in `env["imports"]`: the path by the imported name. If it has
    any import or export, `env["has_esm"]` is set. With `may_be_markdown`, indented lines are code, as in
    CommonMark, and a line is an export only if it can't be the beginning of a sentence.
    """
    md = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable(["table", "strikethrough"])
    md.use(footnote_plugin).use(search_limits_plugin).use(directives_plugin).use(formulas_plugin)
    md.disable(["html_inline", "footnote_inline"])
    md.block.ruler.before("table", "comment", _comment_block_rule, {"alt": _ALT})
    md.core.ruler.at("inline", _parse_inline)
    md.inline.ruler.before("autolink", "comment", _comment_inline_rule)
    md.inline.ruler.after("autolink", "tag", _tag_inline_rule)
    if mdx:
        md.disable("html_block")
        md.block.ruler.before("fence", "flow", _flow_rule, {"alt": _ALT})
        export = _STRICT_EXPORT if may_be_markdown else _EXPORT
        md.block.ruler.before("fence", "esm", partial(_esm_rule, export))
        md.inline.ruler.before("autolink", "expression", _expression_inline_rule)
        if not may_be_markdown:
            md.disable("code").use(paragraphs_plugin)
    return md


def _line_after(state: StateBlock, pos: int, line: int) -> int:
    """Return the line after the one that contains `pos`, searching from `line` on."""
    while state.eMarks[line] < pos:
        line += 1
    return line + 1


# ── imports and exports ───────────────────────────────────────────────────


def _esm_rule(
    export: re.Pattern[str],
    state: StateBlock,
    start: int,
    end: int,
    silent: bool,  # noqa: FBT001  markdown-it's signature
) -> bool:
    """Match an import or an export at the margin; both show nothing."""
    pos = state.bMarks[start]
    at_margin = state.blkIndent == 0 and state.sCount[start] == 0
    if silent or not at_margin or not state.src.startswith(("import", "export"), pos):
        return False
    limit = state.eMarks[end - 1]
    match = _IMPORT.match(state.src, pos, limit)
    if match:
        state.env["has_esm"] = True
        state.line = _line_after(state, match.end(), start)
        binding = _BINDING.match(match.group())
        if binding:
            state.env.setdefault("imports", {})[binding.group(1)] = binding.group(2)
        return True
    if not export.match(state.src, pos, limit):
        return False
    state.env["has_esm"] = True
    state.line = _export_end(state, start, end)
    return True


def _export_end(state: StateBlock, start: int, end: int) -> int:
    """Return the first blank line at which all brackets are closed, or the first blank line if none is."""
    first_blank = None
    limits = search_limits(state.env)
    for line in range(start + 1, end + 1):
        if line < end and not state.isEmpty(line):
            continue
        first_blank = first_blank or line
        if limits.export_characters <= 0:
            break
        code = "(" + state.src[state.bMarks[start] : state.eMarks[line - 1]] + "\n)"
        if scan_expression(code, 0, len(code)) == len(code):
            return line
        limits.export_characters -= len(code)
    return first_blank or end


# ── tags and expressions ──────────────────────────────────────────────────


def _is_meant_as_tag(tag: Tag, src: str, env: Env) -> bool:
    """Whether a tag is closed or opened somewhere, or belongs to HTML; `Vec<T>` in prose does not."""
    if tag.kind == "self" or (tag.name.lower() in HTML_TAGS and tag.name not in HIDDEN):
        return True
    names_by_text = env.setdefault("tag_names", {})
    if src not in names_by_text:  # a text with thousands of `Vec<T>` is searched once
        names_by_text[src] = {
            mark: sorted(set(re.findall(f"{mark}([\\w$.:-]*)", src))) for mark in ("<", "</")
        }
    partners = names_by_text[src]["</" if tag.kind == "open" else "<"]
    index = bisect_left(partners, tag.name)  # the first name that may begin with the tag's name
    return index < len(partners) and partners[index].startswith(tag.name)


def _scan_construct(
    src: str, pos: int, end: int, env: Env, *, expressions: bool = False
) -> _Construct | None:
    """Return the tag at `pos`, or the expression if `expressions` are looked for.

    Docusaurus escapes `{#`, which begins the id of a heading, so it begins no expression.
    """
    limits = search_limits(env)
    if src.startswith("<", pos):
        tag = scan_tag(src, pos, end, limits)
        if tag and _is_meant_as_tag(tag, src, env):
            return _Construct("tag", tag, tag.end)
        if tag:
            limits.characters -= tag.end - pos
    elif expressions and src.startswith("{", pos) and not src.startswith("{#", pos):
        close = scan_expression(src, pos, end, limits)
        return _Construct("expression", src[pos + 1 : close - 1], close) if close is not None else None
    return None


def _scan_line(src: str, pos: int, end: int, env: Env) -> list[_Construct] | None:
    """Return the tags and expressions that fill the line from `pos` on; None if text is among them."""
    start = pos
    constructs: list[_Construct] = []
    while True:
        # To MDX, two expressions in a row are a paragraph; a tag may stand beside either.
        expressions = not constructs or constructs[-1].kind == "tag"
        construct = _scan_construct(src, pos, end, env, expressions=expressions)
        if construct is None:
            if src.find("\n", start, pos) >= 0:  # each of these lines may begin another search
                search_limits(env).characters -= pos - start
            return None
        constructs.append(construct)
        pos = construct.end
        while pos < end and src[pos] in " \t":
            pos += 1
        if pos >= end or src[pos] == "\n":
            return constructs


def _flow_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Match a line of tags and expressions."""
    pos = state.bMarks[start] + state.tShift[start]
    if pos >= state.eMarks[start] or state.src[pos] not in "<{":
        return False
    constructs = _scan_line(state.src, pos, state.eMarks[end - 1], state.env)
    if not constructs:
        return False
    if not silent:
        state.line = _push_constructs(state, constructs, start, end)
    return True


def _push_constructs(state: StateBlock, constructs: list[_Construct], start: int, end: int) -> int:
    """Add a token for each construct; return the line to go on with, past the text of a `<style>`."""
    last = constructs[-1]
    for construct in constructs:
        token = state.push(construct.kind, "", 0)
        token.meta = {"value": construct.value, "ends_line": construct is last}
    next_line = _line_after(state, last.end, start)
    if isinstance(last.value, Tag) and last.value.kind == "open" and last.value.name.lower() in RAW_TEXT:
        closing = re.compile(f"</{last.value.name}[^\\S\n]*>", re.IGNORECASE)
        limits = search_limits(state.env)
        for line in range(next_line, end if limits.characters > 0 else next_line):
            if closing.search(state.src, state.bMarks[line], state.eMarks[line]):
                return line
        limits.characters -= state.eMarks[end - 1] - last.end
    return next_line


def _tag_inline_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    return _push_inline(state, _scan_construct(state.src, state.pos, state.posMax, state.env), silent)


def _expression_inline_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    if state.src[state.pos] != "{":
        return False
    construct = _scan_construct(state.src, state.pos, state.posMax, state.env, expressions=True)
    return _push_inline(state, construct, silent)


def _push_inline(state: StateInline, construct: _Construct | None, silent: bool) -> bool:  # noqa: FBT001
    if construct is None:
        return False
    if not silent:
        state.push(construct.kind, "", 0).meta = {"value": construct.value}
    state.pos = construct.end
    return True


# ── comments ──────────────────────────────────────────────────────────────


def _comment_block_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Match HTML comments. Text after a comment becomes a line of its own, for the rules after this one."""
    line = start
    while not state.is_code_block(line):
        pos = state.bMarks[line] + state.tShift[line]
        close = _find_comment_end(state.src, pos, state.eMarks[end - 1], state.env)
        if close < 0:
            break
        if silent:
            return True
        line = _line_after(state, close + 3, line) - 1
        spaces = _SPACES.match(state.src, close + 3, state.eMarks[line])
        if spaces is None or spaces.end() == state.eMarks[line]:
            line += 1
            break
        state.bMarks[line], state.tShift[line] = close + 3, len(spaces["indent"])
        state.sCount[line] = state.sCount[start]
    state.line = line
    return line > start


def _find_comment_end(src: str, pos: int, end: int, env: Env) -> int:
    """Return the position of the `-->` of a comment at `pos`; -1 if there is none."""
    if not src.startswith("<!--", pos):
        return -1
    ends_by_text = env.setdefault("comment_ends", {})
    if src not in ends_by_text:  # a text with thousands of `<!--` is searched once
        ends_by_text[src] = [match.start() for match in _COMMENT_END.finditer(src)]
    ends = ends_by_text[src]
    index = bisect_left(ends, pos + 4)
    return ends[index] if index < len(ends) and ends[index] + 3 <= end else -1


def _comment_inline_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001, ARG001
    close = _find_comment_end(state.src, state.pos, state.posMax, state.env)
    if close < 0:
        return False
    state.pos = close + 3
    return True


def _parse_inline(state: StateCore) -> None:
    """Parse the inline contents of blocks; half of them hold no markup and become one text token.

    Raises PageTooLarge if the tokens of their markup would need too much memory.
    """
    limits = search_limits(state.env)
    total_marks = 0
    for token in state.tokens:
        if token.type != "inline":
            continue
        limits.label_steps += len(token.content)
        if token.children is None:
            token.children = []
        marks = len(_INLINE_MARKUP.findall(token.content))
        total_marks += marks
        if total_marks > MAX_MARKS:
            raise PageTooLarge(f"{MAX_MARKS:,} marks such as * and [")
        if marks:
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        elif token.content:
            token.children.append(Token("text", "", 0, content=token.content))
