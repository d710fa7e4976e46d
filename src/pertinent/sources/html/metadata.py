"""The metadata of a page, from its head: title, canonical address, language, generator, robots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from ...types import NAME_MAX
from .links import absolute_link
from .text import collapse_spaces

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_SITE_NAMES = ("og:site_name", "application-name", "apple-mobile-web-app-title")
# `max-image-preview:none` does not mean noindex.
_NOINDEX = re.compile(r"(?<!preview:)(?<!preview: )\b(?:noindex|none)\b", re.IGNORECASE)
_CRAWLER = re.compile(r"[\w.*-]+")
_RULES_WITH_VALUES = ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
_REFRESH = re.compile(r"(\d{1,2})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
_META_TAG = re.compile(r"<meta\s[^>]*+", re.IGNORECASE)
_HTTP_EQUIV_REFRESH = re.compile(r"http-equiv=[\"']?refresh\b", re.IGNORECASE)
_CONTENT = re.compile(r"content=([\"'])(.+?)\1", re.IGNORECASE)
_MAX_REDIRECT_TEXT = 200
"""How many characters a page may have that only sends the browser to another one."""
_MAX_REFRESH_SECONDS = 10
"""A refresh after more seconds than this is not a redirect."""


@dataclass(slots=True)
class PageMetadata:
    """What the head of a page says."""

    title: str = ""
    """The text of `<title>`, which often names the site too."""
    base: str = ""
    """The address that relative links are resolved against."""
    canonical: str | None = None
    alternates: dict[str, str] = field(default_factory=dict)
    """The addresses of the page's translations by language, as `hreflang` names them."""
    language: str | None = None
    refresh_target: str | None = None
    metas: dict[str, str] = field(default_factory=dict)
    """The content of `<meta>` elements by name."""
    site_names: list[str] = field(default_factory=list)
    noindex: bool = False

    def get(self, *names: str) -> str | None:
        """The content of the first of these `<meta>` elements that exists."""
        return next((self.metas[name] for name in names if name in self.metas), None)


def read_metadata(page: LexborHTMLParser, url: str) -> PageMetadata:
    """Read the metadata of the page at a url."""
    metadata = PageMetadata(base=url)
    root = page.root
    language = (root.attributes.get("lang") if root is not None else "") or ""
    metadata.language = collapse_spaces(language)[:NAME_MAX] or None
    canonical = refresh = noscript_refresh = None
    for node in _head_nodes(page):
        attributes = node.attributes
        if node.tag == "meta":
            _add_meta(
                metadata, attributes.get("name") or attributes.get("property"), attributes.get("content")
            )
            if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
                refresh = attributes.get("content")
        elif node.tag == "noscript":
            noscript_refresh = _find_refresh(node.text())
        elif node.tag == "title":
            metadata.title = metadata.title or collapse_spaces(node.text())
        elif node.tag == "base" and "href" in attributes and metadata.base == url:
            metadata.base = absolute_link(attributes.get("href"), url) or url
        elif node.tag == "link" and "canonical" in (kind := (attributes.get("rel") or "").lower().split()):
            canonical = canonical or attributes.get("href")
        elif node.tag == "link" and "search" in kind:
            metadata.site_names.append(attributes.get("title") or "")
    if canonical and canonical.strip():
        metadata.canonical = absolute_link(canonical, metadata.base)
    metadata.alternates = dict(_read_alternates(page, metadata.base))
    if noscript_refresh and refresh is None and _has_little_text(page):
        # Pages that redirect by script put the refresh into <noscript>.
        refresh = noscript_refresh
    metadata.refresh_target = _parse_refresh(refresh or "", metadata.base, url)
    return metadata


def is_noindex(robots: str) -> bool:
    """Whether a robots meta asks not to index the page."""
    return bool(_NOINDEX.search(robots))


def is_noindex_header(header: str, product: str) -> bool:
    """Whether X-Robots-Tag headers, one in each line, ask this crawler not to index the page.

    The name of a crawler applies to all rules after it in a header.

    >>> is_noindex_header("otherbot: noindex, nofollow", "Pertinent")
    False
    """
    for line in header.splitlines():
        crawler = "*"
        for part in line.split(","):
            name, colon, value = part.partition(":")
            name = name.strip().lower()
            rule = part
            if colon and _CRAWLER.fullmatch(name) and name not in _RULES_WITH_VALUES:
                crawler, rule = name, value
            if crawler in ("*", product.lower()) and is_noindex(rule):
                return True
    return False


def _head_nodes(page: LexborHTMLParser) -> Iterator[LexborNode]:
    """The elements of the head, also where a misplaced element ended it early and put them in the body."""
    has_meta = False
    for node in page.head.iter() if page.head is not None else ():
        has_meta = has_meta or node.tag == "meta"
        yield node
    if not has_meta:
        yield from page.css("body > meta, body > link, body > title, body > base")


def _read_alternates(page: LexborHTMLParser, base: str) -> Iterator[tuple[str, str]]:
    """The languages and addresses of the translations that the head links to."""
    for node in _head_nodes(page):
        attributes = node.attributes
        language, href = attributes.get("hreflang"), attributes.get("href")
        if language and href and "alternate" in (attributes.get("rel") or "").lower().split():
            address = absolute_link(href, base)
            if address:
                yield language.strip(), address


def _add_meta(metadata: PageMetadata, name: str | None, content: str | None) -> None:
    name = (name or "").strip().lower()
    value = collapse_spaces(content or "")
    if not name or not value:
        return
    metadata.metas.setdefault(name, value)
    if name in _SITE_NAMES:
        metadata.site_names.append(value)
    elif name == "robots" and is_noindex(value):
        metadata.noindex = True


def _find_refresh(markup: str) -> str | None:
    """The content of the refresh in the markup of a `<noscript>`.

    Each pattern reads a tag once. One pattern for all three would take hours for a hostile page.
    """
    for tag in _META_TAG.finditer(markup):
        refresh = _HTTP_EQUIV_REFRESH.search(tag[0])
        content = refresh and _CONTENT.search(tag[0], refresh.end())
        if content:
            return content[2]
    return None


def _has_little_text(page: LexborHTMLParser) -> bool:
    return page.body is None or len(page.body.text(strip=True)) < _MAX_REDIRECT_TEXT


def _parse_refresh(refresh: str, base: str, url: str) -> str | None:
    """The address that a refresh leads to soon; None where the page only reloads itself."""
    match = _REFRESH.match(refresh.strip())
    if match is None or int(match[1]) > _MAX_REFRESH_SECONDS:
        return None
    target = absolute_link(match[2], base)
    return target if target and urldefrag(target).url != urldefrag(url).url else None
