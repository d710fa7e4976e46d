"""Text as it may be kept: on one line, without the characters that no store or terminal takes."""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def one_line(text: str) -> str:
    """The text on one line, its words apart by one space."""
    text = " ".join(text.split())
    if text.isprintable():
        return text
    return " ".join(_CONTROL.sub(" ", text).split())


def lines(text: str) -> str:
    """The text with its own lines, indents and tabs."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def words(text: str) -> frozenset[str]:
    """The words of a text, as a list of names is written in these modules."""
    return frozenset(text.split())
