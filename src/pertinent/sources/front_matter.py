"""The front matter of a page, in one form for Markdown and built pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ..types import FRONT_MATTER_MAX, FrontMatter

_WORD = re.compile(r"\w+")
_WORD_BATCH = 10_000


def split_keywords(keywords: Iterable[str]) -> tuple[str, ...]:
    """Split keywords at commas, as `<meta name="keywords">` lists them; each is named once."""
    names = (" ".join(name.split()) for name in ",".join(keywords).split(","))
    return tuple(dict.fromkeys(filter(None, names)))


def clean_front_matter(front_matter: FrontMatter, title: str, text: str) -> FrontMatter:
    """Remove what repeats the title or the text, and cut long fields to what can be searched.

    Docusaurus uses the first line of a page as its description if it has none.
    """
    description, label = front_matter.description, front_matter.sidebar_label
    if _contains_words(text, list(_split_words(description))):
        description = ""
    if list(_split_words(label)) == list(_split_words(title)):
        label = ""
    return FrontMatter(
        description[:FRONT_MATTER_MAX],
        _limit_names(front_matter.keywords),
        _limit_names(front_matter.tags),
        label[:FRONT_MATTER_MAX],
    )


def _limit_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the first names, as many as can be searched for."""
    first: list[str] = []
    for name in names:
        if sum(map(len, first)) >= FRONT_MATTER_MAX:
            break
        first.append(name[:FRONT_MATTER_MAX])
    return tuple(first)


def _split_words(text: str) -> Iterator[str]:
    """Yield the words of a text, to compare texts with and without Markdown."""
    return (match.group().casefold() for match in _WORD.finditer(text))


def _contains_words(text: str, phrase: Sequence[str]) -> bool:
    """Whether these words follow each other in the text; a few words of it are in memory at a time."""
    if not phrase:
        return False
    remaining = _split_words(text)
    window: list[str] = []
    while batch := list(islice(remaining, _WORD_BATCH + len(phrase))):
        window += batch
        if f" {' '.join(phrase)} " in f" {' '.join(window)} ":
            return True
        window = window[len(window) - len(phrase) + 1 :]
    return False
