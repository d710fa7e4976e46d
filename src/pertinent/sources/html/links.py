"""The addresses that a page links to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urldefrag, urljoin, urlsplit

_MOST = 10_000
_PLAIN = re.compile(r"(?:/(?![/.])[^\s/\\?;]*+)++")
_WEB = ("http://", "https://")


def absolute(href: str | None, base: str) -> str | None:
    """The address that a link means on a page at `base`; None where it is none of the web's."""
    try:
        address = urljoin(base, (href or "").strip())
    except ValueError:
        return None
    return address if address.lower().startswith(_WEB) else None


def absolute_links(hrefs: Iterable[str | None], base: str) -> tuple[str, ...]:
    """Where the links lead, each place once and without its fragment, in the page's order."""
    origin = _origin(base)
    found: dict[str, None] = {}
    for href in hrefs:
        target = (href or "").partition("#")[0].strip()
        if not target:
            continue
        if origin and _PLAIN.fullmatch(target):
            address: str | None = origin + target  # by far the most common, and as urljoin has it
        else:
            address = absolute(target, base)
        if address:
            found[address] = None
        if len(found) >= _MOST:
            break
    return tuple(found)


def _origin(base: str) -> str:
    try:
        parts = urlsplit(urldefrag(base).url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else ""
