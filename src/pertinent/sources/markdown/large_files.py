"""Parse a large Markdown file part by part: the tokens of a whole one would need 15 times its size.

A part begins with a block at the top level: the last block of the part above it, which may go on below that
part and is parsed again. What may reach beyond its block is found by `_CROSSING`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LARGE_CHARACTERS = 2**20
"""Smaller files are parsed in one go."""

PART_CHARACTERS = 2**18
"""About how many characters a part has; a block that is longer is one part."""

_CROSSING = re.compile(
    r"^(?:[ \t>*+-]|\d+[.)])*+(?:<|\{|\$\$|:::|import\b|export\b)|\[\^|mdx-code-block", re.MULTILINE
)
"""Tags, expressions, formulas, admonitions, imports and footnotes, which may end in another block."""


def is_divisible(content: str) -> bool:
    """Whether a file is large, and nothing in it may reach beyond its block."""
    return len(content) > LARGE_CHARACTERS and not _CROSSING.search(content)


def parse_parts(parser: MarkdownIt, content: str) -> Iterator[Token]:
    """Yield the tokens of a file, part by part; a link may be defined in any part."""
    env: dict[str, Any] = {}

    def parse_blocks(part: str) -> list[Token]:
        tokens: list[Token] = []
        parser.block.parse(part, parser, env, tokens)
        return tokens

    if "]:" in content:
        for _ in _iterate_parts(parse_blocks, content):
            pass
    for tokens in _iterate_parts(lambda part: parser.parse(part, env), content):
        yield from tokens


def _iterate_parts(parse: Callable[[str], list[Token]], content: str) -> Iterator[Sequence[Token]]:
    """Parse a file part by part; yield the tokens of the blocks that end in each part."""
    start, size = 0, PART_CHARACTERS
    while start < len(content):
        end = content.find("\n", start + size) + 1 or len(content)
        part = content[start:end]
        tokens = parse(part)
        if end == len(content):
            yield tokens
            break
        index, line = _find_last_block(tokens)
        if index:
            yield tokens[:index]
            start, size = start + _find_line(part, line), PART_CHARACTERS
        else:
            size *= 2


def _find_last_block(tokens: Sequence[Token]) -> tuple[int, int]:
    """Return the index of the token that begins the last block at the top level, and its line.

    The index is 0 if there is no other block.
    """
    for index in range(len(tokens) - 1, 0, -1):
        token = tokens[index]
        if token.level == 0 and token.map:
            return index, token.map[0]
    return 0, 0


def _find_line(text: str, line: int) -> int:
    """Return the position at which a line begins; the first line has the number 0."""
    position = 0
    for _ in range(line):
        position = text.index("\n", position) + 1
    return position
