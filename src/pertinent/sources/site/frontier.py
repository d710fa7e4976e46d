"""The frontier: which addresses are still to be visited, in what order, and where it must end.

A sitemap's pages come in its order, translations last. Links come as they are found, nearest first,
and are bounded in number, in depth and in how many may be alike: a calendar has no end.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from ...types import Unreadable
from .addresses import Site, absolute, path_of
from .limits import Limits
from .robots import Robots
from .versions_and_locales import Variants

REPEATS = 3
"""How often one step may stand in a path; a link that is relative by mistake grows a path for ever."""
STEPS = 30

_ADVICE = "If they are no pages, leave them out with --exclude"
_NO_PAGE = re.compile(
    r"\.(png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?|css|js|mjs|map|json|jsonl|xml|rss|atom|txt|csv|tsv|ya?ml|toml"
    r"|pdf|epub|mobi|docx?|xlsx?|pptx?|odt|zip|gz|tgz|bz2|xz|7z|rar|tar|whl|jar|exe|msi|dmg|deb|rpm|iso|bin|apk"
    r"|mp[34]|m4[av]|webm|og[gv]|wav|mov|avi|woff2?|ttf|otf|eot|wasm|ipynb|py|sh|md|mdx|rst|tex|sig|asc|sha\d+)$",
    re.IGNORECASE,
)


class Item(NamedTuple):
    """An address to visit: the url that its page has, where it is served, and how many links away it is."""

    url: str
    address: str
    depth: int


class Frontier:
    """What is still to be visited; each url comes out once."""

    def __init__(self, site: Site, robots: Robots, variants: Variants, limits: Limits) -> None:
        self._site = site
        self._robots = robots
        self._variants = variants
        self._limits = limits
        self._queue: deque[Item] = deque()
        self._seen: set[str] = set()
        self._links: set[str] = set()
        self._alike: Counter[str] = Counter()
        self._left_out: dict[str, Unreadable] = {}
        self.editions: set[str] = set()
        """Pages that were left out as of another version or language."""

    def __len__(self) -> int:
        return len(self._queue)

    def fill(self, pages: Mapping[str, str]) -> None:
        """Everything that the sitemaps list."""
        for url, address in sorted(pages.items(), key=lambda page: self._variants.rank(page[0])):
            if self._is_other_edition(url) or not self.claim(url):
                continue
            if len(self._queue) == self._limits.pages:
                self._leave_out(url, self._too_many, named=False)
                return
            self._queue.append(Item(url, address, 0))

    def begin(self) -> bool:
        """Put the start in line, wanted or not: links lead on from there. Not where robots.txt forbids it."""
        start, url = self._site.start, self._site.url(self._site.start)
        if url and self._robots.allows(start) and self.claim(url):
            self._variants.meet(url)
            self._queue.append(Item(url, start, 0))
        return bool(self._queue)

    def next(self) -> Item | None:
        """The next address to visit."""
        while self._queue:
            item = self._queue.popleft()
            # What was read since it was put here may have told that it is another edition.
            if not self._is_other_edition(item.url):
                return item
        return None

    def claim(self, url: str) -> bool:
        """Whether nobody had this url before; from now on somebody has."""
        if url in self._seen:
            return False
        self._seen.add(url)
        return True

    def follow(self, links: Iterable[str], depth: int) -> None:
        """Links of a page, as absolute addresses: those that lead to further pages are put in line."""
        for link in links:
            if link in self._links:
                continue
            self._links.add(link)
            address = absolute(link)
            if address and not _NO_PAGE.search(urlsplit(address).path):
                self.add(address, depth)

    def add(self, found: str, depth: int) -> None:
        """Put an address in line, where it is a page that is wanted, may be fetched and is new."""
        url, address = self._site.url(found), self._site.address(found)
        if not url or not address or url in self._seen or not self._site.holds(url):
            return
        if not self._robots.allows(address):
            return
        self._variants.meet(url)
        if self._is_other_edition(url):
            return
        if _grown(url):
            self._leave_out(url, f"paths that repeat themselves were left out. {_ADVICE}", named=True)
        elif reason := self._too_far(url, depth):
            # Which pages stand beyond a bound depends on what was found first: it may be any.
            self._leave_out(url, reason, named=False)
        elif self.claim(url):
            self._queue.append(Item(url, address, depth))

    def _is_other_edition(self, url: str) -> bool:
        unwanted = self._variants.unwanted(url)
        if unwanted:
            self.editions.add(url)
        return unwanted

    def _too_far(self, url: str, depth: int) -> str:
        limits = self._limits
        if len(self._seen) >= limits.pages:
            return self._too_many
        if depth > limits.depth:
            return f"more than {limits.depth} links away from the start; what lies further was left out"
        form = _form(url)
        if form:
            self._alike[form] += 1
            if self._alike[form] > limits.alike:
                return (
                    f"more than {limits.alike:,} addresses like {form}; the others were left out. {_ADVICE}"
                )
        return ""

    @property
    def _too_many(self) -> str:
        return f"more than {self._limits.pages:,} pages; the others were left out. --max-pages lets more in"

    def _leave_out(self, url: str, reason: str, *, named: bool) -> None:
        self._left_out.setdefault(reason, Unreadable(path_of(url), reason, named))

    def problems(self) -> list[Unreadable]:
        """What was left out, and why."""
        return list(self._left_out.values())


def _grown(url: str) -> bool:
    """Whether a path is so long, or repeats a step so often, that nobody wrote it."""
    steps = [step for step in urlsplit(url).path.split("/") if step]
    return len(steps) > STEPS or max(Counter(steps).values(), default=0) > REPEATS


def _form(url: str) -> str:
    """A url without its numbers and the values of its parameters; empty where it has neither."""
    parts = urlsplit(url)
    names = "&".join(sorted({one.partition("=")[0] for one in parts.query.split("&") if one}))
    form = re.sub(r"\d+", "#", parts.path) + (f"?{names}" if names else "")
    return form if form != parts.path else ""
