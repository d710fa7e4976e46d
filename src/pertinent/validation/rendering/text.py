"""Text that anybody may have written, made fit to stand in a report."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WEB = re.compile(r"https?://[^\s\x00-\x20\x7f-\xa0\"'<>\\^`{|}\ud800-\udfff]+", re.IGNORECASE)
_IN_FRAGMENT = "!$&'()*+,;=:@/?-._~%"


def printable(text: str) -> str:
    """The text with a replacement character for what neither XML nor UTF-8 can hold."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def line(text: str, limit: int) -> str:
    """The beginning of the text on one line."""
    flat = " ".join(text[: 4 * limit].split())
    whole = len(text) <= 4 * limit and len(flat) <= limit
    return flat if whole else f"{flat[: limit - 1].rstrip()}…"


def address(url: str | None, anchor: str = "") -> str | None:
    """Where a link may lead: to the anchor of a page on the web, and nowhere else."""
    if url is None or not _WEB.fullmatch(url) or not _has_host(url):
        return None
    if not anchor:
        return url
    fragment = quote(anchor, safe=_IN_FRAGMENT, errors="replace")
    return f"{url.partition('#')[0]}#{fragment}"


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:  # such as http://[
        return False


def breadcrumb(title: str | None, section: str) -> str:
    """Title and section, as a reader would say where a passage stands."""
    return " › ".join(part for part in (title, section) if part and part.strip()) or "(no title)"
