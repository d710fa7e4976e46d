"""Ids, slugs, hashes and addresses: what makes a page or a chunk the same one tomorrow.

Everything here is a pure function of its arguments, so an id is the same on every run and machine.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import unicodedata
import uuid
from collections import Counter
from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import quote, urlsplit, urlunsplit

CHUNK_ID_MAX = 50
SLUG_MAX = 100
TITLE_MAX = 255

_POINTS = uuid.UUID("6b3a8f0e-2d3c-5b0e-9f6e-70657274696e")
_WORD = re.compile(r"[^\w]+")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]")


def content_hash(text: str) -> str:
    """SHA-256 of the text in UTF-8, as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def digest(*parts: str, length: int = 12) -> str:
    """A short hash of several strings; no two lists of strings are joined alike."""
    return content_hash("".join(f"{len(part)}:{part}" for part in parts))[:length]


def ascii_slug(text: str, limit: int = SLUG_MAX) -> str:
    """Lower-case ASCII words joined by hyphens, at most `limit` characters; may be empty."""
    folded = (
        text if text.isascii() else unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    )
    return _WORD.sub("-", folded.replace("_", "-")).strip("-").lower()[:limit].strip("-")


def canonical_url(url: str) -> str:
    """The one address of a page: no fragment, no `index.html`, no trailing slash but the root's."""
    scheme, host, path, query, _ = urlsplit(url)
    path = re.sub(r"/index\.html?$", "/", path)
    if len(path) > 1:
        path = path.rstrip("/") or "/"
    if scheme in ("http", "https"):
        host = host.lower()
        host = host.removesuffix(":80") if scheme == "http" else host.removesuffix(":443")
        path = path or "/"
    return urlunsplit((scheme.lower(), host, path, query, ""))


def is_url(text: str) -> bool:
    """Whether it is an address that can be opened: a scheme with a host, or a file's whole path; no space."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    has_target = parts.netloc or (parts.scheme == "file" and parts.path.startswith("/"))
    return bool(parts.scheme and has_target) and not _SPACE.search(text)


def url_of_path(path: str, base_url: str = "") -> str:
    """The address of a source file: below a base url, or else `file:///…`; empty where it names no file."""
    if "://" in path and is_url(path):
        return path
    below = posixpath.normpath("/" + path.replace("\\", "/").lstrip("/"))
    if below == "/":
        return ""
    return (base_url.rstrip("/") or "file://") + quote(below, safe="/:@!$&'()*+,;=", errors="replace")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, which nobody reaches from elsewhere by that name."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def document_id(key: str, readable: str = "") -> str:
    """A page's id: some of its slug for people, and a hash of the key that identifies it."""
    slug = ascii_slug(readable or urlsplit(key).path, limit=16)
    return f"{slug or 'page'}-{digest(key, length=12)}"


def chunk_ids(document: str, texts: Iterable[str]) -> list[str]:
    """An id for each text of a page, in order.

    An id comes from the text, not from its place: text put in above a passage does not rename the
    passage, and an id never comes to mean another text. The second of two equal texts is numbered.
    """
    seen: Counter[str] = Counter()
    ids = []
    for text in texts:
        base = f"{document}-{content_hash(text)[:12]}"
        seen[base] += 1
        ids.append(base if seen[base] == 1 else f"{base}-{seen[base]}")
    return ids


def point_id(chunk_id: str) -> uuid.UUID:
    """The UUID under which a chunk stands in the vector index."""
    return uuid.uuid5(_POINTS, chunk_id)


def embedding_key(embedder: str, text: str) -> str:
    """Tells whether a vector was made from this text by this embedder."""
    return digest(embedder, text, length=16)


def storable(text: str) -> bool:
    """Whether every store can keep it: PostgreSQL has no NUL, and UTF-8 no lone surrogate."""
    try:
        return "\0" not in text and (text.isascii() or bool(text.encode()))
    except UnicodeEncodeError:
        return False


def shorten(text: str, limit: int) -> str:
    """The text itself, or its beginning with an ellipsis where it is longer than `limit`."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
