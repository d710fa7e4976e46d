"""Write text, list items and tables as pieces in normal form, element by element.

A reader walks over a page and tells the writer what opens and closes. The writer knows the rules of
the normal form: a block ends the paragraph before it, the first paragraph of a list item carries the
item's marker and that of an admonition its label, and the text of a heading or a table cell is joined
into one line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from . import elements
from .normal_form import BlockPiece, Piece

_TASK = re.compile(r"^\[[ xX]\]\s+")
_MAX_INDENT = 50
"""The deepest level of a list that is indented; each item of a deeper one would be as long as its depth."""
_MAX_TABLES = 20
"""The deepest table in a table. What is deeper is part of the one around it."""
_MAX_CAPTURES = 20
"""The deepest captured element inside others. The text of each is joined once more for the one around it."""

Element = TypeVar("Element")


def join_words(text: str) -> str:
    """Return the text on one line, with one space between words."""
    return " ".join(text.split())


@dataclass(slots=True)
class Capture(Generic[Element]):
    """The text of an element that is written as a whole when the element closes."""

    element: Element
    verbatim: bool
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The captured text on one line."""
        return join_words(" ".join(self.parts))


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int = 1


class PieceWriter(Generic[Element]):
    """Collect inline text in a buffer and write it as pieces.

    Args:
        one_line: Puts the text of a paragraph on one line.
    """

    def __init__(self, one_line: Callable[[str], str] = join_words) -> None:
        self.pieces: list[Piece] = []
        self.captures: list[Capture[Element]] = []
        self.tables: list[list[list[str]]] = []
        self.hidden = ""
        """The hidden element that is open, such as `style`: text is dropped until it closes."""
        self._one_line = one_line
        self._buffer: list[str] = []
        self._lists: list[_List] = []
        self._marker = ""
        self._label = ""

    def add_text(self, text: str) -> None:
        """Add inline text to the paragraph in the buffer."""
        if not self.hidden:
            self._buffer.append(text)

    def take_text(self) -> str:
        """Return the text in the buffer and clear the buffer."""
        text = "".join(self._buffer)
        self._buffer.clear()
        return text

    def flush(self) -> None:
        """End the paragraph in the buffer and write it."""
        if self._buffer:
            text = self.take_text()
            if self.captures and self.captures[-1].verbatim:
                self.captures[-1].parts.append(text)
            else:
                self.write_prose(text)

    def write(self, pieces: Sequence[Piece]) -> None:
        """Write finished pieces; inside a captured element, add their text to its capture."""
        if self.hidden or not pieces:
            return
        self._write_label()
        if self.captures:
            self.captures[-1].parts += [piece.text for piece in pieces]
        else:
            self.pieces += pieces

    def write_prose(self, text: str) -> None:
        """Write a paragraph; the first one of a list item carries the item's marker."""
        text = self._one_line(text)
        if not text or self.hidden:
            return
        if self._label:
            text, self._label = f"{self._label} {text}", ""
        if self.captures or not self._marker:
            self.write([BlockPiece("prose", text)])
            return
        marker, self._marker = self._marker, ""
        self.write([BlockPiece("item", marker + _TASK.sub("", text, count=1))])

    def open_admonition(self, kind: str, title: str = "") -> None:
        """Begin an admonition: write its title, or keep its label for its first paragraph."""
        self._write_label()
        if title and title.casefold() != kind.casefold():
            self.write_prose(elements.admonition_title(kind, title))
        elif kind:
            self._label = elements.admonition_label(kind)

    def close_admonition(self) -> None:
        """End an admonition; if it had no text, its label is dropped."""
        self._label = ""

    def _write_label(self) -> None:
        """Write the label of an admonition that does not begin with a paragraph."""
        label, self._label = self._label, ""
        if label:
            self.write_prose(label)

    @property
    def may_capture(self) -> bool:
        """Whether a further element may be captured; if not, its text is part of the one around it."""
        return len(self.captures) < _MAX_CAPTURES

    def capture(self, element: Element, *, verbatim: bool = False) -> None:
        """Hold back the text of an element until `captures.pop()`; `verbatim` keeps its line breaks."""
        self._write_label()
        self.captures.append(Capture(element, verbatim))

    def open_list(self, *, ordered: bool, start: int = 1) -> None:
        """Begin a list; an ordered one counts from `start`."""
        self._write_label()
        self._lists.append(_List(ordered, start))

    def close_list(self) -> None:
        """End the innermost list."""
        if self._lists:
            self._lists.pop()

    def open_item(self) -> None:
        """Begin an item of the innermost list; outside a list it gets a bullet."""
        current = self._lists[-1] if self._lists else _List(ordered=False)
        sign = f"{current.number}. " if current.ordered else "- "
        self._marker = "  " * min(max(len(self._lists) - 1, 0), _MAX_INDENT) + sign
        current.number += 1

    def close_item(self) -> None:
        """End an item; if it had no text, its marker is dropped."""
        self._marker = ""

    def open_table(self) -> None:
        """Begin a table."""
        self._write_label()
        if len(self.tables) < _MAX_TABLES:
            self.tables.append([])

    def open_row(self) -> None:
        """Begin a row of the innermost table."""
        if self.tables:
            self.tables[-1].append([])

    def write_cell(self, text: str) -> None:
        """Add a cell to the current row; outside a table its text is a paragraph."""
        if not self.tables:
            self.write_prose(text)
            return
        if not self.tables[-1]:
            self.open_row()
        self.tables[-1][-1].append(text.replace("|", "\\|"))

    def close_table(self) -> None:
        """Write the innermost table, without its empty rows."""
        if self.tables:
            rows = [row for row in self.tables.pop() if any(row)]
            self.write([BlockPiece("table", elements.table(rows))])
