"""Stands in for Docusaurus: the Markdown pages of a book as the HTML that it builds from them."""

from __future__ import annotations

import re
from html import escape

from pertinent.sources.normal_form import BlockPiece, HeadingPiece, Piece
from pertinent.types import Page


def pieces_of(page: Page) -> list[Piece]:
    """The headings and blocks of a page, from its text in normal form."""
    pieces: list[Piece] = []
    position = 0
    for section in page.sections:
        pieces += _headings(page.text[position : section.blocks[0].start], section.anchor)
        pieces += [BlockPiece(block.kind, page.text[block.start : block.end]) for block in section.blocks]
        position = section.blocks[-1].end
    return [*pieces, *_headings(page.text[position:], "")]


def _headings(text: str, anchor: str) -> list[Piece]:
    headings = re.findall(r"^(#{1,6}) (.*)$", text, re.MULTILINE)
    last = len(headings) - 1
    return [
        HeadingPiece(len(marks), words, anchor if at == last else "")
        for at, (marks, words) in enumerate(headings)
    ]


def article(page: Page) -> str:
    """The content of the article of the built page."""
    out: list[str] = []
    for piece in pieces_of(page):
        if isinstance(piece, HeadingPiece):
            mark = f'<a href="#{piece.anchor}" class="hash-link" aria-label="Direct link">\u200b</a>'
            id_of = f' class="anchor" id="{escape(piece.anchor)}"' if piece.anchor else ""
            heading = (
                f"<h{piece.level}{id_of}>{escape(piece.text)}{mark if piece.anchor else ''}</h{piece.level}>"
            )
            out.append(f"<header>{heading}</header>" if piece.level == 1 else heading)
        else:
            out.append(_BLOCKS[piece.kind](piece.text))
    return "".join(out)


def _inline(text: str) -> str:
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        f"<code>{escape(part[1:-1])}</code>" if part.startswith("`") and len(part) > 2 else escape(part)
        for part in parts
    )


def _prose(text: str) -> str:
    return f"<p>{_inline(text)}</p>"


def _item(text: str) -> str:
    mark, _, words = text.strip().partition(" ")
    if mark == "-":
        return f"<ul><li>{_inline(words)}</li></ul>"
    return f'<ol start="{mark.rstrip(".")}"><li>{_inline(words)}</li></ol>'


def _code(text: str) -> str:
    first, *lines = text.split("\n")
    language = first.strip("`~ ") or "text"
    return (
        f'<div class="language-{language} codeBlockContainer_x theme-code-block">'
        '<div class="codeBlockContent_x">'
        f'<pre class="prism-code language-{language}"><code>{escape(chr(10).join(lines[:-1]))}</code></pre>'
        "</div></div>"
    )


def _table(text: str) -> str:
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.split("\n")]
    head, *body_rows = [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    cells = "".join(f"<th>{_inline(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>" for row in body_rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


_BLOCKS = {"prose": _prose, "item": _item, "code": _code, "table": _table}
