"""Heading ids as github-slugger 1.5 makes them, which is what Docusaurus 3 gives its headings.

Kept are letters, marks, decimal and letter numbers, connectors such as `_`, spaces and hyphens;
everything else goes, and each space becomes a hyphen (two spaces, two hyphens).
"""

from __future__ import annotations

import re
import unicodedata

_KEPT = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"))
# Letters in circles and squares count as alphabetic to Unicode though their category is "symbol".
_ENCLOSED = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
_ASCII_GONE = re.compile(r"[\x00-\x1f!-,./:-@\[-^`{-\x7f]")


def slugify(text: str) -> str:
    """The slug of one heading's text, without a thought for other headings."""
    text = text.lower()
    text = _ASCII_GONE.sub("", text) if text.isascii() else "".join(filter(_kept, text))
    return text.replace(" ", "-")


def _kept(char: str) -> bool:
    if char in " -" or unicodedata.category(char) in _KEPT:
        return True
    code = ord(char)
    return any(low <= code <= high for low, high in _ENCLOSED)


class Slugger:
    """Slugs that are unique within one document: the second `setup` is `setup-1`."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def slug(self, text: str) -> str:
        """The next slug for this text."""
        original = slug = slugify(text)
        while slug in self._seen:
            self._seen[original] += 1
            slug = f"{original}-{self._seen[original]}"
        self._seen[slug] = 0
        return slug
