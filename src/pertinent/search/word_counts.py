"""Count the words of pages, for the vocabulary that is kept with an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ..types import SECTION_SEPARATOR, WordCounts
from .terms import words

LONGEST_WORD = 64
"""How many characters a word may have; longer ones (hashes, keys, data) are nothing that anyone types."""


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
    title_words = {document_id: _find_words(title) for document_id, title in titles.items()}
    in_titles, in_headings, in_texts = Counter[str](), Counter[str](), Counter[str]()
    for page_words in title_words.values():
        in_titles.update(page_words)
    context_words: dict[tuple[str, str], frozenset[str]] = {}
    for document_id, section, text in passages:
        context = context_words.get((document_id, section))
        if context is None:
            context = title_words[document_id] | _find_words(section)
            context_words[document_id, section] = context
            in_headings.update(_find_words(section.rpartition(SECTION_SEPARATOR)[2]))
        in_texts.update(context | _find_words(text))
    return {
        word: WordCounts(in_titles[word], in_headings[word], in_texts[word])
        for word in in_titles.keys() | in_texts.keys()
    }


def _find_words(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if len(word) <= LONGEST_WORD)
