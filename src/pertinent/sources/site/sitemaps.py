"""Sitemaps: the pages that a site lists, from XML or plain text, compressed or not, whole or in parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from .decompression import GZIP, TooLarge, Undecodable, decoded

_ROOTS = ("urlset", "sitemapindex")
_MARKUP = (b"<?xml", b"<!--", *(f"<{name}".encode() for name in _ROOTS))
_UTF_16 = (b"\xfe\xff", b"\xff\xfe")


@dataclass(frozen=True, slots=True)
class Listed:
    """A page as a sitemap lists it, with its translations by language."""

    address: str
    alternates: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Sitemap:
    """What one sitemap says: pages, or further sitemaps; and what is wrong with it."""

    pages: list[Listed] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    problem: str = ""


def parse(body: bytes, *, size: int, most: int) -> Sitemap | None:
    """The sitemap in a body, of at most `most` entries; None where it is something else, such as HTML.

    A broken one gives what stands before the break, and says so.
    """
    if body.startswith(GZIP):
        try:
            body = decoded([body], "gzip", size)
        except TooLarge:
            return Sitemap(problem=f"is larger than {size / 2**20:.3g} MB")
        except Undecodable as error:
            return Sitemap(problem=str(error))
    start = body[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"http://", b"https://")):
        lines = body.decode("utf-8-sig", "replace").split()
        return Sitemap([Listed(line) for line in lines[:most]], problem=_too_many(len(lines), most))
    if not start.startswith((*_MARKUP, *_UTF_16)):
        return None
    return _Reader(most).read(body)


def _too_many(found: int, most: int) -> str:
    return f"lists more than {most:,} pages; the others were left out" if found > most else ""


def _bare(name: str) -> str:
    """The name of an element without its namespace."""
    return name.rpartition(":")[2].lower()


class _Enough(Exception):
    """Nothing more is to be read."""


class _Reader:
    """Reads a sitemap's XML from its beginning to its end, or to where it breaks."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found = Sitemap()
        self._root = ""
        self._path: list[str] = []
        self._text: list[str] = []
        self._address = ""
        self._alternates: dict[str, str] = {}

    def read(self, body: bytes) -> Sitemap | None:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        try:
            parser.Parse(body, True)  # noqa: FBT003 - expat's own
        except _Enough as reason:
            self._found.problem = str(reason)
        except (expat.ExpatError, ValueError, LookupError) as error:
            self._found.problem = f"is broken XML ({error})"
        return self._found if self._root in _ROOTS else None

    def _doctype(self, name: str, *_: object) -> None:
        self._root = _bare(name)

    def _entity(self, *_: object) -> None:
        raise _Enough("declares entities, which no sitemap needs")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = _bare(name)
        self._root = self._root or name
        if self._root not in _ROOTS:
            raise _Enough
        self._path.append(name)
        self._text.clear()
        if name in ("url", "sitemap"):
            self._address, self._alternates = "", {}
        language, address = attributes.get("hreflang"), attributes.get("href")
        if name == "link" and language and address:
            self._alternates[language.lower()] = address

    def _end(self, _: str) -> None:
        name = self._path.pop()
        above = self._path[-1] if self._path else ""
        if name == "loc" and above in ("url", "sitemap"):
            self._address = "".join(self._text).strip()
        elif name == "url" and self._address:
            if len(self._found.pages) == self._most:
                raise _Enough(_too_many(self._most + 1, self._most))
            self._found.pages.append(Listed(self._address, self._alternates))
        elif name == "sitemap" and self._address:
            self._found.parts.append(self._address)
        self._text.clear()
