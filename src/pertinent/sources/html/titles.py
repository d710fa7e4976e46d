"""The title of a page, from a `<title>` that also names the site."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from ...types import NAME_MAX
from .text import collapse_spaces

_BAR = re.compile(r"\s+\|\s+")
_DELIMITER = re.compile(r"\s+(?:\||·|•|‹|›|»|«|::|—|–|-)\s+")
_TRAILING_DELIMITER = re.compile(r"\s+(?:\||·|•|‹|›|»|«|::|—|–|-)$")
_MARKDOWN = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<[^<>]*>|[*_`~\\]|\{[^{}]*\}")


def page_title(full_title: str, headings: Sequence[str], site_names: Sequence[str], url: str) -> str:
    """The title of a page with this `<title>`.

    The name of the site is removed, where it is known. Else the title is the heading of the page that the
    `<title>` begins or ends with; else all but the last part of `Page | Site`.

    >>> page_title("Joints | Robots | Book", ["Joints"], ["Book"], "https://book.example/joints")
    'Joints | Robots'
    """
    full_title = collapse_spaces(full_title)[:NAME_MAX]
    headings = [heading[:NAME_MAX] for heading in headings if heading]
    title = (
        _strip_site_name(full_title, site_names)
        or _match_heading(full_title, headings)
        or _strip_last_part(full_title)
    )
    if headings and (not title or _plain(title) == _plain(headings[0])):
        return headings[0]
    return title or _name_from_url(url)


def is_ambiguous_title(full_title: str) -> bool:
    """Whether a `<title>` has more than two parts, so that any number of them may be of the site."""
    return len(_DELIMITER.split(full_title[:NAME_MAX])) > 2  # noqa: PLR2004


def _strip_site_name(full_title: str, site_names: Sequence[str]) -> str:
    for site_name in filter(None, map(collapse_spaces, site_names)):
        head = full_title.removesuffix(site_name).rstrip()
        title = _TRAILING_DELIMITER.sub("", head)
        if title not in (head, ""):
            return title
    return ""


def _match_heading(full_title: str, headings: Sequence[str]) -> str:
    by_plain_text = {_plain(heading): heading for heading in reversed(headings)}
    delimiters = [*_DELIMITER.finditer(full_title)]
    candidates = [
        full_title,
        *(full_title[: delimiter.start()] for delimiter in delimiters),
        *(full_title[delimiter.end() :] for delimiter in delimiters),
    ]
    return next((by_plain_text[plain] for plain in map(_plain, candidates) if plain in by_plain_text), "")


def _strip_last_part(full_title: str) -> str:
    delimiters = [*(_BAR if _BAR.search(full_title) else _DELIMITER).finditer(full_title)]
    return full_title[: delimiters[-1].start()] if delimiters else full_title


def _plain(text: str) -> str:
    """The text without spaces and without Markdown, which Docusaurus leaves in a `<title>`."""
    return "".join(_MARKDOWN.sub(r"\1", text).split())


def _name_from_url(url: str) -> str:
    """The last step of the path, or the host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    name = unquote(parts.path.rstrip("/").rpartition("/")[2], errors="replace")
    return collapse_spaces(name) or parts.netloc
