"""Limits on how much of a page is searched again and again.

A mark that never closes is searched for up to the end of the page, and a quote inside another reads its
lines once more. Without limits, a page of such marks would take time by the square of its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from markdown_it import helpers
from markdown_it.rules_block import blockquote, list_block
from markdown_it.rules_inline import image
from mdit_py_plugins.footnote.index import footnote_ref

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

Env = MutableMapping[str, Any]
"""What markdown-it passes along for one page."""

BlockRule = Callable[["StateBlock", int, int, bool], bool]

_MAX_IMAGES = 5  # inside each other; the description of each is parsed again for the one around it
_LEVELS = 2  # of tokens, that a list and its item open
_FOOTNOTE_REFERENCE = re.compile(r"\[\^[^\] \n]{1,999}+\]")


@dataclass(slots=True)
class SearchLimits:
    """What is left of the limits of a page; marks beyond them stay text. Valid pages are far from them."""

    characters: int = 3_000_000
    """How many characters may be searched for tags and expressions that turn out to be text."""
    export_characters: int = 5_000_000
    """How many characters may be searched for the ends of exports."""
    label_steps: int = 1_000_000
    """How many tokens may be read for the labels of links, beyond one for each character."""
    nested_lines: int = 100_000
    """How many lines may be read again, for quotes and directives inside others, and after quotes."""
    open_containers: int = 0
    """How many quotes and directives are open."""
    open_images: int = 0
    """How many descriptions of images are open."""


def search_limits(env: Env) -> SearchLimits:
    """Return the limits of the page that is parsed."""
    limits: SearchLimits = env.setdefault("limits", SearchLimits())
    return limits


def search_limits_plugin(md: MarkdownIt) -> None:
    """Limit the parser's own rules for quotes, lists, links and images, and those of the footnote plugin."""
    interrupted = ["paragraph", "reference", "blockquote", "list"]
    md.block.ruler.at("blockquote", limit_nesting(blockquote), {"alt": interrupted})
    md.block.ruler.at("list", limit_depth(list_block), {"alt": interrupted[:-1]})
    md.inline.ruler.at("image", _image_rule)
    md.inline.ruler.at("footnote_ref", _footnote_rule)
    limited = SimpleNamespace(**{**vars(helpers), "parseLinkLabel": _find_label_end})
    md.helpers = cast("Any", limited)


def limit_depth(rule: BlockRule) -> BlockRule:
    """Read a container that is nested too deeply as text; the parser would drop the rest of the page."""

    def limited_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's signature
        may_nest = silent or state.level + _LEVELS < state.md.options.maxNesting
        return may_nest and rule(state, start, end, silent)

    return limited_rule


def limit_nesting(rule: BlockRule) -> BlockRule:
    """Limit how deep containers are, and how many lines a rule may read again inside other containers."""

    @limit_depth
    def limited_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's signature
        limits = search_limits(state.env)
        lines = end - start if limits.open_containers else 0
        if silent or lines > limits.nested_lines:
            return silent and rule(state, start, end, silent)
        limits.nested_lines -= lines
        limits.open_containers += 1
        matched = rule(state, start, end, silent)
        limits.open_containers -= 1
        limits.nested_lines += min(lines, end - state.line) if matched else lines
        if matched and not limits.open_containers:
            # A quote also reads the lines that might continue its last paragraph.
            limits.nested_lines -= _count_lines_before_blank(state, end)
        return matched

    return limited_rule


def _count_lines_before_blank(state: StateBlock, end: int) -> int:
    """Count the lines from the present one to the next blank one."""
    line = state.line
    while line < end and not state.isEmpty(line):
        line += 1
    return line - state.line


def _image_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    limits = search_limits(state.env)
    if limits.open_images >= _MAX_IMAGES:
        return False
    limits.open_images += 1
    matched = image(state, silent)
    limits.open_images -= 1
    return matched


def _footnote_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Match a reference to a footnote; the plugin's rule would look for the end of any label."""
    return bool(_FOOTNOTE_REFERENCE.match(state.src, state.pos, state.posMax)) and footnote_ref(state, silent)


def _find_label_end(state: StateInline, start: int, disableNested: bool = False) -> int:  # noqa: FBT001, FBT002, N803  markdown-it's signature
    """Return where the label of a link that begins at `start` ends, as markdown-it does; -1 if nowhere."""
    limits = search_limits(state.env)
    original, state.pos = state.pos, start + 1
    end, level = -1, 1
    while state.pos < state.posMax and limits.label_steps > 0:
        limits.label_steps -= 1
        pos, mark = state.pos, state.src[state.pos]
        if mark == "]":
            level -= 1
            if not level:
                end = pos
                break
        state.md.inline.skipToken(state)
        if mark == "[":
            if state.pos == pos + 1:  # text, and not a token such as a link
                level += 1
            elif disableNested:
                break
    state.pos = original
    return end
