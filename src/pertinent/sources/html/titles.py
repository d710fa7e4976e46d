"""A page's own title, out of a `<title>` that also names the site."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from .text import one_line

_BAR = re.compile(r"\s+\|\s+")
_DELIMITER = re.compile(r"\s+(?:\||·|•|‹|›|»|«|::|—|–|-)\s+")
_TRAILING = re.compile(r"\s+(?:\||·|•|‹|›|»|«|::|—|–|-)$")
_MARKS = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<[^<>]*>|[*_`~\\]|\{[^{}]*\}")
_LONGEST = 1000


def page_title(titled: str, headings: Sequence[str], sites: Sequence[str], url: str) -> str:
    """The title of a page with this `<title>`.

    It is without the name of the site, where that is known; else one of the page's own headings, where
    the `<title>` begins or ends with it; else all but the last part: `Page | Site`.
    """
    titled = one_line(titled)[:_LONGEST]
    headings = [heading[:_LONGEST] for heading in headings if heading]
    own = _without_site(titled, sites) or _as_headed(titled, headings) or _without_last(titled)
    if headings and (not own or _plain(own) == _plain(headings[0])):
        return headings[0]
    return own or _name(url)


def is_ambiguous(titled: str) -> bool:
    """Whether the `<title>` has more than two parts, so that any number of them may be the site's."""
    return len(_DELIMITER.split(titled[:_LONGEST])) > 2  # noqa: PLR2004


def _without_site(titled: str, sites: Sequence[str]) -> str:
    for site in filter(None, map(one_line, sites)):
        rest = titled.removesuffix(site).rstrip()
        own = _TRAILING.sub("", rest)
        if own not in (rest, ""):
            return own
    return ""


def _as_headed(titled: str, headings: Sequence[str]) -> str:
    wanted = {_plain(heading): heading for heading in reversed(headings)}
    parts = [*_DELIMITER.finditer(titled)]
    whole = [titled, *(titled[: part.start()] for part in parts), *(titled[part.end() :] for part in parts)]
    return next((wanted[plain] for plain in map(_plain, whole) if plain in wanted), "")


def _without_last(titled: str) -> str:
    parts = [*(_BAR if _BAR.search(titled) else _DELIMITER).finditer(titled)]
    return titled[: parts[-1].start()] if parts else titled


def _plain(text: str) -> str:
    """Without the marks of Markdown, which Docusaurus leaves in a `<title>`."""
    return "".join(_MARKS.sub(r"\1", text).split())


def _name(url: str) -> str:
    """The last part of an address, or its host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return one_line(unquote(parts.path.rstrip("/").rpartition("/")[2], errors="replace")) or parts.netloc
