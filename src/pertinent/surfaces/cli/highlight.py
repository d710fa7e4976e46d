"""Which words of a passage to highlight for a query: pure functions."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")
_SUFFIXES = ("ings", "ing", "edly", "ed", "ies", "es", "s", "ly", "e", "y")
_SHORTEST_STEM = 4

_STOP_WORDS = frozenset(
    _WORD.findall(
        "a about an and any are as at be been but by can could did do does each for from had has have how "
        "i if in into is it its me my no not of on or other our shall should so some such than that the "
        "their them then there these they this to us was we were what when where which who whom whose why "
        "will with would you your "
    )
)


def compile_query_pattern(query: str) -> re.Pattern[str] | None:
    """Compile a pattern that matches the query's words in any inflection; None without words.

    Stop words are matched only where the query has no other words.

    Examples:
        >>> compile_query_pattern("what limits a joint").findall("The limit of two joints.")
        ['limit', 'joints']
    """
    words = list(dict.fromkeys(_WORD.findall(query.lower())))
    content_words = [word for word in words if word not in _STOP_WORDS] or words
    if not content_words:
        return None
    # The longest first: the first alternative that matches wins.
    alternatives = sorted({_inflections(word) for word in content_words}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)


def _inflections(word: str) -> str:
    stem = _stem(word)
    if len(stem) < _SHORTEST_STEM:
        return rf"{re.escape(word)}s?"
    return rf"{re.escape(stem)}\w*"


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            return word.removesuffix(suffix)
    return word
