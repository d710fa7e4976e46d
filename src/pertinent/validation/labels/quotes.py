"""Find the words of a quote on a page: verbatim, without case and typographic marks, or similar."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from rapidfuzz import fuzz

from ...types import Chunk
from ..golden.golden_set import Unit
from ..target import PageSection, PageView

MIN_SIMILARITY = 85.0
"""How similar, of 100, an edited text must be to count as the one that was quoted."""
MIN_SIMILAR_LENGTH = 20
"""A part of a quote with fewer characters is too short to be recognised after an edit."""
MAX_SIMILAR_LENGTH = 2000
"""A longer part is not recognised after an edit: the time of the search grows with the cube of its length."""
MAX_LEFT_OUT = 2000
"""How many characters a quote may leave out, in one section, if the length of the passage is unknown."""
MAX_GROWTH = 1.5
"""The factor by which a passage may grow in an edit."""
MIN_ALLOWED_GROWTH = 100
"""The number of characters by which a short passage may grow, if that is more."""

_ELLIPSIS = re.compile(r"(?:^| )(?:…|\.\.\.)(?= |$)")
_GAP = re.compile(r"\s{2,}")
_PLAIN = str.maketrans("‘’‚‛′“”„‟″«»‐‑‒–—―−", "'" * 5 + '"' * 7 + "-" * 7)


class TextSpan(NamedTuple):
    """A span `[start:end]` of a page's text."""

    document_id: str
    start: int
    end: int

    def overlaps(self, span: Chunk | TextSpan) -> bool:
        """Whether both spans, which must be on the same page, share a character."""
        return max(self.start, span.start) < min(self.end, span.end)


class SortedBounds:
    """Counts which of many spans overlap another one, in logarithmic time."""

    def __init__(self, spans: Sequence[Chunk] | Sequence[PageSection]) -> None:
        self._starts = sorted(span.start for span in spans)
        self._ends = sorted(span.end for span in spans)

    def count_overlaps(self, span: TextSpan) -> int:
        """Count the spans that begin before the end of this one, without those that end before its start."""
        return bisect_left(self._starts, span.end) - bisect_right(self._ends, span.start)


class IndexedPage:
    """A page with its chunks; the forms of its text that quotes are searched in are computed lazily."""

    def __init__(self, page: PageView, unit: Unit) -> None:
        self.page = page
        self.name = page.source_path or page.url
        self._unit = unit
        self._chunks_by_span: dict[TextSpan, list[Chunk]] = {}
        self._chunk_bounds, self._section_bounds = SortedBounds(page.chunks), SortedBounds(page.sections)

    @cached_property
    def plain(self) -> str:
        """The text with one space for each run of white space."""
        return " ".join(self.page.text.split())

    @cached_property
    def folded(self) -> str:
        """`plain` without case and typographic marks; offsets are the same."""
        return fold_text(self.plain)

    @cached_property
    def _offsets(self) -> tuple[list[int], list[int]]:
        """Pairs of an offset in `plain` and the same position in the page's text, one for each long gap."""
        text = self.page.text
        removed = len(text) - len(text.lstrip())
        plain, original = [0], [removed]
        for gap in _GAP.finditer(text, removed):
            removed += gap.end() - gap.start() - 1
            plain.append(gap.end() - removed)
            original.append(gap.end())
        return plain, original

    def _to_span(self, start: int, end: int) -> TextSpan:
        """Convert offsets in `plain` to a span of the page's text."""
        plain, original = self._offsets
        first, last = bisect_right(plain, start) - 1, bisect_right(plain, end - 1) - 1
        return TextSpan(
            self.page.document_id, original[first] + start - plain[first], original[last] + end - plain[last]
        )

    def chunks_covering(self, span: TextSpan) -> list[Chunk]:
        """The chunks that overlap a span."""
        if span not in self._chunks_by_span:
            self._chunks_by_span[span] = [chunk for chunk in self.page.chunks if span.overlaps(chunk)]
        return self._chunks_by_span[span]

    def is_findable(self, span: TextSpan) -> bool:
        """Whether a search could find a span: a heading alone is in no chunk."""
        return self._unit == "page" or self._chunk_bounds.count_overlaps(span) > 0

    def find_reading(self, reading: Reading, length: int | None = None) -> list[TextSpan]:
        """Find a reading of a quote, in headings too; `length` is that of the labelled passage, if known."""
        text = self.folded if reading.folded else self.plain
        spans = (self._to_span(*offsets) for offsets in _find_chains(reading.parts, text))
        return [span for span in spans if self._is_one_passage(span, reading, length)]

    def find_quote(self, quote: str, length: int | None = None) -> list[TextSpan]:
        """Find a quote in chunks, by the strictest reading that is there."""
        spans = (
            list(filter(self.is_findable, self.find_reading(reading, length)))
            for reading in readings_of(quote)
        )
        return next(filter(None, spans), [])

    def find_similar(self, quote: str, length: int | None = None) -> list[TextSpan]:
        """Find a text that is similar to a quote; at most one span."""
        *_, reading = readings_of(quote)
        matches: list[tuple[int, int]] = []
        for part in reading.parts:
            offset, end = matches[-1][1] if matches else 0, _search_end(matches, part, length)
            match = _find_similar_part(part, self.folded[:end], offset)
            if match is None:
                return []
            matches.append(match)
        span = self._to_span(matches[0][0], matches[-1][1])
        return [span] if self.is_findable(span) and self._is_one_passage(span, reading, length) else []

    def _is_one_passage(self, span: TextSpan, reading: Reading, length: int | None) -> bool:
        """Whether the parts belong to one passage.

        If not, the last part is probably a repetition further down.
        """
        if len(reading.parts) == 1:
            return True
        found_length = span.end - span.start
        if length is not None:
            return found_length <= _max_edited_length(length)
        sections = self._section_bounds.count_overlaps(span)
        return sections <= 1 and found_length - sum(map(len, reading.parts)) <= MAX_LEFT_OUT

    def find_sections(self, anchor: str) -> list[TextSpan]:
        """Find the text under each heading with an anchor, up to the next heading."""
        by_anchor = groupby(self.page.sections, lambda section: section.anchor)
        runs = [list(run) for key, run in by_anchor if key == anchor]
        spans = [TextSpan(self.page.document_id, run[0].start, run[-1].end) for run in runs]
        return list(filter(self.is_findable, spans))


class Reading(NamedTuple):
    """A way to read a quote: its parts between ellipses, and whether they are folded."""

    parts: list[str]
    folded: bool


def readings_of(quote: str) -> Iterator[Reading]:
    """The readings of a quote, the strictest first. An ellipsis may be the page's own."""
    text = " ".join(quote.split())
    parts = [part.strip() for part in _ELLIPSIS.split(text) if part.strip()]
    readings = [[text]] if parts in ([], [text]) else [[text], parts]
    yield from (Reading(reading, folded=False) for reading in readings)
    yield from (Reading([fold_text(part) for part in reading], folded=True) for reading in readings)


def fold_text(text: str) -> str:
    """Remove case and typographic marks; the length stays the same."""
    plain = text.translate(_PLAIN)
    folded = plain.casefold()
    if len(folded) == len(plain):
        return folded
    # A letter that folds to two, such as ß, stays as it is, so that offsets do not shift.
    return "".join(lower if len(lower := letter.casefold()) == 1 else letter for letter in plain)


def _search_end(matches: Sequence[tuple[int, int]], part: str, length: int | None) -> int | None:
    """Return where the search for the next part of a quote ends; None is the end of the text."""
    if not matches:
        return None
    if length is None:
        return matches[-1][1] + MAX_LEFT_OUT + len(part)
    return matches[0][0] + _max_edited_length(length)


def _max_edited_length(length: int) -> int:
    """How long a passage of this length may be after an edit."""
    return max(int(length * MAX_GROWTH), length + MIN_ALLOWED_GROWTH)


def _find_chains(parts: Sequence[str], text: str) -> Iterator[tuple[int, int]]:
    """Find each span from the first part to the last, with every part the nearest after its predecessor."""
    first, *following = parts
    start = text.find(first)
    while start >= 0:
        end = start + len(first)
        for part in following:
            position = text.find(part, end)
            if position < 0:
                return
            end = position + len(part)
        yield start, end
        start = text.find(first, start + 1)


def _find_similar_part(part: str, text: str, offset: int) -> tuple[int, int] | None:
    """Find a part after an offset: the part itself, else the whole words of the most similar text."""
    exact = text.find(part, offset)
    if exact >= 0:
        return exact, exact + len(part)
    if not MIN_SIMILAR_LENGTH <= len(part) <= MAX_SIMILAR_LENGTH:
        return None
    # rapidfuzz searches the shorter text in the longer, and a page's last word is in many quotes.
    if len(text) - offset < len(part) * MIN_SIMILARITY / 100:
        return None
    match = fuzz.partial_ratio_alignment(part, text[offset:], score_cutoff=MIN_SIMILARITY)
    if match is None:
        return None
    start, end = offset + match.dest_start, offset + match.dest_end
    first, last = text.find(" ", start - 1 if start else 0), text.rfind(" ", 0, end + 1)
    first = 0 if start == 0 else first + 1
    last = len(text) if end == len(text) else last
    return (first, last) if start <= first < last <= end else (start, end)


def shortest_spans(spans: Iterable[TextSpan]) -> list[TextSpan]:
    """Keep, of the spans with the same end, the shortest, which is the last."""
    return list({(span.document_id, span.end): span for span in spans}.values())
