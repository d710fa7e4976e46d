"""Cut code that is too long for one passage where a reader would: between its top-level constructs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

_CLOSING = re.compile(r"\s*(?:[)\]}>`~]|</|end\b|else\b|elif\b|except\b|finally\b|catch\b)")
"""A line that belongs to the construct above it."""

_AFTER_BLANK_TOP, _AFTER_TOP, _AFTER_BLANK, _BEFORE_TOP, _INNER, _BEFORE_CLOSING = range(6)


class _CodeLine(NamedTuple):
    start: int
    end: int
    text: str

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def split_code(code: str, most: int) -> list[tuple[int, int]]:
    """Return the ranges of the parts of code, each of at most `most` characters, without blank ends.

    The cuts are at blank lines between top-level constructs if there are any, else where a top-level
    construct ends, else at other blank lines, else between any two lines. Each part has at least a third
    of `most`, so that it can be understood. A line that is longer than `most` is a part of its own.
    """
    lines = list(_split_lines(code))
    least_indents = _find_least_indents(lines)
    parts: list[tuple[int, int]] = []
    first = 0
    while first < len(lines):
        cut = _find_cut(lines, first, most, least_indents[first])
        parts.append((lines[first].start, lines[cut - 1].end))
        first = cut
    return [trimmed for part in parts if (trimmed := _trim(code, *part))]


def _split_lines(code: str) -> Iterator[_CodeLine]:
    start = 0
    for text in code.split("\n"):
        yield _CodeLine(start, start + len(text), text)
        start += len(text) + 1


def _find_least_indents(lines: list[_CodeLine]) -> list[int]:
    """Return the least indent of each line and those below it; blank lines do not count."""
    indents = (line.indent if line.text.strip() else sys.maxsize for line in reversed(lines))
    return list(accumulate(indents, min))[::-1]


def _find_cut(lines: list[_CodeLine], first: int, most: int, top: int) -> int:
    """Return the index of the line after the part that begins with line `first`.

    Args:
        lines: All lines of the code.
        first: The first line of the part.
        most: How many characters a part may have.
        top: The indent of top-level constructs.
    """
    start, total = lines[first].start, lines[-1].end - lines[first].start
    if total <= most:
        return len(lines)
    ideal = total / -(-total // most)
    fitting = [
        index for index in _lines_within(lines, first, most) if lines[index].start - 1 - start >= most // 3
    ]
    # A short end would be the tail of a block: the last cut leaves as much for it as for the others.
    cuts = [index for index in fitting if lines[-1].end - lines[index].start >= most // 3] or fitting
    if not cuts:
        return max(_lines_within(lines, first, most), default=first + 1)
    return min(cuts, key=lambda index: (_rank(lines, index, top), abs(lines[index].start - start - ideal)))


def _lines_within(lines: list[_CodeLine], first: int, most: int) -> list[int]:
    """Return the indexes of lines before which a part from `first` on may end."""
    indexes: list[int] = []
    for index in range(first + 1, len(lines)):
        if lines[index - 1].end - lines[first].start > most:
            break
        indexes.append(index)
    return indexes


def _rank(lines: list[_CodeLine], index: int, top: int) -> int:
    """Return how bad a cut before a line is; 0 is best."""
    above, below = lines[index - 1], lines[index]
    if not below.text.strip() or _CLOSING.match(below.text):
        return _BEFORE_CLOSING
    is_top = below.indent <= top
    if not above.text.strip():
        return _AFTER_BLANK_TOP if is_top else _AFTER_BLANK
    if is_top:
        return _AFTER_TOP if above.indent <= top and _CLOSING.match(above.text) else _BEFORE_TOP
    return _INNER


def _trim(code: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the range without white space at its ends, but with the first line's indent."""
    text = code[start:end]
    blank = len(text) - len(text.lstrip())
    start += text.rfind("\n", 0, blank) + 1
    return (start, end - len(text) + len(text.rstrip())) if text.strip() else None
