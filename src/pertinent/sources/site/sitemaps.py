"""Parsing of sitemaps: XML or plain text, compressed or not, with pages or with further sitemaps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from xml.parsers import expat

from ..._internal.decompression import GZIP, TooLarge, Undecodable, decompress

_ROOTS = ("urlset", "sitemapindex")
_MARKUP = (b"<?xml", b"<!--", *(f"<{name}".encode() for name in _ROOTS))
_UTF_16 = (b"\xfe\xff", b"\xff\xfe")
_ADDRESS = re.compile(r"https?://\S+")
_MAX_DEPTH = 20
"""How many elements may be inside each other; a sitemap needs four. Expat keeps all that are open."""
_MAX_ALTERNATES = 200
"""How many translations of a page are read."""


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page as a sitemap lists it, with the addresses of its translations by language."""

    address: str
    alternates: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Sitemap:
    """The content of one sitemap: pages, or further sitemaps; and what is wrong with it."""

    pages: list[ListedPage] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    problem: str = ""


def parse_sitemap(body: bytes, *, max_bytes: int, max_pages: int) -> Sitemap | None:
    """Parse a sitemap; None if the body is something else, such as HTML.

    A broken sitemap gives the pages before the error, and a `problem`. Pages beyond `max_pages` are
    left out, also with a `problem`; sitemaps likewise.
    """
    if body.startswith(GZIP):
        try:
            body = decompress([body], "gzip", max_bytes)
        except TooLarge:
            return Sitemap(problem=f"is larger than {max_bytes / 2**20:.3g} MB")
        except Undecodable as error:
            return Sitemap(problem=str(error))
    start = body[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"http://", b"https://")):
        lines = map(str.strip, body.decode("utf-8-sig", "replace").splitlines())
        # One more than may be listed shows that there are too many; a large file has millions.
        addresses = islice(filter(_ADDRESS.fullmatch, lines), max_pages + 1)
        pages = [ListedPage(address) for address in addresses]
        problem = too_many_pages(max_pages) if len(pages) > max_pages else ""
        return Sitemap(pages[:max_pages], problem=problem)
    if not start.startswith((*_MARKUP, *_UTF_16)):
        return None
    return _XmlReader(max_pages).read(body)


def too_many_pages(max_pages: int) -> str:
    """Return the problem of a list with more pages."""
    return f"lists more than {max_pages:,} pages; the others were left out"


def _local_name(name: str) -> str:
    """The name of an element without its namespace."""
    return name.rpartition(":")[2].lower()


class _StopParsing(Exception):
    """The remainder of the XML is not to be read."""


class _XmlReader:
    """Reads the XML of a sitemap up to its end or its first error.

    A streaming parser is used because it gives what stands before an error, and because it reports
    the declaration of an entity before the entity is expanded.
    """

    def __init__(self, max_pages: int) -> None:
        self._max_pages = max_pages
        self._sitemap = Sitemap()
        self._root = ""
        self._path: list[str] = []
        self._text: list[str] = []
        self._address = ""
        self._alternates: dict[str, str] = {}

    def read(self, body: bytes) -> Sitemap | None:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start_element
        parser.EndElementHandler = self._end_element
        parser.CharacterDataHandler = self._text.append
        parser.StartDoctypeDeclHandler = self._start_doctype
        parser.EntityDeclHandler = self._refuse_entity
        try:
            parser.Parse(body, True)  # noqa: FBT003 - the signature of expat
        except _StopParsing as reason:
            self._sitemap.problem = str(reason)
        except (expat.ExpatError, ValueError, LookupError) as error:
            self._sitemap.problem = f"is broken XML ({error})"
        return self._sitemap if self._root in _ROOTS else None

    def _start_doctype(self, name: str, *_: object) -> None:
        self._root = _local_name(name)

    def _refuse_entity(self, *_: object) -> None:
        raise _StopParsing("declares XML entities, which are refused")

    def _start_element(self, name: str, attributes: dict[str, str]) -> None:
        name = _local_name(name)
        self._root = self._root or name
        if self._root not in _ROOTS:
            raise _StopParsing
        if len(self._path) == _MAX_DEPTH:
            raise _StopParsing("has too many elements inside each other")
        self._path.append(name)
        self._text.clear()
        if name in ("url", "sitemap"):
            self._address, self._alternates = "", {}
        language, address = attributes.get("hreflang"), attributes.get("href")
        if name == "link" and language and address and len(self._alternates) < _MAX_ALTERNATES:
            self._alternates[language.lower()] = address

    def _end_element(self, _: str) -> None:
        name = self._path.pop()
        parent = self._path[-1] if self._path else ""
        if name == "loc" and parent in ("url", "sitemap"):
            self._address = "".join(self._text).strip()
        elif name == "url" and self._address:
            if len(self._sitemap.pages) == self._max_pages:
                raise _StopParsing(too_many_pages(self._max_pages))
            self._sitemap.pages.append(ListedPage(self._address, self._alternates))
        elif name == "sitemap" and self._address:
            if len(self._sitemap.sitemaps) == self._max_pages:
                raise _StopParsing(f"lists more than {self._max_pages:,} sitemaps; the others were left out")
            self._sitemap.sitemaps.append(self._address)
        self._text.clear()
