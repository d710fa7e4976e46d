"""The links of a page as absolute addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit

MAX_LINKS = 10_000
"""How many links of a page are read."""
MAX_LINK_CHARACTERS = 2**20
"""How many characters the links of a page may have together."""
_MAX_LENGTH = 2000  # of an address; a long <base> would make every link of the page as long
_SIMPLE_PATH = re.compile(r"(?:/(?![/.])[^\s/\\?;]*+)++")
_SCHEMES = ("http://", "https://")


class PageLinks(NamedTuple):
    """The links of a page."""

    addresses: tuple[str, ...]
    """Each address once and without its fragment, in the order of the page."""
    is_complete: bool
    """Whether these are all; False where the page has more than are read."""


def accept_link(_: str) -> bool:
    """Accept every link."""
    return True


def absolute_link(href: str | None, base: str) -> str | None:
    """Resolve a link on a page at `base`; None if it is too long, or neither http nor https."""
    try:
        address = urljoin(base, (href or "").strip())
    except ValueError:
        return None
    is_web = len(address) <= _MAX_LENGTH and address.lower().startswith(_SCHEMES)
    return address if is_web else None


def absolute_links(
    hrefs: Iterable[str | None], base: str, accepts: Callable[[str], bool] = accept_link
) -> PageLinks:
    """Resolve links; those that are not accepted do not count towards the limits."""
    origin = _origin(base)
    addresses: dict[str, None] = {}
    characters = 0
    for href in hrefs:
        target = (href or "").partition("#")[0].strip()
        if not target:
            continue
        if origin and _SIMPLE_PATH.fullmatch(target):
            address: str | None = origin + target  # by far the most common, and the same as from urljoin
        else:
            address = absolute_link(target, base)
        if not address or address in addresses or not accepts(address):
            continue
        characters += len(address)
        if len(addresses) == MAX_LINKS or characters > MAX_LINK_CHARACTERS:
            return PageLinks(tuple(addresses), is_complete=False)
        addresses[address] = None
    return PageLinks(tuple(addresses), is_complete=True)


def _origin(base: str) -> str:
    try:
        parts = urlsplit(urldefrag(base).url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else ""
