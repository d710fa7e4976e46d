"""Parse a large Markdown file part by part: the tokens of a whole one would need 15 times its size.

A part begins at a heading at the margin, below a blank line and outside of code: no Markdown
block continues past such a heading, except what `_CROSSING` finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LARGE_CHARACTERS = 2**20
"""Smaller files are parsed in one go."""

PART_CHARACTERS = 2**18
"""About how many characters a part has."""

_CROSSING = re.compile(
    r"^[ \t>]*(?:<|\{|:::|import\b|export\b|(?:[-*+]|\d+[.)])[ \t]+(?:`{3}|~{3}))|\[\^|mdx-code-block",
    re.MULTILINE,
)
"""Tags, expressions, admonitions, imports and footnotes, which may reach beyond a heading.

Also code behind a list mark, whose beginning `_LANDMARK` does not see.
"""

_LANDMARK = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)$|(?<=\n\n)(?P<heading>#{1,6} )", re.MULTILINE
)


def is_divisible(content: str) -> bool:
    """Whether a file is large, and nothing in it may reach beyond a heading."""
    return len(content) > LARGE_CHARACTERS and not _CROSSING.search(content)


def parse_parts(parser: MarkdownIt, content: str) -> Iterator[Token]:
    """Yield the tokens of a file, part by part; a link may be defined in any part."""
    env: dict[str, Any] = {}
    edges = [0, *_find_edges(content), len(content)]
    parts = [slice(start, end) for start, end in pairwise(edges)]
    if "]:" in content:
        for part in parts:
            parser.block.parse(content[part], parser, env, [])
    for part in parts:
        yield from parser.parse(content[part], env)


def _find_edges(content: str) -> Iterator[int]:
    """Yield where parts begin, but for the first."""
    start, fence = 0, ""
    for match in _LANDMARK.finditer(content):
        if match["fence"]:
            fence = _follow_fence(fence, match["fence"], match["info"])
        elif not fence and match.start() - start >= PART_CHARACTERS:
            start = match.start()
            yield start


def _follow_fence(opened: str, marks: str, info: str) -> str:
    """Return the marks of the fence that is open behind a line with these marks; empty if none is."""
    if not opened:
        return "" if marks[0] == "`" and "`" in info else marks
    closes = marks[0] == opened[0] and len(marks) >= len(opened) and not info.strip()
    return "" if closes else opened
