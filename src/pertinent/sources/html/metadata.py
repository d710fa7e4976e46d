"""What a page says of itself in its head: its address, its language, who made it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from .links import absolute
from .text import one_line

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_SITES = ("og:site_name", "application-name", "apple-mobile-web-app-title")
# `max-image-preview:none` hides no page.
_HIDDEN = re.compile(r"(?<!preview:)(?<!preview: )\b(?:noindex|none)\b", re.IGNORECASE)
_REFRESH = re.compile(r"(\d{1,2})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
_WITHOUT_SCRIPTS = re.compile(
    r"<meta\s[^>]*http-equiv=[\"']?refresh\b[^>]*content=([\"'])(?P<refresh>.+?)\1", re.IGNORECASE
)
_LITTLE = 200  # letters on a page that is there to send its readers on
_AT_ONCE = 10
"""Seconds after which a page that sends its readers on is there to be read."""


@dataclass(slots=True)
class Facts:
    """The head of a page, as far as a reader of pages asks."""

    titled: str = ""
    base: str = ""
    canonical: str | None = None
    language: str | None = None
    leads_to: str | None = None
    metas: dict[str, str] = field(default_factory=dict)
    sites: list[str] = field(default_factory=list)
    noindex: bool = False

    def meta(self, *names: str) -> str | None:
        """What the first of these metas that is there says."""
        return next((self.metas[name] for name in names if name in self.metas), None)


def facts_of(page: LexborHTMLParser, url: str) -> Facts:
    """The facts of a page that was fetched from this address."""
    facts = Facts(base=url)
    root, head = page.root, page.head
    facts.language = one_line((root.attributes.get("lang") if root is not None else "") or "") or None
    canonical = refresh = unscripted = None
    for node in _nodes(page, head):
        attributes = node.attributes
        if node.tag == "meta":
            _meta(facts, attributes.get("name") or attributes.get("property"), attributes.get("content"))
            if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
                refresh = attributes.get("content")
        elif node.tag == "noscript":
            unscripted = _WITHOUT_SCRIPTS.search(node.text())
        elif node.tag == "title":
            facts.titled = facts.titled or one_line(node.text())
        elif node.tag == "base":
            facts.base = absolute(attributes.get("href"), url) or url
        elif node.tag == "link" and "canonical" in (kind := (attributes.get("rel") or "").lower().split()):
            canonical = canonical or attributes.get("href")
        elif node.tag == "link" and "search" in kind:
            facts.sites.append(attributes.get("title") or "")
    facts.canonical = absolute(canonical, facts.base) if canonical and canonical.strip() else None
    if unscripted and refresh is None and _says_little(page):
        # A script sends readers on, and this those without one.
        refresh = unscripted["refresh"]
    facts.leads_to = _target(refresh or "", facts.base, url)
    return facts


def is_hidden(robots: str) -> bool:
    """Whether a page asks not to be found, in a robots meta or an X-Robots-Tag."""
    return bool(_HIDDEN.search(robots))


def _says_little(page: LexborHTMLParser) -> bool:
    body = page.body
    return body is None or len(body.text(strip=True)) < _LITTLE


def _target(refresh: str, base: str, url: str) -> str | None:
    """Where a refresh leads soon; None where the page only loads itself again."""
    match = _REFRESH.match(refresh.strip())
    if match is None or int(match[1]) > _AT_ONCE:
        return None
    found = absolute(match[2], base)
    return found if found and urldefrag(found).url != urldefrag(url).url else None


def _nodes(page: LexborHTMLParser, head: LexborNode | None) -> Iterator[LexborNode]:
    """What the head holds; an element that is out of place ends a head early, and the rest is in the body."""
    seen = False
    for node in head.iter() if head is not None else ():
        seen = seen or node.tag == "meta"
        yield node
    if not seen:
        yield from page.css("body > meta, body > link, body > title, body > base")


def _meta(facts: Facts, name: str | None, content: str | None) -> None:
    name = (name or "").strip().lower()
    value = one_line(content or "")
    if not name or not value:
        return
    facts.metas.setdefault(name, value)
    if name in _SITES:
        facts.sites.append(value)
    elif name == "robots" and is_hidden(value):
        facts.noindex = True
