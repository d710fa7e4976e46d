"""Addresses: the one form of each, where a site is served, and what lies within a crawl.

An address is what is fetched, as it was found. A page's url is what it is known by: the canonical
form of its address, on the host that the site is known by.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import normpath
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from ...errors import InvalidInput
from ...identity import canonical_url
from .limits import Choice

LONGEST = 2000
"""How many characters an address may have."""

_PORTS = {"http": 80, "https": 443}
_SAFE = "/%:@!$&'()*+,;=~[]|"  # as the Markdown source has it, so that both give a page one url
_TRACKING = re.compile(
    r"(utm_\w+|[a-z]*clid|_ga|_gl|_hs\w*|mc_[ce]id|igshid|yclid|msclkid|mkt_tok|ref_src|phpsessid|jsessionid)=",
    re.IGNORECASE,
)
_BREAKS = re.compile(r"[\t\r\n]")
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")
_PLAIN = re.compile(
    r"https?://[a-z0-9_-]++(\.[a-z0-9_-]++)*+(:(?!80/|443/)([1-9]\d{1,3}|[1-5]\d{4}))?(/[\w-][\w.-]*+)++/?",
    re.ASCII,
)
"""What most addresses are like, which are in their one form already."""
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SITEMAP = re.compile(r"\.xml(\.gz)?$|/sitemap\.txt$", re.IGNORECASE)


def absolute(link: str, base: str = "") -> str | None:
    """The address behind a link, in its one form; None where no page can be fetched from it.

    No fragment, no parameters that only track who came from where, no password, no other scheme.
    """
    if _PLAIN.fullmatch(link) and len(link) <= LONGEST:
        return link
    link = _BREAKS.sub("", link).strip()
    if len(link) > LONGEST:
        return None
    try:
        parts = urlsplit(urljoin(base, link))
        host, port = parts.hostname or "", parts.port
        if parts.scheme not in _PORTS or not host or "@" in parts.netloc:
            return None
        netloc = _host(host) if port in (None, _PORTS[parts.scheme]) else f"{_host(host)}:{port}"
    except (UnicodeError, ValueError):
        return None
    query = "&".join(one for one in parts.query.split("&") if one and not _TRACKING.match(one))
    found = urlunsplit((parts.scheme, netloc, _path(parts.path), _escaped(query, "?" + _SAFE), ""))
    return found if len(found) <= LONGEST else None


def _host(host: str) -> str:
    if ":" in host:
        return f"[{host}]"
    name = host if host.isascii() else host.encode("idna").decode()
    if not _HOST.fullmatch(name):
        raise ValueError(f"{host!r} is no name of a host")
    return name


def _path(path: str) -> str:
    escaped = _escaped(path, _SAFE) or "/"
    if "/." not in escaped:
        return escaped
    # `normpath` would drop the closing slash, which tells a folder from a page.
    closing = "/" if escaped.endswith(("/", "/.", "/..")) else ""
    return f"/{normpath(escaped).strip('/')}{closing}".replace("//", "/")


def _escaped(text: str, safe: str) -> str:
    if "%" in text:
        text = _ESCAPE.sub(_unescaped, text)
    return quote(text, safe=safe)


def _unescaped(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()


def is_sitemap(address: str) -> bool:
    """Whether an address looks like that of a sitemap."""
    return bool(_SITEMAP.search(urlsplit(address).path))


def path_of(url: str) -> str:
    """The path of a page, with its query where it has one: what it is called in the catalog."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


@dataclass(frozen=True, slots=True)
class Site:
    """Where a site is served, the address it is known by, and the part of it that is wanted."""

    start: str
    """The address to begin with, as it is served."""
    served: str
    """What stands before the path of every page that is served; no closing slash."""
    known: str
    """What stands there in the page's url."""
    scope: str
    """The path that every page lies at or below, in its url; no closing slash."""
    name: str
    """What the whole of it is known by."""
    choice: Choice

    @property
    def from_sitemap(self) -> bool:
        return is_sitemap(self.start)

    @property
    def origin(self) -> str:
        """Scheme and host, as served."""
        return _origin(self.start)

    def url(self, address: str) -> str | None:
        """What a page at this address is known by; None where it is not a page of this host."""
        for prefix in (self.known, self.served):
            rest = _below(address, prefix)
            if rest is not None:
                return canonical_url(self.known + rest)
        return None

    def address(self, found: str) -> str | None:
        """Where something that was found at either address is served; None where it is on another host."""
        for prefix in (self.served, self.known):
            rest = _below(found, prefix)
            if rest is not None:
                return self.served + rest
        return None

    def spans(self, url: str) -> bool:
        """Whether a page lies at the path of the crawl, or below it."""
        if not self.scope:
            return True
        path = urlsplit(url).path
        return path == self.scope or path.startswith(f"{self.scope}/")

    def holds(self, url: str) -> bool:
        """Whether a page is wanted, by its url alone."""
        if not self.spans(url):
            return False
        choice = self.choice
        if not choice.include and not choice.exclude:
            return True
        path = urlsplit(url).path
        return (not choice.include or _matches(path, choice.include)) and not _matches(path, choice.exclude)


def open_site(start: str, base_url: str | None = None, choice: Choice | None = None) -> Site:
    """The site that a start address names: all that lies below it, or what a sitemap lists."""
    address = _checked(start, "source", "https://book.example/")
    folder = address.rpartition("/")[0] if is_sitemap(address) else canonical_url(address).rstrip("/")
    if not is_sitemap(address):
        _refuse_query(address, "source")
    if base_url is None:
        scope = "" if is_sitemap(address) else urlsplit(folder).path
        return Site(address, _origin(address), _origin(address), scope, folder, choice or Choice())
    known_as = _checked(base_url, "base_url", "https://handbook.example/docs")
    _refuse_query(known_as, "base_url")
    base = canonical_url(known_as).rstrip("/")
    served, known = _heads(folder, base)
    return Site(address, served, known, urlsplit(base).path, base, choice or Choice())


def _checked(address: str, field: str, example: str) -> str:
    if "@" in address.partition("://")[2].partition("/")[0]:
        # Not shown: it would be kept in logs, and the address in the index.
        raise InvalidInput(
            field, "must not hold a user name or a password; pages behind a login are not read"
        )
    found = absolute(address)
    if found is None:
        raise InvalidInput(field, f"{address!r} is not an address such as {example}")
    if urlsplit(address.strip()).fragment:
        raise InvalidInput(
            field, f"{address!r} leads to a place on a page; give it without what follows the #"
        )
    return found


def _refuse_query(address: str, field: str) -> None:
    if urlsplit(address).query:
        raise InvalidInput(field, f"{address!r} has a query; give the address that all its pages lie below")


def _heads(one: str, other: str) -> tuple[str, str]:
    """Two addresses without the path that both end in."""
    while True:
        a, b = one.rpartition("/"), other.rpartition("/")
        if a[2] != b[2] or a[0].endswith("/") or b[0].endswith("/"):
            return one, other
        one, other = a[0], b[0]


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _below(address: str, prefix: str) -> str | None:
    """What follows the prefix; `http` and `https` are told apart only by other ports than their own."""
    rest = address.partition("://")[2]
    head = prefix.partition("://")[2]
    if rest == head:
        return "/"
    return rest[len(head) :] if rest.startswith((f"{head}/", f"{head}?")) else None


def _matches(path: str, patterns: Iterable[str]) -> bool:
    return any(_match(path, pattern) for pattern in patterns)


def _match(path: str, pattern: str) -> bool:
    if not pattern.startswith(("/", "*")):
        pattern = f"/{pattern}"
    if "*" not in pattern:
        below = pattern.rstrip("/")
        return path == below or path.startswith(f"{below}/")
    return fnmatchcase(path, pattern) or fnmatchcase(f"{path}/", pattern)
