"""Discovery of pages before the crawl: robots.txt, its sitemaps or the usual ones, and `llms.txt`."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ...errors import SourceError
from ...types import Unreadable
from ..html import Article
from .addresses import is_llms_txt_address, normalize_address, page_path, site_origin
from .fetch import Fetcher
from .http_client import ResponseLimits
from .limits import CrawlLimits
from .llms_txt import parse_llms_txt
from .parsing import NotHtml, parse_article
from .responses import FetchFailed, PageGone
from .robots import Robots, fetch_robots
from .scope import SiteScope
from .sitemaps import ListedPage, Sitemap, parse_sitemap
from .versions_and_locales import Translation

_SITEMAP_SECONDS_FACTOR = 4
"""A sitemap may take this many times as long as a page: it is large, and often generated on request."""
_MIN_LISTED_PAGES = 50_000
"""How many pages may be listed at least, before filters; the limit of the standard for one sitemap."""


@dataclass(slots=True)
class Discovery:
    """What is known about a site before its first page is fetched."""

    robots: Robots
    started_at: float = field(default_factory=time.monotonic)
    """When the crawl began; discovery counts towards its time limit."""
    pages: dict[str, str] | None = None
    """The served address of each page in the sitemaps, by url; None where links must be followed."""
    suggested_pages: dict[str, str] = field(default_factory=dict)
    """The same for the pages in `llms.txt`, if there are no sitemaps; links are followed too."""
    translations: dict[str, Translation] = field(default_factory=dict)
    """The pages that the sitemaps list as translations of another page, by url."""
    problems: list[Unreadable] = field(default_factory=list)
    requested_sitemaps: set[str] = field(default_factory=set)
    """The addresses at which sitemaps were looked for."""
    listing_sitemaps: set[str] = field(default_factory=set)
    """Those that list pages of the site, themselves or through further sitemaps."""
    external_count: int = 0
    """How many pages and sitemaps of other hosts are listed."""
    external_example: str = ""
    """The first of those."""
    excluded_count: int = 0
    """How many listed pages the page filter or robots.txt leaves out."""
    forbidden: set[str] = field(default_factory=set)
    """Urls of wanted pages that robots.txt forbids; not more than may be listed."""

    @property
    def external_hint(self) -> str:
        """What the sitemaps list on another host, and what to do about it; empty where there is nothing."""
        if not self.external_count:
            return ""
        return (
            f"{self.external_example[:200]}; if this is a copy of that site, give its address with --base-url"
        )

    @property
    def start_hint(self) -> str:
        """A hint where the start page can't be read."""
        return f"; its sitemap lists {self.external_hint}" if self.external_hint else self.excluded_hint

    @property
    def excluded_hint(self) -> str:
        """A hint where links are followed because the filters exclude all pages of the sitemaps."""
        if self.pages is not None or not self.excluded_count:
            return ""
        return (
            f"; --include, --exclude and robots.txt exclude all {self.excluded_count:,} pages of its sitemaps"
        )


def discover_pages(scope: SiteScope, fetcher: Fetcher, limits: CrawlLimits) -> Discovery:
    """Read robots.txt and the sitemaps of a site.

    Raises SourceError where robots.txt can't be read, or where a sitemap that the caller named lists no
    page.
    """
    robots = fetch_robots(scope, fetcher, limits.page_seconds)
    fetcher.apply_robots(robots.allows, robots.delay)
    discovery = Discovery(robots)
    walk = _SitemapWalk(scope, fetcher, limits, discovery)
    if scope.from_sitemap:
        walk.read_all([scope.start], required=True)
        if not walk.pages:
            hint = discovery.external_hint and f", but {discovery.external_hint}"
            raise SourceError(f"{scope.start} lists no page of {scope.name}{hint}")
    else:
        walk.read_all(walk.resolve_sitemaps(robots.sitemaps, f"{scope.origin}/"))
        if not walk.pages:
            walk.read_first(_usual_addresses(scope.start, "sitemap.xml"))
        if walk.pages and scope.page_filter.locales:
            _read_sitemaps_of_translations(walk, scope, fetcher, discovery)
    discovery.pages = walk.pages or None
    if discovery.pages is None:
        walk.read_first(_usual_addresses(scope.start, "llms.txt"))
        discovery.suggested_pages = walk.pages
    return discovery


def _usual_addresses(address: str, name: str) -> Iterator[str]:
    """The file beside an address, and in every folder above it."""
    steps = urlsplit(address).path.strip("/").split("/")
    for end in range(len(steps), -1, -1):
        folder = "/".join(("", *filter(None, steps[:end])))
        yield f"{site_origin(address)}{folder}/{name}"


def _read_sitemaps_of_translations(
    walk: _SitemapWalk, scope: SiteScope, fetcher: Fetcher, discovery: Discovery
) -> None:
    """Read the sitemaps of the requested languages that the start page links to by `hreflang`."""
    try:
        article = _fetch_start(scope, fetcher, discovery)
    except (PageGone, NotHtml):
        return
    except FetchFailed as error:
        reason = f"its translations are not known: {error}"
        discovery.problems.append(Unreadable(page_path(scope.start), reason, path_identifies_page=False))
        return
    above_start = set(_usual_addresses(scope.start, "sitemap.xml"))
    for locale, link in article.alternates.items():
        normalized = normalize_address(link)
        address = normalized and scope.served_address(normalized)
        if address and scope.page_filter.may_request_locale(locale):
            usual = _usual_addresses(address, "sitemap.xml")
            walk.read_first(sitemap for sitemap in usual if sitemap not in above_start)


def _fetch_start(scope: SiteScope, fetcher: Fetcher, discovery: Discovery) -> Article:
    if not discovery.robots.allows(scope.start):
        raise PageGone("robots.txt forbids it")
    response = fetcher.get(scope.start)
    return parse_article(response.body, response.headers, response.address, with_links=False)


class _SitemapWalk:
    """Reads sitemaps, and the sitemaps that they name, each once."""

    def __init__(self, scope: SiteScope, fetcher: Fetcher, limits: CrawlLimits, discovery: Discovery) -> None:
        self._scope = scope
        self._fetcher = fetcher
        self._limits = limits
        self._discovery = discovery
        self._max_pages = max(_MIN_LISTED_PAGES, limits.pages)
        self._is_full = False
        self._is_stopped = False
        self.pages: dict[str, str] = {}

    def read_first(self, addresses: Iterable[str]) -> None:
        """Read sitemaps until one lists further pages, or a limit is reached."""
        count = len(self.pages)
        for address in addresses:
            if len(self.pages) > count or self._is_stopped:
                return
            self.read_all([address])

    def read_all(self, addresses: Iterable[str], *, required: bool = False) -> None:
        """Read these sitemaps and those that they name; one that is `required` must exist."""
        queue = deque((address, address, required) for address in dict.fromkeys(addresses))
        queued = {address for address, _, _ in queue}
        requested = self._discovery.requested_sitemaps
        while queue:
            address, root, is_required = queue.popleft()
            if address in requested:
                continue
            if len(requested) == self._limits.sitemaps:
                limit = self._limits.sitemaps
                self._stop(address, f"there are more than {limit}; the others were left out")
                return
            if self._is_out_of_time():
                self._stop(address, f"not fetched: {self._time_limit}")
                return
            requested.add(address)
            sitemap = self._fetch(address, required=is_required)
            # An `llms.txt` often links to other hosts.
            counts_external = address == self._scope.start or not is_llms_txt_address(address)
            for page in sitemap.pages:
                if self._is_out_of_time():  # robots.txt may make each page slow
                    self._stop(address, f"read in part: {self._time_limit}")
                    return
                if self._add_page(page, address):
                    self._discovery.listing_sitemaps.add(root)
                elif counts_external:
                    self._count_external(page.address)
            parts = dict.fromkeys(self.resolve_sitemaps(sitemap.sitemaps, address))
            new_parts = [part for part in parts if part not in queued and part not in requested]
            # One more than may be requested is enough to show that there are too many.
            room = max(self._limits.sitemaps + 1 - len(queue), 0)
            queued.update(new_parts[:room])
            queue += [(part, root, True) for part in new_parts[:room]]
            if self._is_full:
                self._report(address, f"more than {self._max_pages:,} pages; the others were left out")
                return

    def _is_out_of_time(self) -> bool:
        return time.monotonic() - self._discovery.started_at > self._limits.crawl_seconds

    @property
    def _time_limit(self) -> str:
        return f"the crawl reached its time limit of {self._limits.crawl_seconds:g} s"

    def resolve_sitemaps(self, links: Iterable[str], base: str) -> list[str]:
        """The served addresses of the sitemaps that are on this host."""
        addresses = []
        for link in links:
            normalized = normalize_address(link, base)
            if address := normalized and self._scope.served_address(normalized):
                addresses.append(address)
            else:
                self._count_external(link)
        return addresses

    def _fetch(self, address: str, *, required: bool) -> Sitemap:
        limits = ResponseLimits(
            self._limits.sitemap_bytes, _SITEMAP_SECONDS_FACTOR * self._limits.page_seconds
        )
        sitemap: Sitemap | None = None
        is_llms_txt = is_llms_txt_address(address)
        reason = "is not an llms.txt: it does not begin with a heading" if is_llms_txt else "is not a sitemap"
        try:
            response = self._fetcher.get(address, limits=limits)
            if is_llms_txt:
                sitemap = parse_llms_txt(response.body, address, max_pages=self._max_pages)
            else:
                sitemap = parse_sitemap(response.body, max_bytes=limits.max_bytes, max_pages=self._max_pages)
        except PageGone as error:
            reason = str(error)
        except FetchFailed as error:
            reason = str(error)
            required = required or error.no_answer
        if sitemap is None and address == self._scope.start:
            raise SourceError(f"the sitemap {address} {reason}; nothing was changed")
        if sitemap is None:
            if required:
                self._report(address, reason)
            return Sitemap()
        if sitemap.problem:
            self._report(address, sitemap.problem)
        return sitemap

    def _add_page(self, page: ListedPage, sitemap: str) -> bool:
        """Add a page of a sitemap if it is wanted; return whether it is a page of the site at all."""
        normalized = normalize_address(page.address, sitemap)
        url = normalized and self._scope.public_url(normalized)
        address = normalized and self._scope.served_address(normalized)
        if not url or not address:
            return False
        is_wanted = self._scope.wants(url)
        if not is_wanted or not self._discovery.robots.allows(address):
            self._discovery.excluded_count += 1
            if is_wanted and len(self._discovery.forbidden) < self._max_pages:
                self._discovery.forbidden.add(url)
            return True
        if len(self.pages) == self._max_pages and url not in self.pages:
            self._is_full = True
            return True
        self.pages.setdefault(url, address)
        if page.alternates:
            self._note_translation(url, page)
        return True

    def _note_translation(self, url: str, page: ListedPage) -> None:
        """Note that a page is a translation, if its `x-default` is another page."""
        urls = {}
        for language, link in page.alternates.items():
            address = normalize_address(link)
            urls[language] = address and self._scope.public_url(address)
        default = urls.pop("x-default", None)
        if default and default != url:
            languages = (language for language, translation in urls.items() if translation == url)
            self._discovery.translations[url] = Translation(next(languages, "x"), default)

    def _stop(self, address: str, reason: str) -> None:
        """Read no further sitemaps: a limit is reached."""
        self._is_stopped = True
        self._report(address, reason)

    def _report(self, address: str, reason: str) -> None:
        # Nobody knows which pages the sitemap would have listed: any missing page may be one of them.
        problem = Unreadable(page_path(address), f"the sitemap: {reason}", path_identifies_page=False)
        self._discovery.problems.append(problem)

    def _count_external(self, address: str) -> None:
        self._discovery.external_count += 1
        self._discovery.external_example = self._discovery.external_example or address
