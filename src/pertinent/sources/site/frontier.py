"""The frontier of a crawl: the queue of addresses to visit, and the limits on what enters it.

The pages of a sitemap come in its order, translations last. Links come in the order in which they are
found, nearest first. They are limited in number, in depth and in how many may be alike, because a
calendar has no end.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from ...types import Unreadable
from .addresses import is_file_address, normalize_address, page_path
from .limits import CrawlLimits
from .robots import Robots
from .scope import SiteScope
from .versions_and_locales import Editions

MAX_REPEATS = 3
"""How often a path may repeat one step. A link that is relative by mistake makes paths grow without end."""
MAX_STEPS = 30
"""How many steps a path may have."""

MAX_FOLLOWED_LINKS = 2**17
"""How many links are remembered as followed, to save the time of following them again."""

_ADVICE = "If they are not pages, leave them out with --exclude"


class QueuedPage(NamedTuple):
    """A page to visit."""

    url: str
    address: str
    """Where it is served."""
    depth: int
    """How many links away from the start it is."""


class Frontier:
    """The queue of pages to visit; each url comes out once."""

    def __init__(
        self,
        scope: SiteScope,
        robots: Robots,
        editions: Editions,
        limits: CrawlLimits,
        forbidden: set[str],
    ) -> None:
        self._scope = scope
        self._robots = robots
        self._editions = editions
        self._limits = limits
        self._queue: deque[QueuedPage] = deque()
        self._claimed: dict[str, str | None] = {}
        """The address of each url that is queued or visited; None where no other spelling is to be tried."""
        self._spellings: dict[str, str] = {}
        """Another address of a url than the claimed one, such as `/guide/` for `/guide`."""
        self._gone: set[str] = set()
        self._followed_links: set[int] = set()
        """Hashes of links, since the links of all pages together may be large."""
        self._shapes: Counter[str] = Counter()
        self._left_out: dict[str, Unreadable] = {}
        self._other_editions: set[str] = set()
        """Urls that were left out as of another version or language; not more than pages are crawled."""
        self._forbidden = forbidden
        """Urls of wanted pages that robots.txt forbids, with those of the sitemaps."""

    def __len__(self) -> int:
        return len(self._queue)

    def add_listed(self, pages: Mapping[str, str]) -> None:
        """Queue the pages that the sitemaps list: their served addresses by url."""
        for url, address in sorted(pages.items(), key=lambda page: self._editions.sort_rank(page[0])):
            if self._is_other_edition(url) or not self.claim(url, address):
                continue
            if len(self._queue) == self._limits.pages:
                self._leave_out(url, self._too_many_pages, path_identifies_page=False)
                return
            self._queue.append(QueuedPage(url, address, 0))

    def add_start(self) -> bool:
        """Queue the start page, whatever the page filter says; False where robots.txt forbids it."""
        start, url = self._scope.start, self._scope.public_url(self._scope.start)
        if url and self._robots.allows(start) and self.claim(url, start):
            self._queue.append(QueuedPage(url, start, 0))
        return bool(self._queue)

    def add_link(self, link: str, depth: int) -> None:
        """Queue the page that a link leads to, unless the link was followed recently."""
        link_hash = hash(link)
        if link_hash in self._followed_links:
            return
        if len(self._followed_links) == MAX_FOLLOWED_LINKS:
            self._followed_links.clear()
        self._followed_links.add(link_hash)
        address = normalize_address(link)
        if address and not is_file_address(address):
            self.add(address, depth)

    def add(self, link: str, depth: int) -> None:
        """Queue the page at an address if it is new, wanted, allowed and within the limits."""
        url, address = self._scope.public_url(link), self._scope.served_address(link)
        if not url or not address:
            return
        if url in self._claimed:
            self._note_spelling(QueuedPage(url, address, depth))
            return
        if self.excludes(url, address):
            return
        if self._is_other_edition(url):
            return
        if _is_runaway_path(url):
            self._leave_out(
                url, f"paths that repeat themselves were left out. {_ADVICE}", path_identifies_page=True
            )
        elif reason := self._exceeded_limit(url, depth):
            # Which pages are beyond a limit depends on what was found first: it may be any of them.
            self._leave_out(url, reason, path_identifies_page=False)
        elif self.claim(url, address):
            self._queue.append(QueuedPage(url, address, depth))

    def excludes(self, url: str, address: str) -> bool:
        """Whether the page filter or robots.txt leaves a page out; notes pages that robots.txt forbids."""
        if not self._scope.wants(url):
            return True
        if self._robots.allows(address):
            return False
        if len(self._forbidden) < self._limits.pages:
            self._forbidden.add(url)
        return True

    def next(self) -> QueuedPage | None:
        """Take the next page to visit from the queue."""
        while self._queue:
            page = self._queue.popleft()
            # Pages that were read in the meantime may have shown that it is of another edition.
            if not self._is_other_edition(page.url):
                return page
        return None

    def claim(self, url: str, address: str | None = None) -> bool:
        """Mark a url as queued or visited at an address; False if it was already."""
        if url in self._claimed:
            return False
        self._claimed[url] = address
        return True

    def retry(self, page: QueuedPage) -> None:
        """Retry a missing page at its other spelling (`/a/` for `/a`), if one is known."""
        self._gone.add(page.url)
        address = self._spellings.pop(page.url, None)
        if address and self._robots.allows(address):
            self._claimed[page.url] = None
            self._queue.append(page._replace(address=address))

    def _note_spelling(self, page: QueuedPage) -> None:
        """Remember another spelling of the address of a page, in case the page is gone at the first."""
        if self._claimed[page.url] not in (None, page.address):
            self._spellings.setdefault(page.url, page.address)
            if page.url in self._gone:
                self.retry(page)

    @property
    def has_left_out_pages(self) -> bool:
        """Whether pages were left out because of a limit, so that any missing page may be one of them."""
        return not all(problem.path_identifies_page for problem in self._left_out.values())

    @property
    def skipped(self) -> dict[str, set[str]]:
        """Urls that were left out on purpose, by reason."""
        return {
            "of another version or language": self._other_editions,
            "forbidden by robots.txt": self._forbidden,
        }

    def problems(self) -> list[Unreadable]:
        """What was left out because of a limit, one for each reason."""
        return list(self._left_out.values())

    def _is_other_edition(self, url: str) -> bool:
        unwanted = self._editions.is_unwanted(url)
        if unwanted:
            self.add_other_edition(url)
        return unwanted

    def add_other_edition(self, url: str) -> None:
        """Count a page that is left out as of another version or language."""
        if len(self._other_editions) < self._limits.pages:
            self._other_editions.add(url)

    def _exceeded_limit(self, url: str, depth: int) -> str:
        """The limit that a page exceeds; empty where it exceeds none."""
        limits = self._limits
        if len(self._claimed) >= limits.pages:
            return self._too_many_pages
        if depth > limits.depth:
            return f"more than {limits.depth} links away from the start; pages further away were left out"
        shape = _address_shape(url)
        if shape:
            self._shapes[shape] += 1
            if self._shapes[shape] > limits.alike:
                return (
                    f"more than {limits.alike:,} addresses like {shape}; the others were left out. {_ADVICE}"
                )
        return ""

    @property
    def _too_many_pages(self) -> str:
        limit = f"{self._limits.pages:,}"
        return f"more than {limit} pages; the others were left out. Raise the limit with --max-pages"

    def _leave_out(self, url: str, reason: str, *, path_identifies_page: bool) -> None:
        self._left_out.setdefault(reason, Unreadable(page_path(url), reason, path_identifies_page))


def _is_runaway_path(url: str) -> bool:
    """Whether a path is so long, or repeats a step so often, that it comes from a broken link."""
    steps = [step for step in urlsplit(url).path.split("/") if step]
    return len(steps) > MAX_STEPS or max(Counter(steps).values(), default=0) > MAX_REPEATS


def _address_shape(url: str) -> str:
    """A url without its numbers and the values of its parameters; empty where it has neither."""
    parts = urlsplit(url)
    names = "&".join(sorted({pair.partition("=")[0] for pair in parts.query.split("&") if pair}))
    shape = re.sub(r"\d+", "#", parts.path) + (f"?{names}" if names else "")
    return shape if shape != parts.path else ""
