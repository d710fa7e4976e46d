"""What a page says about itself beside its text, in one form for Markdown and built pages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from ..types import FrontMatter

_WORD = re.compile(r"\w+")


def split_keywords(keywords: Iterable[str]) -> tuple[str, ...]:
    """Split keywords at commas, as `<meta name="keywords">` lists them; each is named once."""
    names = (" ".join(name.split()) for name in ",".join(keywords).split(","))
    return tuple(dict.fromkeys(filter(None, names)))


def drop_repetitions(front_matter: FrontMatter, title: str, text: str) -> FrontMatter:
    """Drop a description that stands in the text, and a label that is the title.

    Docusaurus gives a page without a description its first line as one.
    """
    description, label = front_matter.description, front_matter.sidebar_label
    if _plain(description) in _plain(text):
        description = ""
    if _plain(label) == _plain(title):
        label = ""
    return replace(front_matter, description=description, sidebar_label=label)


def _plain(text: str) -> str:
    """Return the words of a text alone, to compare texts with and without Markdown."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
