"""Finding pages before the crawl: robots.txt, then the sitemaps it names or those at the usual place."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ...errors import SourceError
from ...types import Unreadable
from .addresses import Site, absolute, path_of
from .fetch import Bounds, Fetcher, Gone, Unfetchable
from .limits import Limits
from .robots import Robots, ask
from .sitemaps import Listed, Sitemap, parse

_PATIENCE = 4
"""How many times as long as a page a sitemap may take: it is a large file, often made when asked for."""
_MOST = 50_000
"""How many pages may be listed, of which a crawl may want far fewer; the standard's bound for one sitemap."""


@dataclass(slots=True)
class Found:
    """What is known before the first page is fetched."""

    robots: Robots
    began: float = field(default_factory=time.monotonic)
    """When the crawl began: to find its pages is a part of it."""
    pages: dict[str, str] | None = None
    """Where each page that a sitemap lists is served, by url; None where links must be followed."""
    alternates: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """A page's translations: their urls by language."""
    problems: list[Unreadable] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    """Where sitemaps were looked for."""
    sitemaps: set[str] = field(default_factory=set)
    """Those that list pages of the site, by themselves or by their parts."""
    foreign: int = 0
    """How many pages of other hosts they list."""
    foreign_page: str = ""
    """The first of those, or the first sitemap that is on another host."""
    unwanted: int = 0
    """How many of the pages that they list the caller's patterns or robots.txt leave out."""

    @property
    def elsewhere(self) -> str:
        """What sitemaps list of another host, and what to do about it; empty where they list nothing so."""
        if not self.foreign:
            return ""
        return f"{self.foreign_page[:200]}; if this is a copy of that site, give its address with --base-url"


def find(site: Site, fetcher: Fetcher, limits: Limits) -> Found:
    """The pages that the site's sitemaps list; where there are none, links are to be followed."""
    found = Found(ask(site, fetcher, limits.page_seconds))
    fetcher.obey(found.robots.allows, found.robots.delay)
    finder = _Finder(site, fetcher, limits, found)
    if site.from_sitemap:
        finder.walk([site.start], needed=True)
        if not finder.pages:
            instead = found.elsewhere and f", but {found.elsewhere}"
            raise SourceError(f"{site.start} lists no page of {site.name}{instead}")
    else:
        finder.walk(finder.own(found.robots.sitemaps, f"{site.origin}/"))
        for address in _usual(site):
            if finder.pages:
                break
            finder.walk([address])
    found.pages = finder.pages or None
    return found


def _usual(site: Site) -> Iterator[str]:
    """Beside the start address, and in every folder above it."""
    steps = urlsplit(site.start).path.strip("/").split("/")
    for end in range(len(steps), -1, -1):
        folder = "/".join(("", *filter(None, steps[:end])))
        yield f"{site.origin}{folder}/sitemap.xml"


class _Finder:
    """Reads sitemaps, and the sitemaps that they name, each once."""

    def __init__(self, site: Site, fetcher: Fetcher, limits: Limits, found: Found) -> None:
        self._site = site
        self._fetcher = fetcher
        self._limits = limits
        self._found = found
        self._most = max(_MOST, limits.pages)
        self._too_many = False
        self.pages: dict[str, str] = {}

    def walk(self, addresses: Iterable[str], *, needed: bool = False) -> None:
        """Take in what these list; one that is `needed` must be a sitemap."""
        queue = deque((address, address, needed) for address in addresses)
        while queue:
            address, first, wanted = queue.popleft()
            if address in self._found.asked:
                continue
            if len(self._found.asked) == self._limits.sitemaps:
                self._complain(address, f"one of more than {self._limits.sitemaps}; the others were left out")
                return
            if time.monotonic() - self._found.began > self._limits.crawl_seconds:
                self._complain(address, f"not asked for after {self._limits.crawl_seconds:g} s")
                return
            self._found.asked.add(address)
            sitemap = self._get(address, needed=wanted)
            for page in sitemap.pages:
                if self._take(page):
                    self._found.sitemaps.add(first)
            queue += [(part, first, True) for part in self.own(sitemap.parts, address)]
            if self._too_many:
                self._complain(address, f"more than {self._most:,} pages; the others were left out")
                return

    def own(self, sitemaps: Iterable[str], base: str) -> list[str]:
        """Where those of the sitemaps are served that are on this host."""
        found = []
        for one in sitemaps:
            known = absolute(one, base)
            if at := known and self._site.address(known):
                found.append(at)
            else:
                self._see_foreign(one)
        return found

    def _get(self, address: str, *, needed: bool) -> Sitemap:
        bounds = Bounds(self._limits.sitemap_bytes, _PATIENCE * self._limits.page_seconds)
        sitemap: Sitemap | None = None
        reason = "is no sitemap"
        try:
            answer = self._fetcher.get(address, bounds=bounds)
            sitemap = parse(answer.body, size=bounds.size, most=self._most)
        except Gone as error:
            reason = str(error)
        except Unfetchable as error:
            reason = str(error)
            needed = needed or error.silent
        if sitemap is None and address == self._site.start:
            raise SourceError(f"the sitemap {address} {reason}; nothing was changed")
        if sitemap is None:
            if needed:
                self._complain(address, reason)
            return Sitemap()
        if sitemap.problem:
            self._complain(address, sitemap.problem)
        return sitemap

    def _take(self, page: Listed) -> bool:
        """Whether it is a page of the site, wanted or not."""
        address = absolute(page.address)
        url = address and self._site.url(address)
        served = address and self._site.address(address)
        if not address or not url or not served:
            self._see_foreign(page.address)
            return False
        if not self._site.holds(url) or not self._found.robots.allows(served):
            self._found.unwanted += 1
            return True
        if len(self.pages) == self._most and url not in self.pages:
            self._too_many = True
            return True
        self.pages.setdefault(url, served)
        if page.alternates:
            self._found.alternates[url] = dict(self._translations(page))
        return True

    def _translations(self, page: Listed) -> Iterator[tuple[str, str]]:
        for language, link in page.alternates.items():
            address = absolute(link)
            url = address and self._site.url(address)
            if url:
                yield language, url

    def _complain(self, address: str, reason: str) -> None:
        # Which pages it would have listed nobody knows: any that is missing may be one of them.
        self._found.problems.append(Unreadable(path_of(address), f"the sitemap: {reason}", named=False))

    def _see_foreign(self, address: str) -> None:
        self._found.foreign += 1
        self._found.foreign_page = self._found.foreign_page or address
