"""Words in sequence: whether a passage has a quoted phrase, or the whole query, word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..types import Chunk
from .terms import fold, split_sequence

MIN_WORDS = 3
"""The fewest words of a query that say something if a passage has them in sequence."""

MIN_LEXICAL = 0.5
"""A passage with all words of a query has about this lexical feature at least; others are not compared."""

_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")


def contains_phrases(chunk: Chunk, phrases: Sequence[str]) -> bool:
    """Whether a chunk has each phrase in its text, title or headings, as a reader sees them.

    Case, punctuation, markup and the targets of links do not matter.
    """
    text = fold(f"{chunk.title} {chunk.section} {chunk.text}")
    sequences = [_join_words(fold(phrase)) for phrase in phrases]
    # Most passages lack a word of the phrase, and are not split.
    has_words = all(word in text for sequence in sequences for word in sequence.split())
    if not has_words:
        return False
    words = _join_words(text)
    return all(sequence in words for sequence in sequences)


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
