"""Addresses in one normal form, so that two links to the same page are equal.

An *address* is what is fetched. The *url* of a page is what it is known by in the index: the canonical
form of its address, on the public host of the site (see `scope.py`).
"""

from __future__ import annotations

import re
from posixpath import normpath
from urllib.parse import urljoin, urlsplit, urlunsplit

from ...identity import UNESCAPED, escape_address

MAX_ADDRESS_LENGTH = 2000
"""How many characters an address may have."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_TRACKING = re.compile(
    r"(utm_\w+|[a-z]*clid|_ga|_gl|_hs\w*|mc_[ce]id|igshid|yclid|msclkid|mkt_tok|ref_src|phpsessid|jsessionid)=",
    re.IGNORECASE,
)
_PATH_SESSION = re.compile(r";(jsessionid|phpsessid)=[^/;]*", re.IGNORECASE)
_LINE_BREAKS = re.compile(r"[\t\r\n]")
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")
_NORMAL = re.compile(
    r"https?://[a-z0-9_-]++(\.[a-z0-9_-]++)*+(:(?!80/|443/)([1-9]\d{1,3}|[1-5]\d{4}))?(/[\w-][\w.-]*+)++/?",
    re.ASCII,
)
"""Matches most of the addresses that are in normal form already."""
_SITEMAP = re.compile(r"\.xml(\.gz)?$|/sitemap\.txt$", re.IGNORECASE)
_LLMS_TXT = re.compile(r"/llms\.txt$", re.IGNORECASE)
_FILE_ENDING = re.compile(
    r"\.(png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?|css|js|mjs|map|json|jsonl|xml|rss|atom|txt|csv|tsv|ya?ml|toml"
    r"|pdf|epub|mobi|docx?|xlsx?|pptx?|odt|zip|gz|tgz|bz2|xz|7z|rar|tar|whl|jar|exe|msi|dmg|deb|rpm|iso|bin|apk"
    r"|mp[34]|m4[av]|webm|og[gv]|wav|mov|avi|woff2?|ttf|otf|eot|wasm|ipynb|py|sh|md|mdx|rst|tex|sig|asc|sha\d+)$",
    re.IGNORECASE,
)
"""File extensions that are not pages."""


def normalize_address(link: str, base: str = "") -> str | None:
    """Resolve a link on the page at `base` to an address in normal form.

    The fragment, tracking parameters and session ids are removed. Returns None for a link that no page
    can be fetched from: another scheme, an invalid host, a password, or more than `MAX_ADDRESS_LENGTH`
    characters.

    >>> normalize_address("../b?utm_source=x#top", "https://book.example/docs/a/")
    'https://book.example/docs/b'
    """
    if _NORMAL.fullmatch(link) and len(link) <= MAX_ADDRESS_LENGTH:
        return link
    link = _LINE_BREAKS.sub("", link).strip()
    if len(link) > MAX_ADDRESS_LENGTH:
        return None
    try:
        parts = urlsplit(urljoin(base, link))
        host, port = parts.hostname or "", parts.port
        if parts.scheme not in _DEFAULT_PORTS or not host or "@" in parts.netloc:
            return None
        has_default_port = port in (None, _DEFAULT_PORTS[parts.scheme])
        netloc = _normalize_host(host) if has_default_port else f"{_normalize_host(host)}:{port}"
    except (UnicodeError, ValueError):
        return None
    parameters = (text for text in parts.query.split("&") if text and not _TRACKING.match(text))
    query = escape_address("&".join(parameters), "?" + UNESCAPED)
    address = urlunsplit((parts.scheme, netloc, _normalize_path(parts.path), query, ""))
    return address if len(address) <= MAX_ADDRESS_LENGTH else None


def _normalize_host(host: str) -> str:
    if ":" in host:
        return f"[{host}]"
    name = host if host.isascii() else host.encode("idna").decode()
    if not _HOST.fullmatch(name):
        raise ValueError(f"{host!r} is not the name of a host")
    return name


def _normalize_path(path: str) -> str:
    escaped = escape_address(_PATH_SESSION.sub("", path)) or "/"
    if "/." not in escaped:
        return escaped
    # `normpath` would drop the closing slash, which tells a folder from a page.
    closing = "/" if escaped.endswith(("/", "/.", "/..")) else ""
    return f"/{normpath(escaped).strip('/')}{closing}".replace("//", "/")


def is_sitemap_address(address: str) -> bool:
    """Whether an address looks like that of a sitemap, or of an `llms.txt`."""
    return bool(_SITEMAP.search(urlsplit(address).path)) or is_llms_txt_address(address)


def is_llms_txt_address(address: str) -> bool:
    """Whether an address is that of an `llms.txt`."""
    return bool(_LLMS_TXT.search(urlsplit(address).path))


def is_file_address(address: str) -> bool:
    """Whether an address is that of a file which is not a page, by its ending."""
    return bool(_FILE_ENDING.search(urlsplit(address).path))


def page_path(url: str) -> str:
    """The path and query of a url: the `source_path` of a page in the catalog."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def site_origin(address: str) -> str:
    """The scheme and host of an address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
