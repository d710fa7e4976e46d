"""Write the tokens of a parsed page as pieces: headings with their anchors, and blocks in normal form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .. import elements
from ..normal_form import HeadingPiece, Piece
from ..piece_writer import Capture, PieceWriter, join_words
from .fences import render_fence
from .heading_slugs import Slugger
from .headings import extract_id, slug_text
from .jsx import Tag, parse_string, split_html
from .search_limits import SearchLimits
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
        self._limits = SearchLimits()
        self._tabs: list[dict[str, str]] = []
        self._titled_admonition = ""
        """The kind of an admonition whose title is the next paragraph."""

    def render(self, tokens: Iterable[Token]) -> list[Piece]:
        """Return the pieces of these tokens, in order."""
        writer = self._writer
        heading_level = 0
        for token in tokens:
            if token.type == "inline":
                if heading_level:
                    self._render_heading(heading_level, token.children or [])
                elif self._titled_admonition:
                    self._render_admonition_title(token.children or [])
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
            self._open_directive(token.meta["name"], has_title=token.meta["title"])
        elif kind == "directive_close":
            self._writer.close_admonition()
        elif kind == "footnote_block_open":
            self._writer.write([HeadingPiece(2, "Footnotes", "footnote-label")])
            self._writer.open_list(ordered=True)
        elif kind == "ordered_list_open":
            self._writer.open_list(ordered=True, start=int(token.attrGet("start") or 1))
        elif kind in _OPENED_ELEMENTS:
            self._open_element(Tag(_OPENED_ELEMENTS[kind], "open", 0))
        elif kind in _CLOSED_ELEMENTS:
            self._close_element(_CLOSED_ELEMENTS[kind])

    def _open_directive(self, name: str, *, has_title: bool) -> None:
        if name not in elements.KEYWORDS:
            return
        if has_title:
            self._titled_admonition = name
        else:
            self._writer.open_admonition(name)

    def _render_admonition_title(self, children: Sequence[Token]) -> None:
        kind, self._titled_admonition = self._titled_admonition, ""
        self._render_inline(children)
        self._writer.open_admonition(kind, join_words(self._writer.take_text()))

    def _render_heading(self, level: int, children: Sequence[Token]) -> None:
        explicit_id, children = extract_id(children)
        anchor = explicit_id or self._slugger.slug(slug_text(children))
        heading = Tag(f"h{level}", "open", 0, {"id": "" if level == 1 else anchor})
        self._writer.capture(heading)
        self._render_inline(children)
        self._writer.flush()
        self._close_element(heading.name)

    def _render_html(self, source: str) -> None:
        """Render a block of HTML; the text in it is not Markdown."""
        for part in split_html(source, self._limits):
            if isinstance(part, Tag):
                self._render_tag(part)
            else:
                self._writer.add_text(part)
        self._writer.flush()

    # ── inline ────────────────────────────────────────────────────────────

    def _render_inline(self, children: Sequence[Token]) -> None:
        """Add inline tokens to the paragraph."""
        for child in children:
            kind = child.type
            if kind in ("text", "text_special", "text_directive"):
                self._writer.add_text(child.content)
            elif kind == "code_inline":
                self._writer.add_text(
                    child.content if self._heading() else elements.inline_code(child.content)
                )
            elif kind in ("softbreak", "hardbreak"):
                self._writer.add_text("\n")
            elif kind in ("tag", "expression"):
                self._render_construct(child)
            elif kind == "image":
                self._writer.add_text(" ")
                self._render_inline(child.children or [])
                self._writer.add_text(" ")

    def _heading(self) -> str:
        """Return the name of the heading that is open, or ""; it shows code without backquotes."""
        captures = self._writer.captures
        return captures[-1].element.name if captures and _heading_level(captures[-1].element) else ""

    def _in_code(self) -> bool:
        return any(capture.verbatim for capture in self._writer.captures)

    def _render_construct(self, token: Token) -> None:
        if token.type == "tag":
            self._render_tag(token.meta["value"])
        else:
            self._render_expression(token.meta["value"])

    def _render_expression(self, source: str) -> None:
        """Add the text of an expression: a plain string or a prop. Other expressions show nothing."""
        text = parse_string(source)
        prop = _PROP.fullmatch(source)
        if text is None and prop:
            text = self._props.get(prop.group(1))
        self._writer.add_text(text or "")

    # ── elements ──────────────────────────────────────────────────────────

    def _render_tag(self, tag: Tag) -> None:
        writer, name = self._writer, tag.name
        if writer.hidden:
            if tag.kind == "close" and name == writer.hidden:
                writer.hidden = ""
            return
        heading = self._heading()
        if heading and name in elements.BLOCKS - elements.HIDDEN and (tag.kind, name) != ("close", heading):
            writer.add_text(" ")  # in a heading, a block only separates words
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
            writer.add_text("" if heading or self._in_code() else "`")
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
        elif _heading_level(tag) or name in elements.CELLS or name in elements.CODE:
            if writer.may_capture and not (name in elements.CODE and self._in_code()):
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
            label = tab_label(tag, self._tabs[-1] if self._tabs else {})
            writer.write_prose(elements.tab_title(label))
        elif name == "Details":
            writer.write_prose(tag.attributes.get("summary") or "")
        elif name in elements.ADMONITIONS:
            writer.open_admonition(tag.attributes.get("type") or "info", tag.attributes.get("title") or "")

    def _close_element(self, name: str) -> None:
        if name in elements.LISTS:
            self._writer.close_list()
        elif name == "li":
            self._writer.close_item()
        elif name in elements.TABS and self._tabs:
            self._tabs.pop()
        elif name == "table":
            self._writer.close_table()
        elif name in elements.ADMONITIONS:
            self._writer.close_admonition()
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
        if level := _heading_level(tag):
            self._writer.write([HeadingPiece(level, capture.text, tag.attributes.get("id") or "")])
        elif tag.name in elements.CODE:
            language, title = (tag.attributes.get(key) or "" for key in ("language", "title"))
            self._writer.write(elements.code_block(language, title, "\n".join(capture.parts)))
        else:
            self._writer.write_cell(capture.text)


def _heading_level(tag: Tag) -> int:
    """Return the level of a heading element, 1 to 6; 0 for other elements."""
    name = tag.attributes.get("as") or "" if tag.name == elements.HEADING_COMPONENT else tag.name
    return elements.HEADINGS.get(name, 0)


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
