"""From the bytes of an answer to what is kept of a page; what is no page says why."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ...types import Block, Section
from ..blocks import assemble
from .docusaurus_slugs import Doc, doc_of

if TYPE_CHECKING:
    from ..html import Article

HTML = ("text/html", "application/xhtml+xml")
GENERIC = ("", "text/plain", "application/octet-stream", "application/xml", "text/xml")
"""Content types under which HTML is sent by mistake."""

_MAGIC = {
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
    rb"\s*(<!--.*?-->\s*)*(<\?xml[^>]*>\s*)?<(!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


class NotHtml(ValueError):
    """It is something else; `honest` where it says so itself."""

    def __init__(self, reason: str, *, honest: bool) -> None:
        super().__init__(reason)
        self.honest = honest


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from one address: all that a crawl needs of it, now and the next time."""

    title: str
    canonical: str | None
    language: str
    docusaurus: bool
    doc: Doc | None
    skip: str
    """Why this is no page to index; empty where it is one."""
    links: tuple[str, ...] | None
    """Where its links lead; None where nobody asked."""
    cut: bool
    """Whether the page was so large that its end was left out."""
    content: bytes
    """Its text and sections, packed: of a page that is as it was, nobody looks at them."""

    def unpacked(self) -> tuple[str, tuple[Section, ...]]:
        """The text, and its sections."""
        text, sections = orjson.loads(zlib.decompress(self.content))
        return text, tuple(
            Section(tuple(path), anchor, tuple([Block(*block) for block in blocks]))
            for path, anchor, blocks in sections
        )


def media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def refuse_others(body: bytes, headers: Mapping[str, str]) -> None:
    """Raise NotHtml for what is none, whatever it is called; HTML by another general name passes."""
    kind = media_type(headers)
    start = body[:1024]
    if kind in (*HTML, *GENERIC) and not body.strip():
        raise NotHtml("is empty", honest=False)
    looks_like_html = _LOOKS_LIKE_HTML.match(start) is not None
    if kind not in HTML and not (kind in GENERIC and looks_like_html):
        raise NotHtml(f"is {kind or 'of no known type'}, not HTML", honest=True)
    found = next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)
    if found is None and b"\0" in start and not (looks_like_html or start.startswith(_UTF_16)):
        found = "binary data"
    if found:
        raise NotHtml(f"is called {kind or 'HTML'} but is {found}", honest=False)


def article_of(body: bytes, headers: Mapping[str, str], address: str, *, places: bool = True) -> Article:
    """The page in an answer, as the reader of HTML has it. Raises NotHtml where there is none."""
    from ..html import read as read_html

    refuse_others(body, headers)
    charset = _CHARSET.search(headers.get("content-type", ""))
    try:
        return read_html(body, address, charset=charset[1] if charset else None, places=places)
    except Exception as error:  # a page that breaks the reader must not end the crawl
        raise NotHtml(f"can't be read ({type(error).__name__}: {error})"[:300], honest=False) from error


def read(body: bytes, headers: Mapping[str, str], address: str, *, links: bool) -> Reading:
    """What a crawl needs of the page in an answer. Raises NotHtml where there is none."""
    from ..html import is_hidden

    article = article_of(body, headers, address, places=links)
    text, sections = assemble(article.pieces, article.title)
    skip = ""
    if article.noindex or is_hidden(headers.get("x-robots-tag", "")):
        skip = "noindex"
    elif article.leads_to:
        skip = f"led to {article.leads_to[:200]}"
    elif not article.is_page:
        skip = "no article"
    return Reading(
        title=article.title,
        canonical=article.leads_to or article.canonical or None,
        language=article.language or "",
        docusaurus=(article.generator or "").lower().startswith("docusaurus"),
        doc=doc_of(body),
        skip=skip,
        links=tuple(article.links) if links else None,
        cut=article.cut,
        content=b"" if skip else _packed(text, sections),
    )


def _packed(text: str, sections: Sequence[Section]) -> bytes:
    kept = [
        [one.path, one.anchor, [(block.kind, block.start, block.end) for block in one.blocks]]
        for one in sections
    ]
    return zlib.compress(orjson.dumps([text, kept]), 1)


def packed(reading: Reading) -> bytes:
    """A reading as it is remembered: a check of the rest, what a crawl decides by, and the content."""
    fields = [getattr(reading, name) for name in _HEAD]
    fields[_DOC] = reading.doc and [*reading.doc]
    head = orjson.dumps(fields)
    rest = len(head).to_bytes(_LENGTH) + head + reading.content
    return _check(rest) + rest


def unpacked(data: bytes) -> Reading | None:
    """The reading that was remembered; None where it is not as it was written."""
    check, rest = data[:_CHECK], data[_CHECK:]
    if check != _check(rest):
        return None
    end = _LENGTH + int.from_bytes(rest[:_LENGTH])
    fields: list[Any] = orjson.loads(rest[_LENGTH:end])
    fields[_DOC] = Doc(*fields[_DOC]) if fields[_DOC] else None
    fields[_LINKS] = None if fields[_LINKS] is None else tuple(fields[_LINKS])
    fields.append(rest[end:])
    return Reading(*fields)


def _check(data: bytes) -> bytes:
    return blake2b(data, digest_size=_CHECK).digest()


_CHECK, _LENGTH = 16, 4
_HEAD = Reading.__slots__[:-1]
_DOC, _LINKS = (_HEAD.index(name) for name in ("doc", "links"))


@cache
def reader() -> str:
    """Which reader made a reading: another one may read the same bytes differently."""
    package = Path(__file__).parent.parent
    files = [Path(__file__), package / "blocks.py", *sorted((package / "html").glob("*.py"))]
    return sha256(b"\0".join(file.read_bytes() for file in files if file.is_file())).hexdigest()[:16]
