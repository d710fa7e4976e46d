"""How well a query matches the name of a page or section."""

from __future__ import annotations

import math

from .book_words import BookWords


class NameMatcher:
    """Measures how well a query matches the name of a page or section."""

    def __init__(self, query: str, book: BookWords) -> None:
        self._book = book
        self._query = book.read_name(query)  # not cached: most queries differ
        self._matches: dict[str, float] = {}

    def match(self, name: str) -> float:
        """Return how well the query matches a name, in [0, 1]; the chunks of a page share its title."""
        if name not in self._matches:
            self._matches[name] = self._compare(name)
        return self._matches[name]

    def _compare(self, name: str) -> float:
        """Return the share of words that query and name have in common, weighted by rarity, in [0, 1].

        Stems count half and exact words half. For a name that begins with the query, the share of its
        letters counts; the root is taken because a name is rarely typed to its end.
        """
        query, candidate = self._query, self._book.name(name)
        if not candidate.words or not query.words:
            return 0.0
        overlap = 0.0
        if shared_terms := query.terms & candidate.terms:
            shared_words = query.words & candidate.words
            overlap = self._book.weigh_terms(shared_terms) / (query.term_weight + candidate.term_weight)
            overlap += self._book.weigh_words(shared_words) / (query.word_weight + candidate.word_weight)
        if query.flat and candidate.flat.startswith(query.flat):
            letters = 2 * len(query.flat) / (len(query.flat) + len(candidate.flat))
            overlap = max(overlap, math.sqrt(letters))
        return min(overlap, 1.0)
