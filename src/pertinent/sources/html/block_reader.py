"""The elements of an article to its pieces: the same that the reader of Markdown gives for its source.

The conduct is that of `sources.render`: a block ends the paragraph before it, the first paragraph of
a list item carries its mark, and what stands in a heading or a cell is joined into one line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .. import elements
from ..blocks import BlockPiece, HeadingPiece, Piece
from ..directives import KEYWORDS
from .formulas import formula
from .markup import Markup, Meaning
from .text import one_line, words

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MOST = 1_000_000  # nodes of one page; no page that anyone reads has as many
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_TASK = re.compile(r"^\[[ xX]\]\s+")
_LABEL, _TABS = "-label", "-tabs"  # what is no tag, but has to be closed as one
_INVISIBLE = " \u200b\u2060\ufeff"
_SIGNS = "¶§#🔗"
_OUT = elements.HIDDEN | words("iframe object canvas select textarea datalist title link meta base")
_BLOCKS = elements.BLOCKS | words("hgroup address menu legend search body")


@dataclass(slots=True)
class _Capture:
    """Text that belongs to an element which is written when it closes."""

    tag: str
    node: LexborNode
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return one_line(" ".join(self.parts))


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int = 1


@dataclass(slots=True)
class _Tabs:
    labels: list[str]
    shown: int = 0


class Reader:
    """One article's walk over its elements; without recursion, so that no page is too deep for it."""

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
        """The pieces of what is inside this element, in order."""
        stack: list[tuple[str, LexborNode | None]] = []
        node = root.first_child
        for _ in range(_MOST):
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

    # ── what opens ────────────────────────────────────────────────────────

    def _open(self, tag: str, node: LexborNode) -> str:
        """What is to be closed once the element's children are read; "" where they are not to be."""
        if tag in self._markup.telling:
            meaning = self._markup.meaning(tag, node.attributes)
            if meaning is not Meaning.PLAIN:
                return self._special(meaning, tag, node)
        if tag in _OUT:
            return ""
        if tag in _BLOCKS:
            self._flush()
            return self._block(tag, node)
        if tag == "code":
            self._code(node)
        elif tag == "br":
            self._buffer.append("\n")
        elif tag == "img":
            self._buffer.append(f" {node.attributes.get('alt') or ''} ")
        elif tag == "math":
            self._formula(node)
        elif not tag.startswith(("-", "!")):
            return tag
        return ""

    def _special(self, meaning: Meaning, tag: str, node: LexborNode) -> str:
        if meaning is Meaning.MATH:
            self._formula(node)
            return ""
        if meaning is not Meaning.OUT or tag in _BLOCKS:
            self._flush()
        if meaning is Meaning.OUT:
            return ""
        if meaning is Meaning.CODE:
            self._write(self._markup.code(node))
            return ""
        if meaning is Meaning.LABEL:
            self._captures.append(_Capture(_LABEL, node))
            return _LABEL
        if meaning is Meaning.TABS:
            self._tabs.append(_Tabs(self._markup.labels(node)))
            return _TABS
        self._panel()
        return "div"

    def _panel(self) -> None:
        tabs = self._tabs[-1] if self._tabs else _Tabs([])
        if tabs.shown < len(tabs.labels):
            self._prose(tabs.labels[tabs.shown])
            tabs.shown += 1

    def _block(self, tag: str, node: LexborNode) -> str:
        if tag == "pre":
            self._write(self._markup.code(node))
            return ""
        if tag in elements.HEADINGS or tag in elements.CELLS:
            self._captures.append(_Capture(tag, node))
        elif tag in elements.LISTS:
            start = _NUMBER.fullmatch(node.attributes.get("start") or "") if tag == "ol" else None
            self._lists.append(_List(tag == "ol", int(start.group()) if start else 1))
        elif tag == "li":
            self._item()
        elif tag == "table":
            self._tables.append([])
        elif tag == "tr" and self._tables:
            self._tables[-1].append([])
        return tag

    def _code(self, node: LexborNode) -> None:
        code = node.text()
        in_heading = self._captures and self._captures[-1].tag in elements.HEADINGS
        self._buffer.append(code if in_heading or not code.strip() else elements.inline_code(code))

    def _formula(self, node: LexborNode) -> None:
        tex, apart = formula(node)
        if apart:
            self._flush()
        self._buffer.append(tex)
        if apart:
            self._flush()

    def _item(self) -> None:
        current = self._lists[-1] if self._lists else _List(ordered=False)
        sign = f"{current.number}. " if current.ordered else "- "
        self._marker = "  " * max(len(self._lists) - 1, 0) + sign
        current.number += 1

    # ── what closes ───────────────────────────────────────────────────────

    def _close(self, tag: str) -> None:
        if tag == _LABEL:
            self._flush()
            self._label(self._captures.pop().text)
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
            self._heading(self._captures.pop())
        elif tag in elements.CELLS:
            self._cell(self._captures.pop().text)

    def _heading(self, capture: _Capture) -> None:
        """A heading; where all of it is one link that looks like a mark, that is its text."""
        text = capture.text.strip(_INVISIBLE) or one_line(capture.node.text()).strip(_INVISIBLE + _SIGNS)
        if text:
            anchor = self._markup.anchor(capture.node)
            self._write([HeadingPiece(elements.HEADINGS[capture.tag], text, anchor)])

    def _cell(self, text: str) -> None:
        if not self._tables:
            self._prose(text)
            return
        if not self._tables[-1]:
            self._tables[-1].append([])
        self._tables[-1][-1].append(text.replace("|", "\\|"))

    def _label(self, text: str) -> None:
        """The heading of an admonition; `note` is written by the style sheet as `Note`."""
        self._prose(elements.admonition_title(text) if text in KEYWORDS else text)

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
            self._prose(text)

    def _prose(self, text: str) -> None:
        text = one_line(text)
        if not text:
            return
        if self._captures:
            self._captures[-1].parts.append(text)
        elif self._marker:
            marker, self._marker = self._marker, ""
            self._pieces.append(BlockPiece("item", marker + _TASK.sub("", text, count=1)))
        else:
            self._pieces.append(BlockPiece("prose", text))
