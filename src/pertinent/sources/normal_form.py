"""Headings and blocks, as any reader finds them, put together into a page's text in normal form.

Every reader of pages ends here, so that a book read from its source and from its built site comes
out the same. The normal form is plain Markdown: `## ` headings, one line for a paragraph, `- ` or
`1. ` before a list item (two spaces deeper for each level), fences around code, pipes around table
cells, backquotes around inline code; emphasis and link targets are gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..types import Block, BlockKind, Section


@dataclass(frozen=True, slots=True)
class HeadingPiece:
    """A heading as found: its level (1 to 6), its plain text, and its anchor ("" where it has none)."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class BlockPiece:
    """A block as found, in normal form."""

    kind: BlockKind
    text: str


Piece = HeadingPiece | BlockPiece


def assemble(pieces: Iterable[Piece], title: str) -> tuple[str, tuple[Section, ...]]:
    """The page's text and its sections; the heading that is the page's title adds nothing to a path."""
    parts: list[str] = []
    length = 0
    previous: Piece | None = None
    sections: list[Section] = []
    blocks: list[Block] = []
    stack: list[tuple[int, str]] = []
    anchor = ""

    def close() -> None:
        if blocks:
            path = tuple(text for _, text in stack)
            sections.append(Section(path, anchor, tuple(blocks)))
            blocks.clear()

    for piece in pieces:
        text = piece.text if isinstance(piece, BlockPiece) else f"{'#' * piece.level} {piece.text}"
        if not piece.text:
            continue
        gap = "" if previous is None else _gap(previous, piece)
        start = length + len(gap)
        parts += (gap, text)
        length = start + len(text)
        previous = piece
        if isinstance(piece, BlockPiece):
            blocks.append(Block(piece.kind, start, length))
            continue
        close()
        stack = [entry for entry in stack if entry[0] < piece.level]
        if piece.level > 1 or piece.text != title:
            stack.append((piece.level, piece.text))
        anchor = piece.anchor
    close()
    return "".join(parts), tuple(sections)


def _gap(before: Piece, after: Piece) -> str:
    kinds = {piece.kind if isinstance(piece, BlockPiece) else "heading" for piece in (before, after)}
    return "\n" if kinds == {"item"} else "\n\n"
