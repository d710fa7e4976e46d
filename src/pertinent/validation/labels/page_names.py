"""Recognise a page that was moved or renamed: by the last part of its path or address."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

_EXTENSION = re.compile(r"\.(?:mdx?|markdown|html?|rst|adoc|txt|ipynb|php)$")
_NUMBER = re.compile(r"^\d{1,4}\s*[-_.]+\s*(?=[^\W\d_])")
"""The number that gives a file its place in a sidebar; not a version or a date, in which a digit follows."""


def share_page_name(first: Iterable[str], second: Iterable[str]) -> bool:
    """Return whether two pages, each given by its paths and addresses, have a name in common."""
    return not {*map(page_name, first)}.isdisjoint(map(page_name, second))


def page_name(address: str) -> str:
    """Return the last part of a path or address, without what differs between spellings of one page.

    The name of an index page is that of its folder; the name of the home page of a site is empty.

    Examples:
        >>> page_name("docs/02-Setup.md"), page_name("https://book.example/guide/setup/index.html")
        ('setup', 'setup')
    """
    _, _, path, query, _ = urlsplit(address.replace("\\", "/"))
    parts = [part for part in unquote(path).casefold().split("/") if part]
    name = _strip_spelling(parts[-1]) if parts else ""
    if name in ("index", "readme"):
        name = _strip_spelling(parts[-2]) if len(parts) > 1 else ""
    return f"{name}?{query}" if query else name


def _strip_spelling(part: str) -> str:
    return _NUMBER.sub("", _EXTENSION.sub("", part))
