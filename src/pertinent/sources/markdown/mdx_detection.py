"""Guess whether a `.md` file is MDX, if no Docusaurus config says so.

A wrong guess costs words: MDX drops what is in braces, and has no indented code. So only constructs that
plain Markdown does not have are marks, and only where they are not code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..elements import HTML_TAGS
from .jsx import Tag
from .large_files import is_divisible, parse_parts
from .mdx import markdown_parser

if TYPE_CHECKING:
    from markdown_it.token import Token

_MAY_BE_MARK = re.compile(r"^(?:import|export)\s|<[A-Z]|\{/\*", re.MULTILINE)
"""Matches every mark, and more: only a text with a match is parsed."""


def looks_like_mdx(text: str) -> bool:
    """Whether a text has a mark of MDX outside of its code.

    The marks are an import or an export at the margin, a component that begins a block, and `{/* … */}`.
    """
    if not _MAY_BE_MARK.search(text):
        return False
    env: dict[str, Any] = {}
    parser = markdown_parser(mdx=True, may_be_markdown=True)
    tokens = parse_parts(parser, text) if is_divisible(text) else parser.parse(text, env)
    return any(map(_is_mark, _iterate_constructs(tokens))) or bool(env.get("has_esm"))


def _iterate_constructs(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield the tags that begin a block, and all expressions."""
    for token in tokens:
        if token.type in ("tag", "expression"):
            yield token
        for index, child in enumerate(token.children or ()):
            if child.type == "expression" or (child.type == "tag" and index == 0):
                yield child


def _is_mark(token: Token) -> bool:
    """Whether a tag is a component, or an expression is a comment."""
    value: Tag | str = token.meta["value"]
    if isinstance(value, Tag):
        is_html = value.name.isupper() and value.name.lower() in HTML_TAGS
        return value.name[:1].isupper() and not is_html
    return value.startswith("/*")
