"""Clean text: white space collapsed, control characters removed."""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def collapse_spaces(text: str) -> str:
    """The text on one line, with one space between words and without control characters."""
    text = " ".join(text.split())
    if text.isprintable():
        return text
    return " ".join(_CONTROL.sub(" ", text).split())


def clean_lines(text: str) -> str:
    """The text with its lines, indents and tabs, without other control characters."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def word_set(text: str) -> frozenset[str]:
    """The words of a text; long lists of names are written that way."""
    return frozenset(text.split())
