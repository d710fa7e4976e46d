"""The crawl: visits under way on many threads, their outcomes taken in the order of the frontier.

In that order, so that the same site gives the same pages however its answers race, also where a
bound ends the crawl.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from itertools import islice
from urllib.parse import unquote, urlsplit

from ... import identity
from ...errors import SourceError
from ...types import Offer, Page, PassedOver, Unreadable
from .addresses import Site, absolute, path_of
from .crawl_cache import MISSED, Memory
from .discovery import Found
from .docusaurus_slugs import Routes
from .fetch import Fetcher
from .frontier import Frontier, Item
from .limits import Limits
from .parsing import Reading
from .versions_and_locales import Variants
from .visit import Outcome, Visitor

AHEAD = 4
"""How many visits, for each connection, are put in line together, ahead of the outcome taken next."""
NAMESAKES = 50
"""How many pages may name another as the one to index in their place; with more, or where they are of
different titles, a template is wrong."""
SAME = 5
"""How many pages may be word for word the same; where more are, they must not be most of them."""

_REASONS = 5  # why there are no pages; more are of no help


class _CutShort(Exception):
    """The crawl can't go on; what is missing is not gone."""


class Crawl:
    """One crawl of a site, from what was found beforehand to its last page."""

    def __init__(self, site: Site, found: Found, limits: Limits) -> None:
        self._site = site
        self._limits = limits
        self._found = found
        self.by_links = found.pages is None
        self._variants = Variants(site.scope, site.choice)
        self._frontier = Frontier(site, found.robots, self._variants, limits)
        self._routes = Routes(unquote(site.scope))
        self._silent = 0
        self._seen: set[str] = set()
        self._given: dict[str, str] = {}
        """The titles of the pages that were given, by url."""
        self._texts: Counter[int] = Counter()
        """How many of them have the same text."""
        self._late: list[tuple[str, Reading]] = []
        self._namesakes: dict[str, list[tuple[str, Reading]]] = defaultdict(list)
        self._passed_over: Counter[str] = Counter()
        self._such: dict[str, str] = {}
        """The first page that was passed over for each reason."""
        self._gone = False
        self._start = ""
        """Where the start leads, if that is not below it."""
        if found.pages is None:
            if not self._frontier.begin():
                raise SourceError(f"{site.start} may not be fetched: robots.txt forbids it")
        else:
            self._variants.survey(found.pages, found.alternates)
            self._frontier.fill(found.pages)
        self.total = None if self.by_links else len(self._frontier)
        """How many pages are in line, where that is all of them."""

    def run(self, fetcher: Fetcher, memory: Memory) -> Iterator[Offer | PassedOver | Unreadable]:
        """Every page, every one that could not be had, and in the end what was left out on purpose."""
        self._memory = memory
        self._visitor = Visitor(self._site, fetcher, memory, self.by_links)
        self._end = self._found.began + self._limits.crawl_seconds
        fetcher.obey(self._found.robots.allows, self._found.robots.delay)
        memory.begin()
        troubles = 0
        for one in self._items():
            troubles += isinstance(one, Unreadable)
            yield one
        if not self._given and not troubles:
            raise SourceError(
                f"no pages found at {self._site.start}{self._seen_instead()}{self._unwanted()}; "
                f"nothing was changed{f'. Start at {self._start} instead' if self._start else ''}"
            )
        self._refuse_one_page_for_all()
        editions = self._frontier.editions - self._given.keys()
        if editions:
            yield PassedOver(f"of another version or language, such as {min(editions)}", len(editions))
        if self._found.foreign:
            yield PassedOver(f"listed on another host, such as {self._found.elsewhere}", self._found.foreign)
        for reason, number in self._reasons():
            yield PassedOver(reason, number)
        for option, name in self._variants.never_met():
            yield PassedOver(f"of {option} {name}: the site has none that is called so", 0)

    def _seen_instead(self) -> str:
        """Why there are no pages, with an address to try."""
        seen = [f"{number} {reason}" for reason, number in self._reasons()]
        site = self._site
        if self._gone and site.served != site.known:
            seen.append(f"--base-url puts {site.known} in the place of {site.served}")
        return f" ({'; '.join(seen)})" if seen else ""

    def _pass_over(self, reason: str, address: str, number: int = 1) -> None:
        self._passed_over[reason] += number
        self._such.setdefault(reason, address)

    def _reasons(self) -> Iterator[tuple[str, int]]:
        """The most frequent reasons, each with the first page, and how many there were."""
        for reason, number in self._passed_over.most_common(_REASONS):
            yield f"{reason}, such as {self._such[reason][:200]}", number

    def _unwanted(self) -> str:
        """What to think of where links were followed because no page that sitemaps list is wanted."""
        if not self.by_links or not self._found.unwanted:
            return ""
        return (
            f"; of the {self._found.unwanted:,} pages in its sitemaps the patterns and robots.txt let none in"
        )

    def _refuse_one_page_for_all(self) -> None:
        """A site that gives one page at most of its addresses gives none of those that are meant."""
        _, same = self._texts.most_common(1)[0] if self._texts else (0, 0)
        if same > SAME and 2 * same > len(self._given):
            raise SourceError(
                f"{same} of {len(self._given)} pages at {self._site.start} are the same, word for word: the "
                "site is under maintenance, or its pages are made by scripts in the browser, which are not "
                "run here; nothing was changed. If they are meant to be so, leave them out with --exclude"
            )

    def _items(self) -> Iterator[Offer | Unreadable]:
        yield from self._found.problems
        yield from self._missed_sitemaps()
        try:
            yield from self._pages()
        except _CutShort as reason:
            yield Unreadable(self._site.scope or "/", str(reason), named=False)
        else:
            self._memory.finish(self._seen, self._found.sitemaps)
        yield from self._frontier.problems()
        yield from self._held_back()

    def _missed_sitemaps(self) -> Iterator[Unreadable]:
        """A sitemap that is no longer one says nothing of the pages that it listed: it may come back."""
        told = {one.source_path for one in self._found.problems}
        for address, listed in self._memory.missed(self._found.sitemaps).items():
            named_no_more = not self.by_links and address not in self._found.asked
            if named_no_more or path_of(address) in told:
                continue
            day, until = (time.strftime("%Y-%m-%d", time.gmtime(when)) for when in (listed, listed + MISSED))
            reason = (
                f"the sitemap: listed pages on {day} and lists none now; it is expected back until {until}"
            )
            yield Unreadable(path_of(address), reason, named=False)

    def _pages(self) -> Iterator[Offer | Unreadable]:
        pool = ThreadPoolExecutor(self._limits.connections, thread_name_prefix="crawling")
        under_way: deque[tuple[Item, Future[Outcome]]] = deque()
        try:
            while True:
                if len(under_way) < AHEAD * self._limits.connections:
                    items = list(islice(iter(self._frontier.next, None), AHEAD * self._limits.connections))
                    self._memory.expect(item.url for item in items)
                    under_way += [(item, pool.submit(self._visitor.visit, item)) for item in items]
                if not under_way:
                    return
                item, visit = under_way.popleft()
                yield from self._taken(item, self._awaited(visit, len(under_way)))
        finally:
            self._visitor.fetcher.stop()
            pool.shutdown(cancel_futures=True)

    def _awaited(self, visit: Future[Outcome], more: int) -> Outcome:
        try:
            return visit.result(timeout=max(self._end - time.monotonic(), 0.0))
        except TimeoutError:
            left = 1 + more + len(self._frontier)
            raise _CutShort(
                f"stopped after {self._limits.crawl_seconds:g} s with {left:,} or more addresses to go; "
                "the same command goes on from there"
            ) from None

    def _taken(self, item: Item, outcome: Outcome) -> Iterator[Offer | Unreadable]:
        """What an outcome gives; new addresses are put in line."""
        url, reading = outcome.url, outcome.reading
        if outcome.unchanged:
            reading = self._memory.reading(url)
            if reading is None:
                # What was remembered can't be made out any more: ask again, without conditions.
                self._memory.forget(url)
                outcome = self._visitor.visit(item)
                url, reading = outcome.url, outcome.reading
        if reading is None:
            yield from self._failed(item, outcome)
            return
        self._silent = 0
        self._seen.update((item.url, url))
        if outcome.visit is not None and outcome.packed:
            self._memory.put(url, outcome.visit, outcome.packed)
        else:
            self._memory.confirm(url, outcome.visit)
        self._memory.lead(item.url, url)
        begins = self.by_links and item.depth == 0
        if url != item.url and not (self._site.spans(url) if begins else self._site.holds(url)):
            self._pass_over(f"led to {outcome.address}", item.address)
            if begins:
                self._start = outcome.address
        elif url == item.url or self._frontier.claim(url):
            yield from self._read(url, reading, outcome.address, item.depth)
        else:
            self._pass_over(f"led to {outcome.address}, where others lead too", item.address)

    def _failed(self, item: Item, outcome: Outcome) -> Iterator[Unreadable]:
        """A page that is gone gives nothing; of any other failure, what was indexed is kept."""
        if self.by_links and item.depth == 0:
            elsewhere = self._found.elsewhere
            hint = f"; its sitemap lists {elsewhere}" if elsewhere else self._unwanted()
            raise SourceError(f"{item.address} {outcome.reason}{hint}; nothing was changed")
        url = self._memory.way(item.url)
        if outcome.gone or (outcome.no_page and not self._memory.knows(url)):
            self._pass_over(outcome.reason, item.address)
            self._gone = self._gone or outcome.gone
            return
        self._seen.update((item.url, url))
        before = self._memory.reading(url) if self.by_links else None
        if before is not None:
            # Its links are followed as they were: what they lead to is no less there.
            self._frontier.follow(before.links or (), item.depth + 1)
        # Without a whole crawl before this one nobody knows what its links lead to.
        named = self._memory.complete_before or not self.by_links
        yield Unreadable(path_of(url), outcome.reason, named=named, url=url)
        self._silent = self._silent + 1 if outcome.silent else 0
        if self._silent >= self._limits.failures:
            raise _CutShort(f"the site no longer answers: {self._silent} pages in a row failed")

    def _read(self, url: str, reading: Reading, address: str, depth: int) -> Iterator[Offer]:
        self._variants.language = self._variants.language or reading.language
        version = reading.doc.version if reading.doc else ""
        if self._variants.told(url, language=reading.language, version=version):
            self._frontier.editions.add(url)
            return
        if reading.cut:
            self._pass_over("in part: too large to be read to their end", address)
        self._frontier.follow(reading.links or (), depth + 1)
        canonical = self._canonical(url, reading, address, depth)
        if not self._site.holds(url):
            self._pass_over("left out by --include or --exclude", address)
        elif reading.skip:
            self._pass_over(reading.skip, address)
        elif canonical:
            self._namesakes[canonical].append((url, reading))
        else:
            yield from self._given_page(url, reading)

    def _canonical(self, url: str, reading: Reading, address: str, depth: int) -> str | None:
        """The other page that this one names as the one to index in its place."""
        found = absolute(reading.canonical, address) if reading.canonical else None
        other = found and self._site.url(found)
        if not found or not other or other == url or not self._site.holds(other):
            return None
        self._frontier.add(found, max(depth, 1))
        if self._variants.unwanted(other) or self._variants.edition(url) != self._variants.edition(other):
            return None  # older versions name the one that readers land on; who asks for them wants them
        return other

    def _given_page(self, url: str, reading: Reading) -> Iterator[Offer]:
        slug = self._routes.slug(_path(url), reading.doc)
        if slug is None:
            self._late.append((url, reading))
        else:
            yield self._offered(url, slug, reading)

    def _offered(self, url: str, slug: str, reading: Reading) -> Offer:
        self._given[url] = reading.title
        self._texts[hash(reading.content)] += 1
        return _offer(url, slug, reading)

    def _held_back(self) -> Iterator[Offer]:
        """What had to wait for all other pages."""
        for canonical, pages in self._namesakes.items():
            titles = self._given | {url: reading.title for url, reading in self._late}
            if canonical in titles and _are_namesakes(pages, titles[canonical]):
                self._pass_over("named another page in their place", pages[0][0], len(pages))
                continue
            for url, reading in pages:
                yield from self._given_page(url, reading)
        for url, reading in self._late:
            if reading.doc:
                yield self._offered(url, self._routes.late_slug(_path(url), reading.doc), reading)


def _are_namesakes(pages: Sequence[tuple[str, Reading]], title: str) -> bool:
    """Whether pages that name one of this title in their place may be other addresses of the same."""
    return len(pages) <= NAMESAKES and len({reading.title for _, reading in pages} - {title}) <= 1


def _path(url: str) -> str:
    return unquote(urlsplit(url).path)


def _offer(url: str, slug: str, reading: Reading) -> Offer:
    """The page, known by all that it is made of."""
    kind = "docusaurus-page" if reading.docusaurus else "web-page"
    document = identity.document_id(url, slug)
    hashed = sha256("\0".join((url, slug, kind, reading.title, "")).encode() + reading.content)

    def page() -> Page:
        text, sections = reading.unpacked()
        return Page(
            document_id=document,
            url=url,
            title=reading.title,
            source_path=path_of(url),
            slug=slug,
            source_type=kind,
            text=text,
            sections=sections,
        )

    return Offer(document, hashed.hexdigest(), page)
