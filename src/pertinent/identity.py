"""Ids, slugs, hashes and addresses of pages and chunks.

All are pure functions of their arguments, so an id is the same on every run and machine.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import string
import unicodedata
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import quote, urlsplit, urlunsplit

CHUNK_ID_MAX = 50
SLUG_MAX = 100
TITLE_MAX = 255
CACHED_POINT_IDS = 20_000
"""How many point ids are cached: a search checks those of about a hundred chunks."""

_POINTS = uuid.UUID("6b3a8f0e-2d3c-5b0e-9f6e-70657274696e")
_WORD = re.compile(r"[^\w]+")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")

UNESCAPED = "/%:@!$&'()*+,;=~[]|"
"""The characters that are not percent-encoded in the path of a URL."""


def content_hash(text: str) -> str:
    """Return the SHA-256 of the text in UTF-8, as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def digest(*parts: str, length: int = 12) -> str:
    """Return a short hash of several strings; their lengths are part of it, so `ab, c` is not `a, bc`."""
    return content_hash("".join(f"{len(part)}:{part}" for part in parts))[:length]


def ascii_slug(text: str, limit: int = SLUG_MAX) -> str:
    """Return lower-case ASCII words joined by hyphens, at most `limit` characters; may be empty."""
    folded = (
        text if text.isascii() else unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    )
    return _WORD.sub("-", folded.replace("_", "-")).strip("-").lower()[:limit].strip("-")


def canonical_url(url: str) -> str:
    """Return the canonical address of a page: escaped, no fragment, no `index.html`, no trailing slash."""
    scheme, host, path, query, _ = urlsplit(url)
    path = re.sub(r"/index\.html?$", "/", escape_address(path, errors="replace"))
    if len(path) > 1:
        path = path.rstrip("/") or "/"
    if scheme in ("http", "https"):
        host = host.lower()
        host = host.removesuffix(":80") if scheme == "http" else host.removesuffix(":443")
        path = path or "/"
    return urlunsplit((scheme.lower(), host, path, query, ""))


def escape_address(text: str, unescaped: str = UNESCAPED, errors: str = "strict") -> str:
    """Escape what must be escaped in a part of an address, and nothing else.

    Args:
        text: The path or the query.
        unescaped: The characters that are left as they are.
        errors: What to do with half of a surrogate pair, as for `str.encode`.

    >>> escape_address("/caf\u00e9/caf%c3%a9/%7Ejoint")
    '/caf%C3%A9/caf%C3%A9/~joint'
    """
    if "%" in text:
        text = _ESCAPE.sub(_normalize_escape, text)
    return quote(text, safe=unescaped, errors=errors)


def _normalize_escape(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()


def is_url(text: str) -> bool:
    """Whether a text is an address: a scheme with a host, or a file's path, and no white space."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    has_target = parts.netloc or (parts.scheme == "file" and parts.path.startswith("/"))
    return bool(parts.scheme and has_target) and not _SPACE.search(text)


def url_of_path(path: str, base_url: str = "") -> str:
    """Return the address of a source file: below a base url, or else `file:///…`; empty for the root."""
    if "://" in path and is_url(path):
        return path
    absolute = posixpath.normpath("/" + path.replace("\\", "/").lstrip("/"))
    if absolute == "/":
        return ""
    return (base_url.rstrip("/") or "file://") + quote(absolute, safe="/:@!$&'()*+,;=", errors="replace")


@lru_cache(1000)
def is_loopback(host: str) -> bool:
    """Whether a host is the loopback interface, which other machines can't reach."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def document_id(key: str, readable: str = "") -> str:
    """Return a page's id: part of its slug, for people, and a hash of the key that identifies it."""
    slug = ascii_slug(readable or urlsplit(key).path, limit=16)
    return f"{slug or 'page'}-{digest(key, length=12)}"


def page_key(url: str, document: str) -> tuple[str, str]:
    """Return what identifies a page even if its slug, and so its id, changes.

    That is its url, and the hash in its id, because documents of a corpus may share a url.
    """
    return url, document.rpartition("-")[2]


def chunk_ids(document: str, texts: Iterable[str]) -> Iterator[str]:
    """Yield an id for each text of a page, in order.

    An id depends on the text, not on its position: text inserted above a passage does not change the
    passage's id, and an id never refers to another text later. Repeated texts are numbered.
    """
    seen: Counter[str] = Counter()
    for text in texts:
        base = f"{document}-{content_hash(text)[:12]}"
        seen[base] += 1
        yield base if seen[base] == 1 else f"{base}-{seen[base]}"


@lru_cache(CACHED_POINT_IDS)
def point_id(chunk_id: str) -> uuid.UUID:
    """Return the UUID of a chunk's point in the vector index."""
    return uuid.uuid5(_POINTS, chunk_id)


def embedding_key(embedder: str, text: str) -> str:
    """Return a key that identifies the vector of this text by this embedder."""
    return digest(embedder, text, length=16)


def is_storable(text: str) -> bool:
    """Whether every store accepts a text: PostgreSQL has no NUL, and UTF-8 no lone surrogate."""
    return "\0" not in text and (text.isascii() or _SURROGATE.search(text) is None)


def shorten(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters with an ellipsis if it is longer."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
