"""Write the tokens of a parsed page as pieces: headings with their anchors, and blocks in normal form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .. import elements
from ..normal_form import HeadingPiece, Piece
from ..piece_writer import Capture, PieceWriter, join_words
from .fences import render_fence
from .headings import heading_id, slug_text
from .jsx import Tag, parse_string, split_html
from .slugger import Slugger
from .tabs import tab_label, tab_labels

if TYPE_CHECKING:
    from markdown_it.token import Token

Include = Callable[[Tag], Sequence[Piece] | None]
"""Returns the pieces of the partial that a tag stands for; None if the tag is not a partial."""

_PROP = re.compile(r"\s*props\.(\w+)\s*")


class Renderer:
    """Walk over the tokens of one document; its headings share one slugger.

    Args:
        include: Looks up the partial behind a tag such as `<Install />`.
        props: The attributes that this document was included with: `{props.name}` shows one.
    """

    def __init__(self, include: Include, props: Mapping[str, str | None]) -> None:
        self._include = include
        self._props = props
        self._slugger = Slugger()
        self._writer = PieceWriter[Tag]()
        self._tabs: list[dict[str, str]] = []

    def render(self, tokens: Sequence[Token]) -> list[Piece]:
        """Return the pieces of these tokens, in order."""
        writer = self._writer
        heading_level = 0
        for token in tokens:
            if token.type == "inline":
                if heading_level:
                    self._render_heading(heading_level, token.children or [])
                else:
                    self._render_inline(token.children or [])
                writer.flush()
            elif token.type == "heading_open":
                heading_level = int(token.tag[1])
            elif token.type == "heading_close":
                heading_level = 0
            else:
                self._render_block(token)
        writer.flush()
        self._close_captures("")
        while writer.tables:
            writer.close_table()
        return writer.pieces

    # ── blocks ────────────────────────────────────────────────────────────

    def _render_block(self, token: Token) -> None:
        kind = token.type
        if kind in ("tag", "expression"):
            self._render_construct(token)
            if token.meta["ends_line"]:
                self._writer.flush()
        elif kind == "fence":
            self._writer.write(render_fence(token.info, token.content))
        elif kind == "code_block":
            self._writer.write(elements.code_block("", "", token.content))
        elif kind == "html_block":
            self._render_html(token.content)
        elif kind == "directive_open":
            if not token.meta["title"] and token.meta["name"] in elements.KEYWORDS:
                self._writer.write_prose(elements.admonition_title(token.meta["name"]))
        elif kind == "footnote_block_open":
            self._writer.write([HeadingPiece(2, "Footnotes", "footnote-label")])
            self._writer.open_list(ordered=True)
        elif kind == "ordered_list_open":
            self._writer.open_list(ordered=True, start=int(token.attrGet("start") or 1))
        elif kind in _OPENED_ELEMENTS:
            self._open_element(Tag(_OPENED_ELEMENTS[kind], "open", 0))
        elif kind in _CLOSED_ELEMENTS:
            self._close_element(_CLOSED_ELEMENTS[kind])

    def _render_heading(self, level: int, children: Sequence[Token]) -> None:
        explicit_id, children = heading_id(children)
        anchor = explicit_id or self._slugger.slug(slug_text(children))
        self._render_inline(children, backquote="")
        text = join_words(self._writer.take_text())
        self._writer.write([HeadingPiece(level, text, "" if level == 1 else anchor)])

    def _render_html(self, source: str) -> None:
        """Render a block of HTML; the text in it is not Markdown."""
        for part in split_html(source):
            if isinstance(part, Tag):
                self._render_tag(part)
            else:
                self._writer.add_text(part)
        self._writer.flush()

    # ── inline ────────────────────────────────────────────────────────────

    def _render_inline(self, children: Sequence[Token], backquote: str = "`") -> None:
        """Add inline tokens to the paragraph; headings show code without backquotes."""
        for child in children:
            kind = child.type
            if kind in ("text", "text_special", "text_directive"):
                self._writer.add_text(child.content)
            elif kind == "code_inline":
                self._writer.add_text(elements.inline_code(child.content) if backquote else child.content)
            elif kind in ("softbreak", "hardbreak"):
                self._writer.add_text("\n")
            elif kind in ("tag", "expression"):
                self._render_construct(child, backquote)
            elif kind == "image":
                self._writer.add_text(" ")
                self._render_inline(child.children or [], backquote)
                self._writer.add_text(" ")

    def _render_construct(self, token: Token, backquote: str = "`") -> None:
        if token.type == "tag":
            self._render_tag(token.meta["value"], backquote)
        else:
            self._render_expression(token.meta["value"])

    def _render_expression(self, source: str) -> None:
        """Add the text of an expression: a plain string or a prop. Other expressions show nothing."""
        text = parse_string(source)
        prop = _PROP.fullmatch(source)
        if text is None and prop:
            text = self._props.get(prop.group(1))
        if text is None and source.startswith("#"):
            text = f"{{{source}}}"  # to Docusaurus, `{#id}` is text unless it ends a heading
        self._writer.add_text(text or "")

    # ── elements ──────────────────────────────────────────────────────────

    def _render_tag(self, tag: Tag, backquote: str = "`") -> None:
        writer, name = self._writer, tag.name
        if writer.hidden:
            if tag.kind == "close" and name == writer.hidden:
                writer.hidden = ""
            return
        included = self._include(tag) if tag.kind != "close" else None
        if name in elements.BLOCKS or included is not None:
            writer.flush()
        if included is not None:
            writer.write(included)
        elif name == "br":
            writer.add_text("\n")
        elif name == "img":
            writer.add_text(f" {tag.attributes.get('alt') or ''} ")
        elif name == "code":
            writer.add_text(backquote)
        elif tag.kind == "close":
            self._close_element(name)
        else:
            self._open_element(tag)
            if tag.kind == "self":
                self._close_element(name)

    def _open_element(self, tag: Tag) -> None:
        writer, name = self._writer, tag.name
        if name in elements.HIDDEN:
            writer.hidden = name if tag.kind == "open" else ""
        elif name in elements.HEADINGS or name in elements.CELLS or name in elements.CODE:
            writer.capture(tag, verbatim=name in elements.CODE)
        elif name in elements.LISTS:
            writer.open_list(ordered=name == "ol")
        elif name == "li":
            writer.open_item()
        elif name == "table":
            writer.open_table()
        elif name == "tr":
            writer.open_row()
        elif name in elements.TABS:
            self._tabs.append(tab_labels(tag))
        elif name == "TabItem":
            writer.write_prose(tab_label(tag, self._tabs[-1] if self._tabs else {}))
        elif name in elements.ADMONITIONS:
            default = elements.admonition_title(tag.attributes.get("type") or "note")
            writer.write_prose(tag.attributes.get("title") or default)

    def _close_element(self, name: str) -> None:
        if name in elements.LISTS:
            self._writer.close_list()
        elif name == "li":
            self._writer.close_item()
        elif name in elements.TABS and self._tabs:
            self._tabs.pop()
        elif name == "table":
            self._writer.close_table()
        elif any(capture.element.name == name for capture in self._writer.captures):
            self._close_captures(name)

    def _close_captures(self, name: str) -> None:
        """Write what was captured, from the innermost element to the one called `name`; all for ""."""
        while self._writer.captures:
            capture = self._writer.captures.pop()
            self._write_captured(capture)
            if capture.element.name == name:
                break

    def _write_captured(self, capture: Capture[Tag]) -> None:
        tag = capture.element
        if tag.name in elements.HEADINGS:
            level = elements.HEADINGS[tag.name]
            self._writer.write([HeadingPiece(level, capture.text, tag.attributes.get("id") or "")])
        elif tag.name in elements.CODE:
            language, title = (tag.attributes.get(key) or "" for key in ("language", "title"))
            self._writer.write(elements.code_block(language, title, "\n".join(capture.parts)))
        else:
            self._writer.write_cell(capture.text)


_ELEMENTS = {
    "bullet_list": "ul",
    "ordered_list": "ol",
    "footnote_block": "ol",
    "list_item": "li",
    "footnote": "li",
    "table": "table",
    "tr": "tr",
    "th": "th",
    "td": "td",
}
_OPENED_ELEMENTS = {f"{token}_open": name for token, name in _ELEMENTS.items()}
_CLOSED_ELEMENTS = {f"{token}_close": name for token, name in _ELEMENTS.items()}
