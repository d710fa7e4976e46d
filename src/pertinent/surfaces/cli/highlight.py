"""Which words of a passage to mark for a query: pure functions."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")
_ENDINGS = ("ings", "ing", "edly", "ed", "ies", "es", "s", "ly", "e", "y")
_SHORTEST_STEM = 4

_STOP_WORDS = frozenset(
    _WORD.findall(
        "a about an and any are as at be been but by can could did do does each for from had has have how "
        "i if in into is it its me my no not of on or other our shall should so some such than that the "
        "their them then there these they this to us was we were what when where which who whom whose why "
        "will with would you your "
    )
)


def pattern(query: str) -> re.Pattern[str] | None:
    """What finds the query's words, in their other forms too; None where there is no word to find."""
    words = list(dict.fromkeys(_WORD.findall(query.lower())))
    telling = [word for word in words if word not in _STOP_WORDS] or words
    if not telling:
        return None
    # The longest first, since the first alternative that fits wins.
    parts = sorted({_forms(word) for word in telling}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)", re.IGNORECASE)


def _forms(word: str) -> str:
    stem = _stem(word)
    if len(stem) < _SHORTEST_STEM:
        return rf"{re.escape(word)}s?"
    return rf"{re.escape(stem)}\w*"


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word
