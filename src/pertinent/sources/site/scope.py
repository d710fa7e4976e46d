"""The scope of a crawl: where a site is served, its public address, and which part of it is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from ...errors import InvalidInput
from ...identity import canonical_url
from .addresses import is_sitemap_address, normalize_address, site_origin
from .page_filter import PageFilter


@dataclass(frozen=True, slots=True)
class SiteScope:
    """Where a site is served, its public address, and which part of it is wanted.

    Both addresses differ only for a copy of a site, such as a preview on `localhost`.
    """

    start: str
    """The address that the crawl starts at, as served."""
    served_prefix: str
    """The part of a served address before the path of the page, without a closing slash."""
    public_prefix: str
    """The part of a public address before the path of the page, without a closing slash."""
    path: str
    """The path of a url that all pages are at or below; no closing slash."""
    name: str
    """The address that all pages are below, by which the source is known."""
    page_filter: PageFilter

    @property
    def from_sitemap(self) -> bool:
        """Whether the crawl starts at a sitemap."""
        return is_sitemap_address(self.start)

    @property
    def is_copy(self) -> bool:
        """Whether the site is served elsewhere than at its public address."""
        return self.served_prefix != self.public_prefix

    @property
    def origin(self) -> str:
        """Scheme and host, as served."""
        return site_origin(self.start)

    def public_url(self, address: str) -> str | None:
        """The url of the page at an address; None for an address of another host."""
        for prefix in (self.public_prefix, self.served_prefix):
            path = _path_below(address, prefix)
            if path is not None:
                return canonical_url(self.public_prefix + path)
        return None

    def served_address(self, address: str) -> str | None:
        """Where a page is served, from its served or public address; None for one of another host."""
        for prefix in (self.served_prefix, self.public_prefix):
            path = _path_below(address, prefix)
            if path is not None:
                return self.served_prefix + path
        return None

    def serves(self, link: str) -> bool:
        """Whether a link leads to an address of this site, served or public."""
        if link.startswith((f"{self.served_prefix}/", f"{self.public_prefix}/")):
            return True
        address = normalize_address(link)
        return address is not None and self.served_address(address) is not None

    def contains(self, url: str) -> bool:
        """Whether a page is at the path of the scope or below it."""
        if not self.path:
            return True
        path = urlsplit(url).path
        return path == self.path or path.startswith(f"{self.path}/")

    def wants(self, url: str) -> bool:
        """Whether a page is in the scope and the page filter lets it in."""
        return self.contains(url) and self.page_filter.matches_path(urlsplit(url).path)


def open_scope(start: str, base_url: str | None = None, page_filter: PageFilter | None = None) -> SiteScope:
    """The scope of a start address: all pages below it or, for a sitemap, the pages that it lists.

    `base_url` is the public address of a site of which `start` is a copy. Raises InvalidInput for what
    is not the address of a site.
    """
    address = _check_address(start, "source", "https://book.example/")
    page_filter = page_filter or PageFilter()
    if is_sitemap_address(address):
        folder, path = address.rpartition("/")[0], ""
    else:
        _refuse_query(address, "source")
        folder = canonical_url(address).rstrip("/")
        path = urlsplit(folder).path
    if base_url is None:
        origin = site_origin(address)
        return SiteScope(address, origin, origin, path, folder, page_filter)
    public = _check_address(base_url, "base_url", "https://handbook.example/docs")
    _refuse_query(public, "base_url")
    base = canonical_url(public).rstrip("/")
    served_prefix, public_prefix = _strip_common_path(folder, base)
    return SiteScope(address, served_prefix, public_prefix, urlsplit(base).path, base, page_filter)


def _check_address(address: str, field: str, example: str) -> str:
    if "@" in address.partition("://")[2].partition("/")[0]:
        # The message leaves the address out: it would put the password into logs.
        raise InvalidInput(
            field, "must not contain a user name or a password; pages behind a login are not read"
        )
    normalized = normalize_address(address)
    if normalized is None:
        raise InvalidInput(field, f"{address!r} is not an address such as {example}")
    if urlsplit(address.strip()).fragment:
        raise InvalidInput(field, f"{address!r} has a fragment; leave out the # and what follows it")
    return normalized


def _refuse_query(address: str, field: str) -> None:
    if urlsplit(address).query:
        raise InvalidInput(field, f"{address!r} has a query; leave out the ? and what follows it")


def _strip_common_path(served: str, public: str) -> tuple[str, str]:
    """Both addresses without the path that they both end in."""
    while True:
        served_parent, _, served_step = served.rpartition("/")
        public_parent, _, public_step = public.rpartition("/")
        is_host = served_parent.endswith("/") or public_parent.endswith("/")
        if served_step != public_step or is_host:
            return served, public
        served, public = served_parent, public_parent


def _path_below(address: str, prefix: str) -> str | None:
    """What follows the prefix, whether either of them has `http` or `https`; None if it does not match."""
    location = address.partition("://")[2]
    head = prefix.partition("://")[2]
    if location == head:
        return "/"
    return location[len(head) :] if location.startswith((f"{head}/", f"{head}?")) else None
