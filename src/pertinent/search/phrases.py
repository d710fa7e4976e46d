"""Words in sequence: whether a passage has a quoted phrase, or the whole query, word for word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..types import Chunk
from .terms import fold, split_sequence

MIN_WORDS = 3
"""The fewest words of a query that say something if a passage has them in sequence."""

MIN_LEXICAL = 0.5
"""A passage with all words of a query has about this lexical feature at least; others are not compared."""

_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")


class Phrases:
    """The quoted phrases of a query, each of which a passage must have. Not thread-safe.

    A passage has a phrase in its text, title or headings, as a reader sees them: case, punctuation, markup
    and the targets of links do not matter.

    Args:
        phrases: The phrases without their quotes. Without any, every passage has them all.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._sequences = dict.fromkeys(_join_words(fold(phrase)) for phrase in phrases)
        self._words = dict.fromkeys(word for sequence in self._sequences for word in sequence.split())
        self._results: dict[Chunk, bool] = {}
        """The results by chunk: a search that reads more candidates reads the first ones again."""

    def __bool__(self) -> bool:
        return bool(self._sequences)

    def match(self, chunk: Chunk) -> bool:
        """Whether a chunk has each of the phrases."""
        if not self._sequences:
            return True
        if (result := self._results.get(chunk)) is None:
            result = self._results[chunk] = self._look_up(chunk)
        return result

    def _look_up(self, chunk: Chunk) -> bool:
        text = fold(f"{chunk.title} {chunk.section} {chunk.text}")
        # Most passages lack a word of the phrases, and are not split.
        if not all(word in text for word in self._words):
            return False
        words = _join_words(text)
        return all(sequence in words for sequence in self._sequences)


def find_verbatim(query: str, chunks: Sequence[Chunk | None], lexical: Sequence[float]) -> Iterator[int]:
    """Find the chunks whose text has the whole query, and yield their numbers.

    Args:
        query: The text that was searched for; one of fewer than `MIN_WORDS` words is in no chunk.
        chunks: The chunks; those that are None are not compared.
        lexical: The lexical feature of each.
    """
    words = _join_words(fold(query))
    if len(words.split()) < MIN_WORDS:
        return
    for number, (chunk, feature) in enumerate(zip(chunks, lexical, strict=True)):
        if chunk is not None and feature >= MIN_LEXICAL and words in _join_words(fold(chunk.text)):
            yield number


def _join_words(text: str) -> str:
    """Return the words of a folded text between single spaces, with one at each end."""
    return f" {' '.join(split_sequence(_LINK_TARGET.sub(']', text)))} "
