"""Tokens of a parsed page to its pieces: headings with their anchors, and blocks in normal form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .. import elements
from ..normal_form import BlockPiece, HeadingPiece, Piece
from .fences import fence
from .headings import heading_id, slug_text
from .jsx import Tag, html_parts, literal
from .slugger import Slugger
from .tabs import tab_label, tab_labels

if TYPE_CHECKING:
    from markdown_it.token import Token

Include = Callable[[Tag], Sequence[Piece] | None]

_TASK = re.compile(r"^\[[ xX]\]\s+")
_PROP = re.compile(r"\s*props\.(\w+)\s*")


@dataclass
class _Capture:
    """Text that belongs to an element which is written when it closes."""

    tag: Tag
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.parts).split())


@dataclass
class _List:
    ordered: bool
    number: int = 1


class Renderer:
    """One document's walk over its tokens; headings take their anchors from one slugger."""

    def __init__(self, include: Include, props: Mapping[str, str | None]) -> None:
        self.pieces: list[Piece] = []
        self._include = include
        self._props = props
        self._slugger = Slugger()
        self._buffer: list[str] = []
        self._captures: list[_Capture] = []
        self._lists: list[_List] = []
        self._marker = ""
        self._tables: list[list[list[str]]] = []
        self._tabs: list[dict[str, str]] = []
        self._hidden = ""

    def render(self, tokens: Sequence[Token]) -> list[Piece]:
        """The pieces of these tokens, in order."""
        heading = 0
        for token in tokens:
            kind = token.type
            if kind == "inline":
                if heading:
                    self._heading(heading, token.children or [])
                else:
                    self._inline(token.children or [])
                self._flush()
            elif kind == "heading_open":
                heading = int(token.tag[1])
            elif kind == "heading_close":
                heading = 0
            else:
                self._block(kind, token)
        self._flush()
        self._release_to("")
        while self._tables:
            self._closed("table")
        return self.pieces

    # ── blocks ────────────────────────────────────────────────────────────

    def _block(self, kind: str, token: Token) -> None:
        if kind == "tag":
            self._tag(token.meta["what"])
            self._end_of_line(token)
        elif kind == "expression":
            self._expression(token.meta["what"])
            self._end_of_line(token)
        elif kind == "fence":
            self._write(fence(token.info, token.content))
        elif kind == "code_block":
            self._write(elements.code_block("", "", token.content))
        elif kind == "html_block":
            self._html(token.content)
        elif kind == "directive_open":
            if not token.meta["title"] and token.meta["name"] in elements.KEYWORDS:
                self._prose(elements.admonition_title(token.meta["name"]))
        elif kind == "footnote_block_open":
            self._write([HeadingPiece(2, "Footnotes", "footnote-label")])
            self._open_list(ordered=True, start=1)
        elif kind in _ALIASES:
            self._element(_ALIASES[kind], token)

    def _element(self, alias: tuple[str, bool], token: Token) -> None:
        name, opening = alias
        if name == "ol" and opening:
            self._open_list(ordered=True, start=int(token.attrGet("start") or 1))
        elif opening:
            self._opened(Tag(name, "open", 0))
        else:
            self._closed(name)

    def _write(self, pieces: Sequence[Piece]) -> None:
        """Add finished pieces, or their text to the element that is waiting for its own."""
        if self._hidden:
            return
        if self._captures:
            self._captures[-1].parts += [piece.text for piece in pieces]
        else:
            self.pieces += pieces

    def _prose(self, text: str) -> None:
        text = " ".join(text.split())
        if not text:
            return
        if self._captures or not self._marker:
            self._write([BlockPiece("prose", text)])
            return
        marker, self._marker = self._marker, ""
        self._write([BlockPiece("item", marker + _TASK.sub("", text, count=1))])

    def _flush(self) -> None:
        if self._buffer:
            text = "".join(self._buffer)
            self._buffer.clear()
            if self._captures and self._captures[-1].tag.name in elements.CODE:
                self._captures[-1].parts.append(text)
            else:
                self._prose(text)

    def _end_of_line(self, token: Token) -> None:
        if token.meta["ends"]:
            self._flush()

    def _heading(self, level: int, children: Sequence[Token]) -> None:
        explicit, children = heading_id(children)
        anchor = explicit or self._slugger.slug(slug_text(children))
        self._inline(children, code="")
        text = " ".join("".join(self._buffer).split())
        self._buffer.clear()
        self._write([HeadingPiece(level, text, "" if level == 1 else anchor)])

    # ── inline ────────────────────────────────────────────────────────────

    def _inline(self, children: Sequence[Token], code: str = "`") -> None:
        for child in children:
            kind = child.type
            if kind in ("text", "text_special", "text_directive"):
                self._add(child.content)
            elif kind == "code_inline":
                self._add(elements.inline_code(child.content) if code else child.content)
            elif kind in ("softbreak", "hardbreak"):
                self._add("\n")
            elif kind == "tag":
                self._tag(child.meta["what"], code)
            elif kind == "expression":
                self._expression(child.meta["what"])
            elif kind == "image":
                self._add(" ")
                self._inline(child.children or [], code)
                self._add(" ")

    def _html(self, source: str) -> None:
        """A block of HTML as it stands, whose text is not Markdown."""
        for part in html_parts(source):
            if isinstance(part, Tag):
                self._tag(part)
            else:
                self._add(part)
        self._flush()

    def _add(self, text: str) -> None:
        if not self._hidden:
            self._buffer.append(text)

    def _expression(self, source: str) -> None:
        shown = literal(source)
        prop = _PROP.fullmatch(source)
        if shown is None and prop:
            shown = self._props.get(prop.group(1))
        if shown is None and source.startswith("#"):
            shown = f"{{{source}}}"  # `{#id}` away from a heading's end is text to Docusaurus
        self._add(shown or "")

    # ── elements ──────────────────────────────────────────────────────────

    def _tag(self, tag: Tag, code: str = "`") -> None:
        name = tag.name
        if self._hidden:
            if tag.kind == "close" and name == self._hidden:
                self._hidden = ""
            return
        included = self._include(tag) if tag.kind != "close" else None
        if name in elements.BLOCKS or included is not None:
            self._flush()
        if included is not None:
            self._write(included)
        elif name == "br":
            self._add("\n")
        elif name == "img":
            self._add(f" {tag.attributes.get('alt') or ''} ")
        elif name == "code":
            self._add(code)
        elif tag.kind == "close":
            self._closed(name)
        else:
            self._opened(tag)
            if tag.kind == "self":
                self._closed(name)

    def _opened(self, tag: Tag) -> None:
        name = tag.name
        if name in elements.HIDDEN:
            self._hidden = name if tag.kind == "open" else ""
        elif name in elements.HEADINGS or name in elements.CELLS or name in elements.CODE:
            self._captures.append(_Capture(tag))
        elif name in elements.LISTS:
            self._open_list(ordered=name == "ol", start=1)
        elif name == "li":
            self._item()
        elif name == "table":
            self._tables.append([])
        elif name == "tr" and self._tables:
            self._tables[-1].append([])
        elif name in elements.TABS:
            self._tabs.append(tab_labels(tag))
        elif name == "TabItem":
            self._prose(tab_label(tag, self._tabs[-1] if self._tabs else {}))
        elif name in elements.ADMONITIONS:
            kind = elements.admonition_title(tag.attributes.get("type") or "note")
            self._prose(tag.attributes.get("title") or kind)

    def _closed(self, name: str) -> None:
        if name in elements.LISTS and self._lists:
            self._lists.pop()
        elif name == "li":
            self._marker = ""
        elif name in elements.TABS and self._tabs:
            self._tabs.pop()
        elif name == "table" and self._tables:
            rows = [row for row in self._tables.pop() if any(row)]
            self._write([BlockPiece("table", elements.table(rows))])
        elif any(capture.tag.name == name for capture in self._captures):
            self._release_to(name)

    def _release_to(self, name: str) -> None:
        """Write what waits for its end, down to the element of this name; with "", all of it."""
        while self._captures:
            capture = self._captures.pop()
            self._release(capture)
            if capture.tag.name == name:
                break

    def _release(self, capture: _Capture) -> None:
        tag = capture.tag
        if tag.name in elements.HEADINGS:
            level = elements.HEADINGS[tag.name]
            self._write([HeadingPiece(level, capture.text, tag.attributes.get("id") or "")])
        elif tag.name in elements.CODE:
            language, title = (tag.attributes.get(key) or "" for key in ("language", "title"))
            self._write(elements.code_block(language, title, "\n".join(capture.parts)))
        elif self._tables:
            if not self._tables[-1]:
                self._tables[-1].append([])
            self._tables[-1][-1].append(capture.text.replace("|", "\\|"))
        else:
            self._prose(capture.text)

    def _open_list(self, *, ordered: bool, start: int) -> None:
        self._lists.append(_List(ordered, start))

    def _item(self) -> None:
        current = self._lists[-1] if self._lists else _List(ordered=False)
        sign = f"{current.number}. " if current.ordered else "- "
        self._marker = "  " * max(len(self._lists) - 1, 0) + sign
        current.number += 1


_ALIASES: Mapping[str, tuple[str, bool]] = {
    f"{prefix}_{suffix}": (name, suffix == "open")
    for prefix, name in (
        ("bullet_list", "ul"),
        ("ordered_list", "ol"),
        ("list_item", "li"),
        ("footnote", "li"),
        ("table", "table"),
        ("tr", "tr"),
        ("th", "th"),
        ("td", "td"),
    )
    for suffix in ("open", "close")
} | {"footnote_block_close": ("ol", False)}
