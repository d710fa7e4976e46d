"""Count the words of pages, for the vocabulary that is kept with an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain

from ..types import SECTION_SEPARATOR, WordCounts
from .terms import cache_short_texts, split_text, words

LONGEST_WORD = 64
"""How many characters a word may have; longer ones (hashes, keys, data) are nothing that anyone types."""


class WordCounter:
    """Counts the pages, sections and chunks that have each word, one page after the other."""

    def __init__(self) -> None:
        self._titles, self._headings, self._texts = Counter[str](), Counter[str](), Counter[str]()
        self._title_words: frozenset[str] = frozenset()
        self._context_words: dict[str, frozenset[str]] = {}
        """The words of the title and of a section, for each section of the current page."""

    def begin_page(self, title: str) -> None:
        """Count a page; the passages that follow are its chunks."""
        self._title_words = _find_distinct_words(title)
        self._context_words = {}
        self._titles.update(self._title_words)

    def add_passage(self, section: str, text: str) -> None:
        """Count a chunk of the current page."""
        context = self._context_words.get(section)
        if context is None:
            context = self._title_words | _find_distinct_words(section)
            self._context_words[section] = context
            self._headings.update(_find_distinct_words(section.rpartition(SECTION_SEPARATOR)[2]))
        self._texts.update(context | _find_distinct_words(text))

    def counts(self) -> dict[str, WordCounts]:
        """Return the counts of all words so far."""
        return {
            word: WordCounts(self._titles[word], self._headings[word], self._texts[word])
            for word in self._titles.keys() | self._texts.keys()
        }


def count_words(titles: Mapping[str, str], passages: Iterable[tuple[str, str, str]]) -> dict[str, WordCounts]:
    """Count the pages, sections and chunks that have each word.

    Args:
        titles: The title of each page, by its document id.
        passages: Document id, section and text of each chunk of these pages. The text of a first chunk
            includes the front matter.

    Examples:
        >>> count_words({"a": "Joints"}, [("a", "Joints › Limits", "Each has two.")])["limits"]
        WordCounts(titles=0, headings=1, texts=1)
    """
    by_page: dict[str, list[tuple[str, str]]] = {document_id: [] for document_id in titles}
    for document_id, section, text in passages:
        by_page[document_id].append((section, text))
    counter = WordCounter()
    for document_id, title in titles.items():
        counter.begin_page(title)
        for section, text in by_page[document_id]:
            counter.add_passage(section, text)
    return counter.counts()


def _find_distinct_words(text: str) -> frozenset[str]:
    return frozenset(chain.from_iterable(map(_find_short_words, split_text(text))))


@cache_short_texts
def _find_short_words(piece: str) -> tuple[str, ...]:
    return tuple(word for word in words(piece) if len(word) <= LONGEST_WORD)
