"""Books of words for the tests of ranking and spelling."""

from __future__ import annotations

from collections.abc import Sequence

from pertinent.search.book_words import BookWords
from pertinent.search.terms import Analyzer
from pertinent.search.word_counts import count_words
from pertinent.types import SectionName, Vocabulary


def make_book(*pages: tuple[str, Sequence[str], str], language: str = "english") -> BookWords:
    """Return the words of pages, each with its title, the headings of its sections, and their common text."""
    titles = {str(number): title for number, (title, _, _) in enumerate(pages)}
    passages = [
        (str(number), section, text)
        for number, (_, headings, text) in enumerate(pages)
        for section in ("", *headings)
    ]
    names = [
        SectionName(document_id, f"https://book.example/{document_id}", "", titles[document_id], section)
        for document_id, section, _ in passages
    ]
    vocabulary = Vocabulary(count_words(titles, passages), len(passages))
    return BookWords(vocabulary, names, Analyzer(language))
