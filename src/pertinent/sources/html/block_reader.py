"""Reading the elements of an article to headings and blocks of text.

The result is the same that the reader of Markdown gives for the source of the page: both use `PieceWriter`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import elements
from ..normal_form import HeadingPiece, Piece
from ..piece_writer import Capture, PieceWriter
from .markup import Markup, Role
from .text import collapse_spaces, word_set

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MAX_NODES = 1_000_000  # of one page
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_ADMONITION, _LABEL, _TABS = "-admonition", "-label", "-tabs"  # stand for a tag on the stack of open elements
_INVISIBLE = " \u200b\u2060\ufeff"
_LINK_SIGNS = "¶§#🔗"
_IGNORED = elements.HIDDEN | word_set("iframe object canvas select textarea datalist title link meta base")
_BLOCKS = elements.BLOCKS | word_set("hgroup address menu legend search body")


@dataclass(slots=True)
class _Tabs:
    labels: list[str]
    written: int = 0
    """How many labels were written."""


class BlockReader:
    """Reads one article; without recursion, so that no page is too deep."""

    def __init__(self, markup: Markup) -> None:
        self._markup = markup
        self._writer: PieceWriter[tuple[str, LexborNode]] = PieceWriter(collapse_spaces)
        self._tabs: list[_Tabs] = []
        self._admonitions: list[str] = []

    def read(self, root: LexborNode) -> list[Piece]:
        """Read the headings and blocks inside an element, in order."""
        stack: list[tuple[str, LexborNode | None]] = []
        node = root.first_child
        for _ in range(_MAX_NODES):
            if node is None:
                if not stack:
                    break
                tag, node = stack.pop()
                self._close(tag)
                continue
            name = node.tag
            following = node.next
            if name == "-text":
                text = node.text_content
                if text:
                    self._writer.add_text(text)
            elif name is not None and (entered := self._open(name, node)):
                stack.append((entered, following))
                node = node.first_child
                continue
            node = following
        while stack:
            self._close(stack.pop()[0])
        self._writer.flush()
        return [piece for piece in self._writer.pieces if piece.text]

    # ── opening tags ──────────────────────────────────────────────────────

    def _open(self, tag: str, node: LexborNode) -> str:
        """Open an element; return what to close after its children, or "" if they are not to be read."""
        if tag in self._markup.tags:
            role = self._markup.role(tag, node.attributes)
            if role is not Role.BY_TAG:
                return self._open_role(role, tag, node)
        if tag in _IGNORED:
            return ""
        if tag in _BLOCKS:
            self._writer.flush()
            # In a heading, a block only separates words.
            return "div" if self._in_heading() else self._open_block(tag, node)
        if tag == "code":
            self._add_inline_code(node)
        elif tag == "br":
            self._writer.add_text("\n")
        elif tag == "img":
            self._writer.add_text(f" {node.attributes.get('alt') or ''} ")
        elif tag == "math":
            self._add_formula(node)
        elif not tag.startswith(("-", "!")):
            return tag
        return ""

    def _open_role(self, role: Role, tag: str, node: LexborNode) -> str:
        if role is Role.MATH:
            self._add_formula(node)
            return ""
        if role is not Role.IGNORED or tag in _BLOCKS:
            self._writer.flush()
        if role is Role.IGNORED:
            return ""
        if role is Role.CODE:
            self._writer.write(self._markup.code(node))
            return ""
        return self._open_container(role, node)

    def _open_container(self, role: Role, node: LexborNode) -> str:
        if role is Role.ADMONITION:
            self._admonitions.append(self._markup.admonition_kind(node.attributes))
            return _ADMONITION
        if role is Role.LABEL:
            self._writer.capture((_LABEL, node))
            return _LABEL
        if role is Role.TABS:
            self._tabs.append(_Tabs(self._markup.tab_labels(node)))
            return _TABS
        self._write_tab_label()
        return "div"

    def _write_tab_label(self) -> None:
        """Write the label of the tab whose panel opens."""
        tabs = self._tabs[-1] if self._tabs else _Tabs([])
        if tabs.written < len(tabs.labels):
            self._writer.write_prose(elements.tab_title(tabs.labels[tabs.written]))
            tabs.written += 1

    def _open_block(self, tag: str, node: LexborNode) -> str:
        if tag == "pre":
            self._writer.write(self._markup.code(node))
            return ""
        if tag in elements.HEADINGS or tag in elements.CELLS:
            if not self._writer.may_capture:
                return "div"
            self._writer.capture((tag, node))
        elif tag in elements.LISTS:
            start = _NUMBER.fullmatch(node.attributes.get("start") or "") if tag == "ol" else None
            self._writer.open_list(ordered=tag == "ol", start=int(start.group()) if start else 1)
        elif tag == "li":
            self._writer.open_item()
        elif tag == "table":
            self._writer.open_table()
        elif tag == "tr":
            self._writer.open_row()
        return tag

    def _add_inline_code(self, node: LexborNode) -> None:
        code = node.text()
        self._writer.add_text(code if self._in_heading() or not code.strip() else elements.inline_code(code))

    def _in_heading(self) -> bool:
        captures = self._writer.captures
        return bool(captures) and captures[-1].element[0] in elements.HEADINGS

    def _add_formula(self, node: LexborNode) -> None:
        tex, is_block = _read_formula(node)
        if is_block:
            self._writer.flush()
        self._writer.add_text(tex)
        if is_block:
            self._writer.flush()

    # ── closing tags ──────────────────────────────────────────────────────

    def _close(self, tag: str) -> None:
        if tag == _LABEL:
            self._writer.flush()
            kind = self._admonitions[-1] if self._admonitions else ""
            self._writer.open_admonition(kind, self._writer.captures.pop().text)
        elif tag == _ADMONITION:
            self._writer.flush()
            self._admonitions.pop()
            self._writer.close_admonition()
        elif tag == _TABS:
            self._writer.flush()
            self._tabs.pop()
        elif tag in _BLOCKS:
            self._writer.flush()
            self._close_block(tag)

    def _close_block(self, tag: str) -> None:
        if tag in elements.LISTS:
            self._writer.close_list()
        elif tag == "li":
            self._writer.close_item()
        elif tag == "table":
            self._writer.close_table()
        elif tag in elements.HEADINGS:
            self._write_heading(self._writer.captures.pop())
        elif tag in elements.CELLS:
            self._writer.write_cell(self._writer.captures.pop().text)

    def _write_heading(self, capture: Capture[tuple[str, LexborNode]]) -> None:
        """Write a heading; if all of it is a link that looks like a mark, the link is its text."""
        tag, node = capture.element
        text = capture.text.strip(_INVISIBLE) or collapse_spaces(node.text()).strip(_INVISIBLE + _LINK_SIGNS)
        if text:
            self._writer.write([HeadingPiece(elements.HEADINGS[tag], text, self._markup.anchor(node))])


def _read_formula(node: LexborNode) -> tuple[str, bool]:
    """The TeX of a formula between dollar signs, and whether it is a block; without TeX, its plain text."""
    math = node if node.tag == "math" else node.css_first("math")
    attributes = math.attributes if math is not None else {}
    source = node.css_first("annotation")
    tex = (source.text() if source is not None else attributes.get("alttext") or "").strip()
    if not tex:
        return node.text(), False
    return (f"$$ {tex} $$", True) if attributes.get("display") == "block" else (f"${tex}$", False)
