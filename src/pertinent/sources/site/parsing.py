"""Parsing of a response to a page, and the form in which the crawl cache stores it."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from hashlib import blake2b
from typing import Any

import orjson

from ...types import Block, FrontMatter, Section
from ..front_matter import clean_front_matter
from ..html import Article, accept_link, is_noindex_header, parse_html
from ..normal_form import assemble
from .addresses import MAX_ADDRESS_LENGTH
from .docusaurus_slugs import DocusaurusId, parse_docusaurus_id
from .http_client import PRODUCT

PARSER_VERSION = 7
"""The version of parsed pages in the crawl cache.

Increase it with every change that makes the same HTML give another `ParsedPage`: in this file, in
`sources/html` or in what they use. Pages that an older version parsed are then fetched and parsed again.
`test_parser_version.py` fails when the output changes and the version does not.
"""

NOINDEX = "noindex"
NO_ARTICLE = "no article"
"""Reasons why a page is not to be indexed."""

_HTML_TYPES = ("text/html", "application/xhtml+xml")
_GENERIC_TYPES = ("", "text/plain", "application/octet-stream", "application/xml", "text/xml")
"""Content types under which HTML is sent by mistake."""
_SIGNATURES = {
    b"%PDF": "a PDF",
    b"\x89PNG": "an image",
    b"GIF8": "an image",
    b"\xff\xd8\xff": "an image",
    b"RIFF": "an image or a sound",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x7fELF": "a program",
}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_LOOKS_LIKE_HTML = re.compile(
    # Possessive: without it, thirty empty comments would take hours.
    rb"\s*+(?:<!--.*?-->\s*+)*+(?:<\?xml[^>]*+>\s*+)?+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


class NotHtml(ValueError):
    """The response is not HTML; `declared` where its content type says so itself."""

    def __init__(self, reason: str, *, declared: bool) -> None:
        super().__init__(reason)
        self.declared = declared


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """What a crawl needs to know about a page, now and the next time."""

    title: str
    canonical: str | None
    """The address that the page names as the one to index, or to which it sends the browser."""
    language: str
    is_docusaurus: bool
    docusaurus_id: DocusaurusId | None
    skip_reason: str
    """Why the page is not to be indexed; empty where it is."""
    links: tuple[str, ...] | None
    """The addresses on the site that it links to; None where they were not read."""
    links_complete: bool
    """Whether `links` are all of them; False for a page with too many links, or one that is too large."""
    truncated: bool
    """Whether the page was so large that its end was left out."""
    front_matter: FrontMatter
    content: bytes
    """Text and sections, compressed, since those of an unchanged page are not needed."""

    @property
    def version(self) -> str:
        """The version that Docusaurus writes into the page; empty where there is none."""
        return self.docusaurus_id.version if self.docusaurus_id else ""

    def unpack_content(self) -> tuple[str, tuple[Section, ...]]:
        """The text and its sections."""
        text, sections = orjson.loads(zlib.decompress(self.content))
        return text, tuple(
            Section(tuple(path), anchor, tuple([Block(*block) for block in blocks]))
            for path, anchor, blocks in sections
        )


def parse_article(
    body: bytes,
    headers: Mapping[str, str],
    address: str,
    *,
    with_links: bool = True,
    accepts_link: Callable[[str], bool] = accept_link,
) -> Article:
    """Parse the HTML of a response, with the links that are accepted. Raises NotHtml if it is not HTML."""
    _refuse_other_types(body, headers)
    charset = _CHARSET.search(headers.get("content-type", ""))
    try:
        return parse_html(
            body,
            address,
            charset=charset[1] if charset else None,
            with_links=with_links,
            accepts_link=accepts_link,
        )
    except Exception as error:  # a page that breaks the parser must not end the crawl
        raise NotHtml(f"can't be parsed ({type(error).__name__}: {error})"[:300], declared=False) from error


def parse_page(
    body: bytes,
    headers: Mapping[str, str],
    address: str,
    *,
    with_links: bool,
    accepts_link: Callable[[str], bool] = accept_link,
) -> ParsedPage:
    """Parse a response to the values that a crawl needs. Raises NotHtml if it is not HTML."""
    article = parse_article(body, headers, address, with_links=with_links, accepts_link=accepts_link)
    text, sections = assemble(article.pieces, article.title)
    skip_reason = ""
    if article.noindex or is_noindex_header(headers.get("x-robots-tag", ""), PRODUCT):
        skip_reason = NOINDEX
    elif article.refresh_target:
        skip_reason = f"redirected to {article.refresh_target[:200]}"
    elif not article.has_article:
        skip_reason = NO_ARTICLE
    canonical = article.refresh_target or article.canonical
    return ParsedPage(
        title=article.title,
        canonical=canonical if canonical and len(canonical) <= MAX_ADDRESS_LENGTH else None,
        language=article.language or "",
        is_docusaurus=(article.generator or "").lower().startswith("docusaurus"),
        docusaurus_id=parse_docusaurus_id(body),
        skip_reason=skip_reason,
        links=tuple(article.links) if with_links else None,
        links_complete=article.links_complete,
        truncated=article.truncated,
        front_matter=clean_front_matter(article.front_matter, article.title, text),
        content=b"" if skip_reason else _pack_content(text, sections),
    )


def _refuse_other_types(body: bytes, headers: Mapping[str, str]) -> None:
    """Raise NotHtml if the body is not HTML, even if it is sent as HTML; HTML of a generic type passes."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    start = body[:1024]
    if kind in (*_HTML_TYPES, *_GENERIC_TYPES) and not body.strip():
        raise NotHtml("is empty", declared=False)
    looks_like_html = _LOOKS_LIKE_HTML.match(start) is not None
    if kind not in _HTML_TYPES and not (kind in _GENERIC_TYPES and looks_like_html):
        raise NotHtml(f"is {kind or 'of no known type'}, not HTML", declared=True)
    actual = next((name for signature, name in _SIGNATURES.items() if start.startswith(signature)), None)
    if actual is None and b"\0" in start and not (looks_like_html or start.startswith(_UTF_16)):
        actual = "binary data"
    if actual:
        raise NotHtml(f"was sent as {kind or 'HTML'} but is {actual}", declared=False)


def _pack_content(text: str, sections: Sequence[Section]) -> bytes:
    packed_sections = [
        [section.path, section.anchor, [(block.kind, block.start, block.end) for block in section.blocks]]
        for section in sections
    ]
    return zlib.compress(orjson.dumps([text, packed_sections]), 1)


def serialize_page(page: ParsedPage) -> bytes:
    """Serialize a page for the cache: a checksum, the length of the metadata, metadata, content.

    Metadata is compressed, because links are long and alike.
    """
    fields = [getattr(page, name) for name in _METADATA]
    fields[_DOCUSAURUS_ID] = page.docusaurus_id and [*page.docusaurus_id]
    fields[_FRONT_MATTER] = astuple(page.front_matter)
    metadata = zlib.compress(orjson.dumps(fields), 1)
    payload = len(metadata).to_bytes(_LENGTH_BYTES) + metadata + page.content
    return _checksum(payload) + payload


def deserialize_page(data: bytes) -> ParsedPage | None:
    """Read a page from the cache; None where its checksum is wrong."""
    checksum, payload = data[:_CHECKSUM_BYTES], data[_CHECKSUM_BYTES:]
    if checksum != _checksum(payload):
        return None
    end = _LENGTH_BYTES + int.from_bytes(payload[:_LENGTH_BYTES])
    fields: list[Any] = orjson.loads(zlib.decompress(payload[_LENGTH_BYTES:end]))
    fields[_DOCUSAURUS_ID] = DocusaurusId(*fields[_DOCUSAURUS_ID]) if fields[_DOCUSAURUS_ID] else None
    description, keywords, tags, label = fields[_FRONT_MATTER]
    fields[_FRONT_MATTER] = FrontMatter(description, tuple(keywords), tuple(tags), label)
    fields[_LINKS] = None if fields[_LINKS] is None else tuple(fields[_LINKS])
    fields.append(payload[end:])
    return ParsedPage(*fields)


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=_CHECKSUM_BYTES).digest()


_CHECKSUM_BYTES, _LENGTH_BYTES = 16, 4
_METADATA = ParsedPage.__slots__[:-1]
_DOCUSAURUS_ID, _LINKS, _FRONT_MATTER = (
    _METADATA.index(name) for name in ("docusaurus_id", "links", "front_matter")
)
