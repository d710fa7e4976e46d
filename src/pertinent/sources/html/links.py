"""The links of a page as absolute addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urldefrag, urljoin, urlsplit

_MAX_LINKS = 10_000
_MAX_LENGTH = 2000  # of an address; a long <base> would make every link of the page as long
_SIMPLE_PATH = re.compile(r"(?:/(?![/.])[^\s/\\?;]*+)++")
_SCHEMES = ("http://", "https://")


def absolute_link(href: str | None, base: str) -> str | None:
    """Resolve a link on a page at `base`; None if it is too long, or neither http nor https."""
    try:
        address = urljoin(base, (href or "").strip())
    except ValueError:
        return None
    is_web = len(address) <= _MAX_LENGTH and address.lower().startswith(_SCHEMES)
    return address if is_web else None


def absolute_links(hrefs: Iterable[str | None], base: str) -> tuple[str, ...]:
    """Resolve links, each address once and without its fragment, in the order of the page."""
    origin = _origin(base)
    addresses: dict[str, None] = {}
    for href in hrefs:
        target = (href or "").partition("#")[0].strip()
        if not target:
            continue
        if origin and _SIMPLE_PATH.fullmatch(target):
            address: str | None = origin + target  # by far the most common, and the same as from urljoin
        else:
            address = absolute_link(target, base)
        if address:
            addresses[address] = None
        if len(addresses) >= _MAX_LINKS:
            break
    return tuple(addresses)


def _origin(base: str) -> str:
    try:
        parts = urlsplit(urldefrag(base).url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else ""
