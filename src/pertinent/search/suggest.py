"""Suggestions: pages and sections whose name fits what a reader has typed so far.

Names that begin with the text come first, then names that have all its words, the last of which may be
unfinished. Where no name fits, the words may have typos, as in `spelling`. At equal fit pages come before
sections, and shorter names before longer ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from itertools import chain

from ..types import SectionName, Suggestion
from .book_words import BookWords, NameIndex, flatten
from .spelling import MAX_UNKNOWN, find_near_words
from .terms import is_cjk, words


def suggest(text: str, book: BookWords, limit: int) -> list[Suggestion]:
    """Return the pages and sections whose name fits the text, best first.

    Args:
        text: What has been typed so far.
        book: The names of the book.
        limit: The maximum number of suggestions.
    """
    typed = _split_words(text)
    if not typed:
        return []
    names = book.names
    beginning = names.starting_with(flatten(text))
    numbers = names.pick_best(beginning, limit)
    if len(numbers) < limit:
        containing = _find_containing(typed, names).difference(beginning)
        numbers += names.pick_best(containing, limit - len(numbers))
    if not numbers:
        edits = _find_with_typos(typed, names)
        numbers = nsmallest(limit, edits, key=lambda number: (edits[number], names.order(number)))
    return [_make_suggestion(names.section(number)) for number in numbers]


def _split_words(text: str) -> list[str]:
    """Split a text into the words that names are indexed by; the last one may be unfinished."""
    tokens = flatten(text).split()
    pairs = chain.from_iterable(words(token) if is_cjk(token) else (token,) for token in tokens)
    *finished, last = [*pairs] or [""]
    return [*dict.fromkeys(finished), last] if last else []


def _find_containing(typed: list[str], names: NameIndex) -> set[int]:
    """Find the names that have all words, the last as the beginning of a word."""
    *finished, last = typed
    numbers = set(chain.from_iterable(having for _, having in names.with_prefix(last)))
    return numbers & names.find(finished) if finished else numbers


def _find_with_typos(typed: list[str], names: NameIndex) -> dict[int, int]:
    """Find the names that have all words after unknown ones are corrected, with the edits for each name."""
    *finished, last = typed
    if sum(not names.with_word(word) for word in finished) > MAX_UNKNOWN:
        return {}  # as in a query: to compare each with all words of the names takes time
    total: dict[int, int] = {}
    for beginning, edits in _correct_beginning(last, names):
        for _, having in names.with_prefix(beginning):
            _add_missing(total, having, edits)
    for word in finished:
        if not total:
            break
        fewest: dict[int, int] = {}
        for correction, edits in _correct_word(word, names):
            _add_missing(fewest, names.with_word(correction), edits)
        total = {number: total[number] + fewest[number] for number in total.keys() & fewest.keys()}
    return total


def _correct_beginning(beginning: str, names: NameIndex) -> list[tuple[str, int]]:
    """Return the beginnings of known words that an unfinished word may stand for, with their edits."""
    if any(True for _ in names.with_prefix(beginning)):
        return [(beginning, 0)]
    lengths = (len(beginning) - 1, len(beginning), len(beginning) + 1)
    choices = list(chain.from_iterable(names.beginnings.get(length, ()) for length in lengths))
    return find_near_words(beginning, choices)


def _correct_word(word: str, names: NameIndex) -> list[tuple[str, int]]:
    """Return the known words that a word may stand for, with their edits; a known word is no typo."""
    return [(word, 0)] if names.with_word(word) else find_near_words(word, names.words)


def _add_missing(fewest: dict[int, int], numbers: Iterable[int], edits: int) -> None:
    for number in numbers:
        fewest.setdefault(number, edits)


def _make_suggestion(name: SectionName) -> Suggestion:
    url = f"{name.url}#{name.anchor}" if name.anchor else name.url
    return Suggestion(name.title, name.section, url, name.document_id, is_page=not name.section)
