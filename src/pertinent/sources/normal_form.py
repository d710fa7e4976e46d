"""The normal form of a page's text, and how a page is assembled from its pieces.

Every reader ends here, so a book read from its source gives the same text as its built site. The
normal form is plain Markdown: `## ` before headings, one line for a paragraph, `- ` or `1. ` before a
list item (two more spaces for each level), fences around code, pipes around table cells, backquotes
around inline code. Emphasis and link targets are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..types import NAME_MAX, Block, BlockKind, Section


@dataclass(frozen=True, slots=True)
class HeadingPiece:
    """A heading: its level (1 to 6), its plain text, and its anchor ("" if it has none)."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class BlockPiece:
    """A paragraph, list item, code block or table, with its text in normal form."""

    kind: BlockKind
    text: str


Piece = HeadingPiece | BlockPiece


def assemble(pieces: Iterable[Piece], title: str) -> tuple[str, tuple[Section, ...]]:
    """Join pieces into a page's text; return it with the sections that its headings make.

    Args:
        pieces: What the reader read, in order. Pieces without text are left out.
        title: The page's title. A level-one heading with this text adds nothing to section paths. A longer
            heading than NAME_MAX is cut in these paths; it is whole in the text.
    """
    parts: list[str] = []
    length = 0
    previous: Piece | None = None
    sections: list[Section] = []
    blocks: list[Block] = []
    headings: list[tuple[int, str]] = []  # level and text of those above the current block, outermost first
    anchor = ""

    def close_section() -> None:
        if blocks:
            path = tuple(heading for _, heading in headings)
            sections.append(Section(path, anchor, tuple(blocks)))
            blocks.clear()

    for piece in pieces:
        if not piece.text:
            continue
        text = piece.text if isinstance(piece, BlockPiece) else f"{'#' * piece.level} {piece.text}"
        gap = "" if previous is None else _gap_between(previous, piece)
        start = length + len(gap)
        parts += (gap, text)
        length = start + len(text)
        previous = piece
        if isinstance(piece, BlockPiece):
            blocks.append(Block(piece.kind, start, length))
            continue
        close_section()
        headings = [(level, heading) for level, heading in headings if level < piece.level]
        name = piece.text[:NAME_MAX]
        if piece.level > 1 or name != title[:NAME_MAX]:
            headings.append((piece.level, name))
        anchor = piece.anchor if len(piece.anchor) <= NAME_MAX else ""
    close_section()
    return "".join(parts), tuple(sections)


def _gap_between(upper: Piece, lower: Piece) -> str:
    """Return a blank line between two pieces, or a line break between two list items."""
    both_items = all(isinstance(piece, BlockPiece) and piece.kind == "item" for piece in (upper, lower))
    return "\n" if both_items else "\n\n"
