"""Parse a large Markdown file part by part, because the tokens of a whole one would need too much memory.

Tokens have 15 times the size of prose, and 300 times that of a list of single words.

A part begins with a block at the top level, or with an item of a list there: the last one of the part
above it, which may go on below that part and is parsed again. What may reach beyond its block is found by
`_CROSSING`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LARGE_CHARACTERS = 2**18
"""Smaller files are parsed in one go."""

PART_CHARACTERS = 2**17
"""About how many characters a part has; a block that is longer is one part."""

MAX_LINES_AND_CELLS = 500_000
"""How many lines and table cells are parsed in one go; each may need 3 KB of memory."""
_LINE_OR_CELL = re.compile(r"\n(?!\n)|\|")

MAX_MARKS = 300_000
"""How many marks of inline markup are parsed in one go; each may need 2 KB of memory."""

_CROSSING = re.compile(
    r"^(?:[ \t>*+-]|\d+[.)])*+(?:<|\{|\$\$|:::|import\b|export\b)|\[\^|mdx-code-block", re.MULTILINE
)
"""Tags, expressions, formulas, admonitions, imports and footnotes, which may end in another block."""


class PageTooLarge(ValueError):
    """A page has more in one part than can be parsed in one go; `limit` says of what."""

    def __init__(self, limit: str) -> None:
        super().__init__(
            f"has more than {limit} that can only be read together: a long paragraph, table, quote or block "
            "of code, or any text in a file with tags, expressions, admonitions, formulas, footnotes or "
            "imports. Divide it into several pages"
        )


def check_size(part: str) -> None:
    """Raise PageTooLarge if the tokens of a part would need too much memory."""
    if sum(1 for _ in islice(_LINE_OR_CELL.finditer(part), MAX_LINES_AND_CELLS + 1)) > MAX_LINES_AND_CELLS:
        raise PageTooLarge(f"{MAX_LINES_AND_CELLS:,} lines and table cells")


def is_divisible(content: str) -> bool:
    """Whether a file is large, and nothing in it may reach beyond its block."""
    return len(content) > LARGE_CHARACTERS and not _CROSSING.search(content)


def parse_parts(parser: MarkdownIt, content: str) -> Iterator[Token]:
    """Yield the tokens of a file, part by part; a link may be defined in any part.

    Raises PageTooLarge where a part can't be divided and is too large.
    """
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
    """Parse a file part by part; yield the tokens of the blocks and items that end in each part."""
    start, size = 0, PART_CHARACTERS
    skipped_tokens = 0
    while start < len(content):
        end = content.find("\n", start + size) + 1 or len(content)
        part = content[start:end]
        check_size(part)
        tokens = parse(part)
        if end == len(content):
            yield tokens[skipped_tokens:]
            break
        last = next((i for i in range(len(tokens) - 1, 0, -1) if _begins_part(tokens[i])), None)
        if last is None:
            size *= 2
            continue
        yield tokens[skipped_tokens:last]
        start, size = start + _find_token_start(part, tokens[last]), PART_CHARACTERS
        # A part that begins with an item would open its list again.
        skipped_tokens = 1 if tokens[last].level else 0


def _begins_part(token: Token) -> bool:
    """Whether a token begins a block at the top level, or an item of a list there, below the first line."""
    is_outermost = token.level == 0 or (token.level == 1 and token.type == "list_item_open")
    return is_outermost and token.map is not None and token.map[0] > 0


def _find_token_start(text: str, token: Token) -> int:
    """Return the position at which the first line of a token begins."""
    position = 0
    for _ in range(token.map[0] if token.map else 0):
        position = text.index("\n", position) + 1
    return position
