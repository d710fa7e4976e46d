"""Where the words of a quote stand on a page: verbatim, in other letters, or much alike."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from rapidfuzz import fuzz

from ...types import Chunk
from ..golden.golden_set import Unit
from ..target import PageView

CLOSE = 85.0
"""How alike, of 100, a changed text must be to count as the one that was quoted."""
TELLING = 20
"""A part of a quote with fewer characters is too short to be recognised after a change."""

_LEFT_OUT = re.compile(r"(?:^| )(?:…|\.\.\.)(?= |$)")
_GAP = re.compile(r"\s{2,}")
_PLAIN = str.maketrans("‘’‚‛′“”„‟″«»‐‑‒–—―−", "'" * 5 + '"' * 7 + "-" * 7)


class Place(NamedTuple):
    """A span `[start:end]` of a page's text."""

    document_id: str
    start: int
    end: int

    def overlaps(self, other: Chunk | Place) -> bool:
        """Whether it has a character in common with a span of the same page."""
        return max(self.start, other.start) < min(self.end, other.end)


class Leaf:
    """A page whose text is put into a form to search in when that is first needed."""

    def __init__(self, page: PageView, unit: Unit) -> None:
        self.page = page
        self.name = page.source_path or page.url
        self._unit = unit
        self._covering: dict[Place, list[Chunk]] = {}

    @cached_property
    def plain(self) -> str:
        """The text with one space for each run of white space."""
        return " ".join(self.page.text.split())

    @cached_property
    def folded(self) -> str:
        """The same, character for character, without case and typographic marks."""
        return fold(self.plain)

    @cached_property
    def _shifts(self) -> tuple[list[int], list[int]]:
        """From where on `plain` differs by how much: the offset in it, and in the page's own text."""
        text = self.page.text
        left_out = len(text) - len(text.lstrip())
        plain, own = [0], [left_out]
        for gap in _GAP.finditer(text, left_out):
            left_out += gap.end() - gap.start() - 1
            plain.append(gap.end() - left_out)
            own.append(gap.end())
        return plain, own

    def _place(self, start: int, end: int) -> Place:
        """A span of `plain` as a place of the page."""
        plain, own = self._shifts
        first, last = bisect_right(plain, start) - 1, bisect_right(plain, end - 1) - 1
        return Place(self.page.document_id, own[first] + start - plain[first], own[last] + end - plain[last])

    def covering(self, place: Place) -> list[Chunk]:
        """The passages that have a part in the place."""
        if place not in self._covering:
            self._covering[place] = [chunk for chunk in self.page.chunks if place.overlaps(chunk)]
        return self._covering[place]

    def counts(self, place: Place) -> bool:
        """Whether a search could find it: a heading alone is in no passage."""
        return self._unit == "page" or any(map(place.overlaps, self.page.chunks))

    def find(self, wording: Wording) -> list[Place]:
        """Where a wording stands, headings included."""
        text = self.folded if wording.folded else self.plain
        return [self._place(*span) for span in _chains(wording.parts, text)]

    def stands(self, quote: str) -> list[Place]:
        """Where a quote stands in passages, in the strictest wording in which it does."""
        found = (list(filter(self.counts, self.find(wording))) for wording in wordings(quote))
        return next(filter(None, found), [])

    def resembles(self, quote: str) -> list[Place]:
        """Where a text much like the quote stands, if there is one."""
        *_, wording = wordings(quote)
        spans: list[tuple[int, int]] = []
        for part in wording.parts:
            span = _alike(part, self.folded, spans[-1][1] if spans else 0)
            if span is None:
                return []
            spans.append(span)
        return list(filter(self.counts, [self._place(spans[0][0], spans[-1][1])]))

    def sections(self, anchor: str) -> list[Place]:
        """What stands under the heading with this anchor, up to the next heading."""
        runs = [list(run) for key, run in groupby(self.page.chunks, lambda c: c.anchor) if key == anchor]
        return [Place(self.page.document_id, run[0].start, run[-1].end) for run in runs]


class Wording(NamedTuple):
    parts: list[str]
    folded: bool


def wordings(quote: str) -> Iterator[Wording]:
    """The ways to read a quote, the strictest first: an ellipsis may be the page's own."""
    whole = " ".join(quote.split())
    parts = [part.strip() for part in _LEFT_OUT.split(whole) if part.strip()]
    readings = [[whole]] if parts in ([], [whole]) else [[whole], parts]
    yield from (Wording(reading, folded=False) for reading in readings)
    yield from (Wording([fold(part) for part in reading], folded=True) for reading in readings)


def fold(text: str) -> str:
    plain = text.translate(_PLAIN)
    folded = plain.casefold()
    if len(folded) == len(plain):
        return folded
    # Offsets must stay: a letter that folds to two, such as ß, is left as it is.
    return "".join(one if len(one := letter.casefold()) == 1 else letter for letter in plain)


def _chains(parts: Sequence[str], text: str) -> Iterator[tuple[int, int]]:
    """Each span from the first part to the last, every part the nearest after the one before."""
    first, *rest = parts
    start = text.find(first)
    while start >= 0:
        end = start + len(first)
        for part in rest:
            at = text.find(part, end)
            if at < 0:
                return
            end = at + len(part)
        yield start, end
        start = text.find(first, start + 1)


def _alike(part: str, text: str, at: int) -> tuple[int, int] | None:
    """The nearest place of the part itself, else the whole words of the most similar one."""
    found = text.find(part, at)
    if found >= 0:
        return found, found + len(part)
    # The shorter of two texts is sought in the longer: a page's last word is in many a quote.
    if len(part) < TELLING or len(text) - at < len(part) * CLOSE / 100:
        return None
    match = fuzz.partial_ratio_alignment(part, text[at:], score_cutoff=CLOSE)
    if match is None:
        return None
    start, end = at + match.dest_start, at + match.dest_end
    first, last = text.find(" ", start - 1 if start else 0), text.rfind(" ", 0, end + 1)
    first = 0 if start == 0 else first + 1
    last = len(text) if end == len(text) else last
    return (first, last) if start <= first < last <= end else (start, end)


def narrowed(found: Iterable[Place]) -> list[Place]:
    """Of places that end together the shortest: what comes before belongs to another passage."""
    return list({(place.document_id, place.end): place for place in found}.values())
