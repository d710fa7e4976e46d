"""Snippets: the lines of a passage around what matched the query best, with the matching words marked.

All surfaces use it. A snippet is a contiguous part of the passage. The caller sets the number of characters;
it also limits the number of lines, to about eight at most. A word is never cut in two, and an ellipsis shows
where text was left out. A code block that is cut gets its fences back, so that the snippet is valid Markdown.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from operator import attrgetter, mul
from typing import NamedTuple

from .terms import Analyzer, Token, is_cjk, split_cjk, tokens, words

MAX_LINES = 8
"""How many lines a snippet has at the most."""

LINE_WIDTH = 80
"""How many characters count as one line of a paragraph that is written without line breaks."""

SNIPPET_LENGTH = MAX_LINES * LINE_WIDTH
"""How many characters a snippet has at the most, unless the caller says otherwise."""

MAX_STARTS = 500
"""How many lines are tried as the first of a snippet: a passage of another pipeline may have megabytes."""

LINES_BEFORE_MATCH = 50
"""From how many lines above the first match on they are tried."""

ELLIPSIS = "…"

_EXACT, _STEMMED = 1.0, 0.9
"""The worth of a query term that occurs as it was typed, and of one that occurs in another form."""

_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})(.*)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])\s*")
_STRUCTURE = re.compile(r"\s|[-*+>|#]|\d+[.)]")
_START = attrgetter("start")


class Snippet(NamedTuple):
    """A part of a passage, with the ranges of its words that match the query."""

    text: str
    highlights: list[tuple[int, int]]
    """Start and end of each matching word, as offsets in the text."""


class _MatchingWord(NamedTuple):
    """A word of the passage that matches terms of the query, each with its weight."""

    start: int
    end: int
    terms: dict[str, float]


class _PassageLine(NamedTuple):
    """A line of the passage, or a part of a line that is too long."""

    start: int
    end: int
    height: float
    """How many lines it counts for; 0 if it is blank, outside a code block."""
    is_blank: bool
    fence: str = ""
    """The opening fence of the code block that the line belongs to, if it is not that fence itself."""
    marker: str = ""
    """The marks that close that code block; an excerpt that ends with this line needs them."""
    is_opening: bool = False
    is_closing: bool = False


def make_snippet(passage: str, query: str, analyzer: Analyzer, length: int = SNIPPET_LENGTH) -> Snippet:
    """Return the lines of the passage that match the query best.

    Args:
        passage: The text of a chunk.
        query: What was searched for.
        analyzer: Splits both into terms.
        length: How many characters the snippet has at the most. Only a single word may be longer. The
            lines are limited too, so that a snippet of short lines, such as code, is not higher than one
            of prose: 240 characters are three lines.

    Examples:
        >>> make_snippet("A joint has limits.", "joint limit", Analyzer("english"))
        Snippet(text='A joint has limits.', highlights=[(2, 7), (12, 18)])
    """
    matches = _find_matches(passage, query, analyzer)
    lines = _split_lines(passage, length)
    max_lines = min(MAX_LINES, math.ceil(length / LINE_WIDTH))
    if len(passage) <= length and sum(line.height for line in lines) <= max_lines:
        return Snippet(passage, [(match.start, match.end) for match in matches])
    cutter = _Cutter(passage, lines, matches, length, max_lines)
    first, last = max(cutter.list_excerpts(), key=lambda excerpt: cutter.rank(*excerpt))
    return cutter.render(first, last)


def find_highlights(passage: str, query: str, analyzer: Analyzer) -> list[tuple[int, int]]:
    """Return start and end of every word of the passage that matches the query."""
    return [(match.start, match.end) for match in _find_matches(passage, query, analyzer)]


def _find_matches(passage: str, query: str, analyzer: Analyzer) -> list[_MatchingWord]:
    """Find the words with a term of the query; stop words count only in a query without other words."""
    query_words, query_terms = analyzer.split_query(query)
    terms_by_text: dict[str, dict[str, float]] = {}
    matches: list[_MatchingWord] = []
    for token in _split_tokens(passage):
        if (terms := terms_by_text.get(token.text)) is None:
            terms = _match_terms(token.text, query_words, query_terms, analyzer)
            terms_by_text[token.text] = terms
        if not terms:
            continue
        start = token.start
        if matches and start < matches[-1].end:  # pairs of Chinese characters overlap
            start, _, earlier_terms = matches.pop()
            terms = earlier_terms | terms
        matches.append(_MatchingWord(start, token.end, terms))
    return matches


def _split_tokens(passage: str) -> Iterator[Token]:
    for token in tokens(passage):
        yield from split_cjk(token) if is_cjk(token.text) else [token]


def _match_terms(
    text: str, query_words: frozenset[str], query_terms: frozenset[str], analyzer: Analyzer
) -> dict[str, float]:
    terms: dict[str, float] = {}
    for word in words(text):
        if (term := analyzer.stem(word)) in query_terms:
            terms[term] = max(terms.get(term, 0.0), _EXACT if word in query_words else _STEMMED)
    return terms


def _split_lines(passage: str, length: int) -> list[_PassageLine]:
    """Split the passage into lines, and lines that are too long into parts."""
    longest = max(1, min(2 * LINE_WIDTH, length - 2 * len(f"{ELLIPSIS} ")))
    inside_word = _mark_words(passage)
    lines: list[_PassageLine] = []
    fence = marker = ""
    position = 0
    for text in passage.split("\n"):
        match = _FENCE.fullmatch(text)
        is_opening = match is not None and not fence
        is_closing = match is not None and not is_opening and match[1].startswith(marker)
        if match is not None and is_opening:
            fence, marker = text.strip(), match[1]
        for start, end in _split_line(passage, position, position + len(text), longest, inside_word):
            visible = len(passage[start:end].strip()) / LINE_WIDTH
            # Parts of a line share their last line with the next part.
            height = math.ceil(visible) if end - start == len(text) else visible
            if fence:
                height = max(height, 1)
            # Only the first part of a long opening fence opens the code block.
            opens = is_opening and start == position
            code_fence = "" if opens else fence
            lines.append(_PassageLine(start, end, height, not visible, code_fence, marker, opens, is_closing))
        if is_closing:
            fence = marker = ""
        position += len(text) + 1
    return lines


def _mark_words(passage: str) -> bytearray:
    """Return 1 for each position where a cut would split a word; Chinese text can be cut anywhere."""
    inside_word = bytearray(len(passage) + 1)
    for token in _split_tokens(passage):
        if not is_cjk(token.text):
            inside_word[token.start + 1 : token.end] = b"\1" * (token.end - token.start - 1)
    return inside_word


def _split_line(
    passage: str, start: int, end: int, longest: int, inside_word: bytearray
) -> Iterator[tuple[int, int]]:
    """Yield the parts of a line: sentences if it is too long, and parts of sentences that are too long."""
    if end - start <= longest:
        yield start, end
        return
    for sentence_end in [*_SENTENCE_END.finditer(passage, start, end), None]:
        stop, next_start = (end, end) if sentence_end is None else sentence_end.span()
        while stop - start > longest:
            cut = _find_cut(passage, start, start + longest, inside_word)
            yield start, cut
            start = cut
            while start < stop and passage[start].isspace():
                start += 1
        if start < stop:
            yield start, stop
        start = next_start


def _find_cut(passage: str, start: int, limit: int, inside_word: bytearray) -> int:
    """Return where to cut: at the last space up to the limit, or else beside a word."""
    positions = range(limit, start, -1)
    at_space = (i for i in positions if passage[i].isspace() and not passage[start:i].isspace())
    beside_word = (i for i in positions if not inside_word[i])
    cut = next(at_space, None) or next(beside_word, None)
    return cut or inside_word.index(0, limit)


class _Cutter:
    """Cuts a passage from one of its lines to another."""

    def __init__(
        self,
        passage: str,
        lines: list[_PassageLine],
        matches: list[_MatchingWord],
        length: int,
        max_lines: int,
    ) -> None:
        self._passage = passage
        self._lines = lines
        self._matches = matches
        self._frequencies = Counter(term for match in matches for term in match.terms)
        self._length = length
        self._max_lines = max_lines
        self._heights = [0.0, *accumulate(line.height for line in lines)]
        visible = [number for number, line in enumerate(lines) if not line.is_blank]
        self._first_visible, self._last_visible = min(visible, default=0), max(visible, default=0)

    def list_excerpts(self) -> list[tuple[int, int]]:
        """Return the first and last line of every excerpt that is as long as a snippet may be."""
        starts = [n for n, line in enumerate(self._lines) if not (line.is_blank or line.is_closing)]
        if len(starts) > MAX_STARTS:
            first_match = self._find_line(self._matches[0]) if self._matches else 0
            begin = max(0, bisect_left(starts, first_match) - LINES_BEFORE_MATCH)
            starts = starts[begin : begin + MAX_STARTS]
        return list(dict.fromkeys(self._extend(first) for first in starts)) or [(0, 0)]

    def rank(self, first: int, last: int) -> tuple[float, float, float]:
        """Return the sort key: distinct terms first, then repeated ones, then how central the matches are."""
        matches = self._matches_between(first, last)
        if not matches:
            return 0.0, 0.0, 0.0
        worths: dict[str, float] = {}
        for match in matches:
            for term, worth in match.terms.items():
                worths[term] = max(worths.get(term, 0.0), worth)
        weights = [self._weigh(match) for match in matches]
        positions = [self._heights[self._find_line(match)] for match in matches]
        centre = sum(map(mul, weights, positions)) / sum(weights)
        distance = abs(centre - (self._heights[first] + self._heights[last]) / 2)
        return sum(worths.values()), round(sum(weights), 6), -round(distance, 6)

    def _weigh(self, match: _MatchingWord) -> float:
        """Return the weight of a match: a term that the passage repeats says less about where to look."""
        return sum(weight / self._frequencies[term] for term, weight in match.terms.items())

    def render(self, first: int, last: int) -> Snippet:
        """Return the excerpt with ellipses, and with the fences of a code block that it cuts."""
        start, end = self._lines[first].start, self._lines[last].end
        head, tail = self._surround(first, last)
        shift = len(head) - start
        matches = self._matches_between(first, last)
        highlights = [(match.start + shift, match.end + shift) for match in matches]
        return Snippet(head + self._passage[start:end] + tail, highlights)

    def _matches_between(self, first: int, last: int) -> list[_MatchingWord]:
        start, end = self._lines[first].start, self._lines[last].end
        from_match = bisect_left(self._matches, start, key=_START)
        matches = self._matches[from_match : bisect_left(self._matches, end, key=_START)]
        # A match in a long run of Chinese characters can be cut in two.
        return matches[:-1] if matches and matches[-1].end > end else matches

    def _find_line(self, match: _MatchingWord) -> int:
        return bisect_right(self._lines, match.start, key=_START) - 1

    def _extend(self, first: int) -> tuple[int, int]:
        """Return an excerpt that begins with the line, or earlier if the passage ends soon after it."""
        last = first
        for number in range(first + 1, len(self._lines)):
            if not self._fits(first, number):
                break
            if not (self._lines[number].is_blank or self._lines[number].is_opening):
                last = number
        for number in range(first - 1, -1, -1):
            if not self._fits(number, last):
                break
            if not (self._lines[number].is_blank or self._lines[number].is_closing):
                first = number
        return first, last

    def _fits(self, first: int, last: int) -> bool:
        if self._heights[last + 1] - self._heights[first] > self._max_lines:
            return False
        head, tail = self._surround(first, last)
        length = len(head) + self._lines[last].end - self._lines[first].start + len(tail)
        return length <= self._length

    def _surround(self, first: int, last: int) -> tuple[str, str]:
        """Return the text to put before and after an excerpt: ellipses and code fences."""
        start, end = self._lines[first], self._lines[last]
        head = tail = ""
        if first > self._first_visible:
            head = f"{ELLIPSIS}\n" if self._needs_own_line(start) else f"{ELLIPSIS} "
        if last < self._last_visible:
            tail = f"\n{ELLIPSIS}" if self._needs_own_line(end) else f" {ELLIPSIS}"
        opening = f"{start.fence}\n" if start.fence else ""
        closing = f"\n{end.marker}" if end.marker and not end.is_closing else ""
        length = len(opening) + len(head) + end.end - start.start + len(tail) + len(closing)
        if length > self._length and first == last:
            return head, tail
        return opening + head, tail + closing

    def _needs_own_line(self, line: _PassageLine) -> bool:
        """Whether an ellipsis would change what the line is: code, a table row, a list item or a heading."""
        is_part = line.start > 0 and self._passage[line.start - 1] != "\n"
        return bool(
            line.fence or line.is_opening or (not is_part and _STRUCTURE.match(self._passage, line.start))
        )
