"""Make text of any origin safe to show in a report: printable characters, short lines, web links."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WEB_URL = re.compile(r"https?://[^\s\x00-\x20\x7f-\xa0\"'<>\\^`{|}\ud800-\udfff]+", re.IGNORECASE)
_SAFE_IN_FRAGMENT = "!$&'()*+,;=:@/?-._~%"


def make_printable(text: str) -> str:
    """Replace the characters that XML or UTF-8 cannot encode with a replacement character."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def shorten_line(text: str, limit: int) -> str:
    """Return the beginning of the text on one line, with an ellipsis where it is cut."""
    # Only a part of a long text is split: the result needs no more of it.
    flat = " ".join(text[: 4 * limit].split())
    is_complete = len(text) <= 4 * limit and len(flat) <= limit
    return flat if is_complete else f"{flat[: limit - 1].rstrip()}…"


def link_target(url: str | None, anchor: str = "") -> str | None:
    """Return the URL with its anchor; None unless it is an http or https address with a host."""
    if url is None or not _WEB_URL.fullmatch(url) or not _has_host(url):
        return None
    if not anchor:
        return url
    fragment = quote(anchor, safe=_SAFE_IN_FRAGMENT, errors="replace")
    return f"{url.partition('#')[0]}#{fragment}"


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:  # such as http://[
        return False


def format_breadcrumb(title: str | None, section: str) -> str:
    """Format the title and the section of a passage: `Joints › Mimic joints`."""
    return " › ".join(part for part in (title, section) if part and part.strip()) or "(no title)"
