"""The words of a book, loaded for searching: how rare each one is, and in which names it occurs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from heapq import nsmallest
from typing import NamedTuple

from ..types import SECTION_SEPARATOR, SectionName, Vocabulary, WordCounts
from .terms import Analyzer, find_tokens, fold, tokens, words

NO_COUNTS = WordCounts(0, 0, 0)

CACHED_NAMES = 50_000

CACHED_WEIGHTS = 10_000
"""For how many counts the weight is computed only once; most words are in few passages."""

TYPICAL_WEIGHT = 5.0
"""The inverse document frequency of a word where the words of the book are not known."""


class Name(NamedTuple):
    """A title or heading, with its distinct words and terms."""

    words: frozenset[str]
    terms: frozenset[str]
    flat: str
    """The folded words in order, with single spaces between them."""
    word_weight: float
    """The weight of all words together."""
    term_weight: float
    """The weight of all terms together."""


class BookWords:
    """The vocabulary of a book and the names of its pages and sections. Immutable, so thread-safe.

    Args:
        vocabulary: The words with their frequencies.
        sections: The pages and sections; indexed when names are first looked up.
        analyzer: Splits names into terms.
    """

    def __init__(self, vocabulary: Vocabulary, sections: Sequence[SectionName], analyzer: Analyzer) -> None:
        self.vocabulary = vocabulary
        self.sections = sections
        self.analyzer = analyzer
        self.name = lru_cache(CACHED_NAMES)(self.read_name)
        self._weight = lru_cache(CACHED_WEIGHTS)(self._compute_weight)

    def __contains__(self, word: str) -> bool:
        return word in self.vocabulary.words

    def counts(self, word: str) -> WordCounts:
        """Return how often a folded word occurs."""
        return self.vocabulary.words.get(word, NO_COUNTS)

    def weigh_words(self, folded_words: Iterable[str]) -> float:
        """Return the inverse document frequency of words, summed."""
        counts = self.vocabulary.words
        # The last digit of a plain sum depends on the order, which differs between processes for a set.
        return math.fsum([self._weight(counts.get(word, NO_COUNTS).texts) for word in folded_words])

    def weigh_terms(self, terms: Iterable[str]) -> float:
        """Return the inverse document frequency of terms, summed; a term stands for all words of its stem."""
        return math.fsum([self._weight(self._term_counts.get(term, 0)) for term in terms])

    def has_form(self, word: str) -> bool:
        """Whether the book has a folded word, or another word of the same stem."""
        return self.analyzer.stem(word) in self._term_counts

    def with_prefix(self, prefix: str) -> list[str]:
        """Return the known words that begin with the prefix, in alphabetical order."""
        return _with_prefix(self.sorted_words, prefix)

    def prepare(self) -> None:
        """Build what searches use, so that the first one does not wait for it."""
        _ = self.sorted_words, self.names, self._term_counts

    @cached_property
    def sorted_words(self) -> list[str]:
        """All words in alphabetical order."""
        return sorted(self.vocabulary.words)

    @cached_property
    def names(self) -> NameIndex:
        """The names of pages and sections, indexed by their words."""
        return NameIndex(list(_add_empty_sections(self.sections)))

    def read_name(self, text: str) -> Name:
        """Return a text as a name; only `name`, for the names of the book, caches it."""
        name_words = frozenset(words(text))
        terms = frozenset(map(self.analyzer.stem, name_words))
        return Name(name_words, terms, flatten(text), self.weigh_words(name_words), self.weigh_terms(terms))

    @cached_property
    def _term_counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        terms = self.analyzer.stem_words(self.vocabulary.words)
        for term, word_counts in zip(terms, self.vocabulary.words.values(), strict=True):
            # The forms of a word often stand in the same chunks, so their sum would be too high.
            if word_counts.texts > counts.get(term, -1):
                counts[term] = word_counts.texts
        return counts

    def _compute_weight(self, documents: int) -> float:
        """Return the inverse document frequency of a word that so many chunks have, as BM25 computes it."""
        total = self.vocabulary.chunks
        if not total:
            return TYPICAL_WEIGHT
        return math.log(1 + (total - min(documents, total) + 0.5) / (min(documents, total) + 0.5))


class NameIndex:
    """Finds names by their words, by the beginning of a word, or by their own beginning."""

    def __init__(self, sections: Sequence[SectionName]) -> None:
        self._sections = sections
        self._by_word: dict[str, set[int]] = {}
        flats = []
        for number, section in enumerate(sections):
            flats.append(flatten(section.heading))
            for word in words(section.heading):
                self._by_word.setdefault(word, set()).add(number)
        self._sorted_words = sorted(self._by_word)
        self._by_flat = sorted(range(len(flats)), key=flats.__getitem__)
        self._sorted_flats = [flats[number] for number in self._by_flat]
        self._order = _order_names(sections, flats)

    def find(self, required: Iterable[str]) -> set[int]:
        """Return the numbers of the names that have all these words; all names for none."""
        postings = sorted((self._by_word.get(word, set()) for word in required), key=len)
        if not postings:
            return set(range(len(self._sections)))
        return postings[0].intersection(*postings[1:])

    def with_prefix(self, prefix: str) -> Iterator[tuple[str, set[int]]]:
        """Yield each word with this beginning, with the numbers of the names that have it."""
        for word in _with_prefix(self._sorted_words, prefix):
            yield word, self._by_word[word]

    def with_word(self, word: str) -> set[int]:
        """Return the numbers of the names that have the word."""
        return self._by_word.get(word, set())

    def section(self, number: int) -> SectionName:
        """Return the page or section of a number."""
        return self._sections[number]

    def starting_with(self, flat: str) -> list[int]:
        """Return the numbers of the names that begin with a flattened text."""
        return self._by_flat[_prefix_range(self._sorted_flats, flat)]

    def pick_best(self, numbers: Collection[int], limit: int) -> list[int]:
        """Return the numbers of the most prominent names: pages before sections, then the shorter first."""
        return nsmallest(limit, numbers, key=self.order)

    def order(self, number: int) -> int:
        """Return the position of a name among all names, the most prominent first."""
        return self._order[number]

    def spell(self, word: str) -> str:
        """Return an identifier as the names of the book write it, so that it can be split into its parts."""
        return self._identifiers.get(word, word)

    @cached_property
    def _identifiers(self) -> dict[str, str]:
        """The identifiers of all names, by their folded form."""
        spellings = (token.text for section in self._sections for token in tokens(section.heading))
        return {fold(spelling): spelling for spelling in spellings if len(list(words(spelling))) > 1}

    @property
    def words(self) -> list[str]:
        """The words of all names, in alphabetical order."""
        return self._sorted_words

    @cached_property
    def beginnings(self) -> dict[int, list[str]]:
        """The distinct beginnings of the words of all names, by their length."""
        longest = max(map(len, self._sorted_words), default=0)
        return {
            length: list(dict.fromkeys(word[:length] for word in self._sorted_words if len(word) >= length))
            for length in range(1, longest + 1)
        }


def flatten(text: str) -> str:
    """Return the folded words of a text without punctuation, to compare the beginnings of names."""
    return " ".join(find_tokens(fold(text)))


def _add_empty_sections(sections: Sequence[SectionName]) -> Iterator[SectionName]:
    """Add the headings without text of their own: each leads to its first sub-section, directly below it."""
    names = {(name.document_id, name.section) for name in sections}
    for name in sections:
        headings = name.section.split(SECTION_SEPARATOR)
        for depth in range(1, len(headings)):
            above = name._replace(section=SECTION_SEPARATOR.join(headings[:depth]))
            if (above.document_id, above.section) not in names:
                names.add((above.document_id, above.section))
                yield above
        yield name


def _order_names(sections: Sequence[SectionName], flats: Sequence[str]) -> list[int]:
    """Return the position of each name: pages before sections, then the shorter, then as in the book."""
    positions = [0] * len(sections)
    by_prominence = sorted(range(len(sections)), key=lambda n: (bool(sections[n].section), len(flats[n]), n))
    for position, number in enumerate(by_prominence):
        positions[number] = position
    return positions


def _with_prefix(sorted_words: Sequence[str], prefix: str) -> list[str]:
    return list(sorted_words[_prefix_range(sorted_words, prefix)])


def _prefix_range(sorted_texts: Sequence[str], prefix: str) -> slice:
    return slice(bisect_left(sorted_texts, prefix), bisect_left(sorted_texts, prefix + "\U0010ffff"))
