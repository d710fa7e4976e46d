"""Reading the elements of an article to headings and blocks of text.

The result is the same that the reader of Markdown gives for the source of the page: a block ends the
paragraph before it, the first paragraph of a list item has its marker, and the text of a heading or a
cell is joined to one line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .. import elements
from ..elements import KEYWORDS
from ..normal_form import BlockPiece, HeadingPiece, Piece
from .markup import Markup, Role
from .text import collapse_spaces, word_set

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MAX_NODES = 1_000_000  # of one page
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_TASK = re.compile(r"^\[[ xX]\]\s+")
_LABEL, _TABS = "-label", "-tabs"  # stand for a tag on the stack of open elements
_INVISIBLE = " \u200b\u2060\ufeff"
_LINK_SIGNS = "¶§#🔗"
_IGNORED = elements.HIDDEN | word_set("iframe object canvas select textarea datalist title link meta base")
_BLOCKS = elements.BLOCKS | word_set("hgroup address menu legend search body")


@dataclass(slots=True)
class _Capture:
    """The text of a heading, cell or label, which is written when the element closes."""

    tag: str
    node: LexborNode
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return collapse_spaces(" ".join(self.parts))


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int = 1


@dataclass(slots=True)
class _Tabs:
    labels: list[str]
    written: int = 0
    """How many labels were written."""


class BlockReader:
    """Reads one article; without recursion, so that no page is too deep."""

    def __init__(self, markup: Markup) -> None:
        self._markup = markup
        self._pieces: list[Piece] = []
        self._buffer: list[str] = []
        self._captures: list[_Capture] = []
        self._lists: list[_List] = []
        self._marker = ""
        self._tables: list[list[list[str]]] = []
        self._tabs: list[_Tabs] = []

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
                if text and (self._buffer or not text.isspace()):
                    self._buffer.append(text)
            elif name is not None and (entered := self._open(name, node)):
                stack.append((entered, following))
                node = node.first_child
                continue
            node = following
        while stack:
            self._close(stack.pop()[0])
        self._flush()
        return self._pieces

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
            self._flush()
            return self._open_block(tag, node)
        if tag == "code":
            self._add_inline_code(node)
        elif tag == "br":
            self._buffer.append("\n")
        elif tag == "img":
            self._buffer.append(f" {node.attributes.get('alt') or ''} ")
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
            self._flush()
        if role is Role.IGNORED:
            return ""
        if role is Role.CODE:
            self._write(self._markup.code(node))
            return ""
        if role is Role.LABEL:
            self._captures.append(_Capture(_LABEL, node))
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
            self._write_text(tabs.labels[tabs.written])
            tabs.written += 1

    def _open_block(self, tag: str, node: LexborNode) -> str:
        if tag == "pre":
            self._write(self._markup.code(node))
            return ""
        if tag in elements.HEADINGS or tag in elements.CELLS:
            self._captures.append(_Capture(tag, node))
        elif tag in elements.LISTS:
            start = _NUMBER.fullmatch(node.attributes.get("start") or "") if tag == "ol" else None
            self._lists.append(_List(tag == "ol", int(start.group()) if start else 1))
        elif tag == "li":
            self._start_item()
        elif tag == "table":
            self._tables.append([])
        elif tag == "tr" and self._tables:
            self._tables[-1].append([])
        return tag

    def _add_inline_code(self, node: LexborNode) -> None:
        code = node.text()
        in_heading = self._captures and self._captures[-1].tag in elements.HEADINGS
        self._buffer.append(code if in_heading or not code.strip() else elements.inline_code(code))

    def _add_formula(self, node: LexborNode) -> None:
        tex, is_block = _read_formula(node)
        if is_block:
            self._flush()
        self._buffer.append(tex)
        if is_block:
            self._flush()

    def _start_item(self) -> None:
        current_list = self._lists[-1] if self._lists else _List(ordered=False)
        marker = f"{current_list.number}. " if current_list.ordered else "- "
        self._marker = "  " * max(len(self._lists) - 1, 0) + marker
        current_list.number += 1

    # ── closing tags ──────────────────────────────────────────────────────

    def _close(self, tag: str) -> None:
        if tag == _LABEL:
            self._flush()
            self._write_label(self._captures.pop().text)
        elif tag == _TABS:
            self._flush()
            self._tabs.pop()
        elif tag in _BLOCKS:
            self._flush()
            self._close_block(tag)

    def _close_block(self, tag: str) -> None:
        if tag in elements.LISTS:
            self._lists.pop()
        elif tag == "li":
            self._marker = ""
        elif tag == "table":
            rows = [row for row in self._tables.pop() if any(row)]
            self._write([BlockPiece("table", elements.table(rows))])
        elif tag in elements.HEADINGS:
            self._write_heading(self._captures.pop())
        elif tag in elements.CELLS:
            self._add_cell(self._captures.pop().text)

    def _write_heading(self, capture: _Capture) -> None:
        """Write a heading; if all of it is a link that looks like a mark, the link is its text."""
        text = capture.text.strip(_INVISIBLE) or collapse_spaces(capture.node.text()).strip(
            _INVISIBLE + _LINK_SIGNS
        )
        if text:
            anchor = self._markup.anchor(capture.node)
            self._write([HeadingPiece(elements.HEADINGS[capture.tag], text, anchor)])

    def _add_cell(self, text: str) -> None:
        if not self._tables:
            self._write_text(text)
            return
        if not self._tables[-1]:
            self._tables[-1].append([])
        self._tables[-1][-1].append(text.replace("|", "\\|"))

    def _write_label(self, text: str) -> None:
        """Write the heading of an admonition; the style sheet shows `note` as `Note`."""
        self._write_text(elements.admonition_title(text) if text in KEYWORDS else text)

    # ── writing ───────────────────────────────────────────────────────────

    def _write(self, pieces: Sequence[Piece]) -> None:
        if self._captures:
            self._captures[-1].parts += [piece.text for piece in pieces]
        else:
            self._pieces += (piece for piece in pieces if piece.text)

    def _flush(self) -> None:
        if self._buffer:
            text = "".join(self._buffer)
            self._buffer.clear()
            self._write_text(text)

    def _write_text(self, text: str) -> None:
        text = collapse_spaces(text)
        if not text:
            return
        if self._captures:
            self._captures[-1].parts.append(text)
        elif self._marker:
            marker, self._marker = self._marker, ""
            self._pieces.append(BlockPiece("item", marker + _TASK.sub("", text, count=1)))
        else:
            self._pieces.append(BlockPiece("prose", text))


def _read_formula(node: LexborNode) -> tuple[str, bool]:
    """The TeX of a formula between dollar signs, and whether it is a block; without TeX, its plain text."""
    math = node if node.tag == "math" else node.css_first("math")
    attributes = math.attributes if math is not None else {}
    source = node.css_first("annotation")
    tex = (source.text() if source is not None else attributes.get("alttext") or "").strip()
    if not tex:
        return node.text(), False
    return (f"$$ {tex} $$", True) if attributes.get("display") == "block" else (f"${tex}$", False)
