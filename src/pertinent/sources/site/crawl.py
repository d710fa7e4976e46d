"""The main loop of a crawl: pages are visited on many threads and taken in the order of the frontier.

So the same site gives the same pages, however its responses race, also where a limit ends the crawl.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice

from ...errors import SourceError
from ...types import Gone, LazyPage, Skipped, Unreadable
from .addresses import normalize_address, page_path
from .canonical_pages import CanonicalPages
from .crawl_cache import SITEMAP_GRACE_SECONDS, CrawlCache
from .crawl_spool import CrawlSpool, SpooledPage
from .discovery import Discovery
from .fetch import Fetcher
from .frontier import Frontier, QueuedPage
from .limits import CrawlLimits
from .parsing import NO_ARTICLE, NOINDEX, ParsedPage
from .scope import SiteScope
from .skipped_pages import SkippedPages
from .versions_and_locales import Editions
from .visit import PageVisitor, VisitResult

_QUEUED_PER_CONNECTION = 4
"""How many visits are submitted for each connection, ahead of the result that is taken next."""
_TOO_MANY_LINKS = "is too large, or has more links than are read; its further links are not followed"


class _CrawlEnded(Exception):
    """The crawl can't go on; pages that it has not seen may still exist."""


class Crawl:
    """One crawl of a site, from the discovery of its pages to the last page.

    Raises SourceError where robots.txt forbids the start page and there is no sitemap.
    """

    def __init__(self, scope: SiteScope, discovery: Discovery, limits: CrawlLimits) -> None:
        self._scope = scope
        self._limits = limits
        self._discovery = discovery
        self._robots = discovery.robots
        self.follows_links = discovery.pages is None
        self._editions = Editions(scope.path, scope.page_filter)
        self._frontier = Frontier(scope, discovery.robots, self._editions, limits, discovery.forbidden)
        self._skipped = SkippedPages()
        self._seen: set[str] = set()
        self._undecided: dict[str, SpooledPage] = {}
        """Pages that may be of another version, by url, until all pages are known."""
        self._gone: set[str] = set()
        """Urls without a page to index: 404, a redirect, noindex, an alias, or excluded."""
        self._end = discovery.started_at + limits.crawl_seconds
        self._may_miss_pages = bool(discovery.problems)
        """Whether not all pages of the site, or not all links, are known."""
        self._failures_in_a_row = 0
        self._last_readable_address = ""
        self._some_gone = False
        self._suggested_start = ""
        """Where the start page redirects to, if that is outside the scope."""
        if discovery.pages is None:
            if not self._frontier.add_start():
                raise SourceError(f"{scope.start} may not be fetched: robots.txt forbids it")
        else:
            self._editions.learn_from_sitemap(discovery.pages, discovery.translations)
            self._frontier.add_listed(discovery.pages)
        self.total = None if self.follows_links else len(self._frontier)
        """How many pages there are; None where links are followed."""

    @property
    def first_address(self) -> str:
        """The page that readers see first: the start, or the first page of a sitemap."""
        pages = self._discovery.pages if self._scope.from_sitemap else None
        return next(iter((pages or {}).values()), self._scope.start)

    @property
    def locale(self) -> str:
        """The `lang` of the first page that was visited; empty where it has none."""
        return self._editions.language

    def apply_robots(self, fetcher: Fetcher) -> None:
        """Let the fetcher keep to robots.txt."""
        fetcher.apply_robots(self._robots.allows, self._robots.delay)

    def run(self, fetcher: Fetcher, cache: CrawlCache) -> Iterator[LazyPage | Skipped | Gone | Unreadable]:
        """Yield every page, every page that could not be read or is gone, and the reasons for skipped pages.

        Raises SourceError where the site has no pages, or where most of them are the same.
        """
        self._cache = cache
        self._spool = CrawlSpool(cache.folder)
        self._pages = CanonicalPages(self._scope.path, self._spool)
        self._visitor = PageVisitor(self._scope, fetcher, cache, self.follows_links)
        self.apply_robots(fetcher)
        cache.begin_crawl()
        problems = 0
        for result in self._pages_and_problems():
            problems += isinstance(result, Unreadable) and result.is_page
            yield result
        self._spool.close()
        if not self._pages and not problems:
            self._raise_no_pages()
        if self._pages.identical:
            raise SourceError(
                f"{self._pages.identical} of {len(self._pages)} pages at {self._scope.start} have the same "
                "text: the site may be under maintenance, or need JavaScript, which Pertinent does not run. "
                "Nothing was changed. If the pages should be the same, leave them out with --exclude"
            )
        yield from self._skipped_summary()

    def _pages_and_problems(self) -> Iterator[LazyPage | Gone | Unreadable]:
        yield from self._discovery.problems
        yield from self._missing_sitemaps()
        is_complete = False
        try:
            yield from self._crawl_frontier()
        except _CrawlEnded as reason:
            yield Unreadable(self._scope.path or "/", str(reason), path_identifies_page=False)
        else:
            self._cache.finish_crawl(self._seen, self._discovery.listing_sitemaps)
            is_complete = True
        yield from self._frontier.problems()
        yield from self._decide_versions()
        for result in self._pages.remaining():
            if isinstance(result, LazyPage):
                yield result
            else:
                self._skipped.add("name another page as canonical", result[0], len(result))
                self._gone.update(result)
        if is_complete:
            yield from map(Gone, sorted(self._gone))

    def _missing_sitemaps(self) -> Iterator[Unreadable]:
        """Report sitemaps that listed pages recently and list none now: they may come back."""
        reported = {problem.source_path for problem in self._discovery.problems}
        missing = self._cache.missing_sitemaps(self._discovery.listing_sitemaps)
        for address, listed_at in missing.items():
            was_replaced = not self.follows_links and address not in self._discovery.requested_sitemaps
            if was_replaced or page_path(address) in reported:
                continue
            listed, expected = (
                time.strftime("%Y-%m-%d", time.gmtime(moment))
                for moment in (listed_at, listed_at + SITEMAP_GRACE_SECONDS)
            )
            reason = (
                f"the sitemap: listed pages on {listed}, but lists none now; "
                f"missing pages are not removed until {expected}"
            )
            yield self._report_incomplete(page_path(address), reason)

    def _report_incomplete(self, path: str, reason: str, url: str = "") -> Unreadable:
        """Report why not all pages of the site are known: any missing page may still exist."""
        self._may_miss_pages = True
        return Unreadable(path, reason, path_identifies_page=False, url=url)

    def _crawl_frontier(self) -> Iterator[LazyPage | Unreadable]:
        """Visit all pages of the frontier on threads, and take their results in its order."""
        batch = _QUEUED_PER_CONNECTION * self._limits.connections
        pool = ThreadPoolExecutor(self._limits.connections, thread_name_prefix="crawl")
        visits: deque[tuple[QueuedPage, Future[VisitResult]]] = deque()
        try:
            self._add_links(self._discovery.suggested_pages.values(), 1)
            while True:
                if len(visits) < batch:
                    queued_pages = list(islice(iter(self._frontier.next, None), batch))
                    self._cache.preload(queued.url for queued in queued_pages)
                    visits += [(queued, pool.submit(self._visitor.visit, queued)) for queued in queued_pages]
                if not visits:
                    if not self._queue_known_pages():
                        return
                    continue
                queued, visit = visits.popleft()
                yield from self._take_result(queued, self._wait_for(visit, len(visits)))
        finally:
            self._visitor.fetcher.stop()
            pool.shutdown(cancel_futures=True)

    def _queue_known_pages(self) -> bool:
        """Queue the pages of earlier crawls, if links may be missing; return whether there are any."""
        if self._may_miss_pages or self._frontier.has_left_out_pages:
            for url, address in self._cache.known_addresses.items():
                self._check_time()
                if self._frontier.excludes(url, address):
                    self._gone.add(url)
                    # Kept in the cache: if this sync is refused, the next run reports it as gone again.
                    self._seen.add(url)
                else:
                    self._frontier.add(address, 1)
        return len(self._frontier) > 0

    def _wait_for(self, visit: Future[VisitResult], submitted: int) -> VisitResult:
        try:
            return visit.result(timeout=max(self._end - time.monotonic(), 0.0))
        except TimeoutError:
            raise self._make_timeout_error(1 + submitted) from None

    def _check_time(self) -> None:
        """End the crawl if its time is over; robots.txt may make each link slow."""
        if time.monotonic() > self._end:
            raise self._make_timeout_error(1)

    def _make_timeout_error(self, submitted: int) -> _CrawlEnded:
        return _CrawlEnded(
            f"stopped after {self._limits.crawl_seconds:g} s, with {submitted + len(self._frontier):,} or "
            "more addresses left to fetch; run the same command again to resume"
        )

    def _take_result(self, queued: QueuedPage, result: VisitResult) -> Iterator[LazyPage | Unreadable]:
        """Cache the result of a visit, and yield its page or the reason why there is none."""
        page = result.page
        if result.unchanged:
            page = self._cache.get(result.url)
            if page is None:
                # The cached page is damaged: fetch it again, without conditions.
                self._cache.forget(result.url)
                result = self._visitor.visit(queued)
                page = result.page
        if page is None:
            yield from self._take_failure(queued, result)
            return
        url = result.url
        self._failures_in_a_row = 0
        self._last_readable_address = result.address
        self._seen.update((queued.url, url))
        if result.response is not None and result.serialized_page:
            self._cache.put(url, result.response, result.serialized_page)
        else:
            self._cache.confirm(url, result.response)
        self._cache.record_redirect(queued.url, url)
        if self._accept_redirect(queued, result):
            yield from self._take_page(url, page, result.address, queued.depth)

    def _accept_redirect(self, queued: QueuedPage, result: VisitResult) -> bool:
        """Return whether the page at the end of a redirect is in scope and new; if not, skip it."""
        url = result.url
        if url == queued.url:
            return True
        self._gone.add(queued.url)
        is_start = self.follows_links and queued.depth == 0
        if not (self._scope.contains(url) if is_start else self._scope.wants(url)):
            self._skipped.add(f"redirected to {result.address}", queued.address)
            if is_start:
                self._suggested_start = result.address
            return False
        if not self._frontier.claim(url):
            self._skipped.add(f"redirected to {result.address}, which is queued already", queued.address)
            return False
        return True

    def _take_failure(self, queued: QueuedPage, result: VisitResult) -> Iterator[Unreadable]:
        """Skip a page that no longer exists; report any other failure, so that its index entry stays."""
        if self.follows_links and queued.depth == 0:
            hint = self._discovery.start_hint
            raise SourceError(f"{queued.address} {result.reason}{hint}; nothing was changed")
        url = self._cache.redirect_target(queued.url)
        if result.gone:
            self._skipped.add(result.reason, queued.address)
            self._some_gone = True
            self._gone.add(queued.url)
            self._frontier.retry(queued)
            return
        cached = self._cache.get(url)
        if result.not_a_page and url not in self._cache.known_addresses:
            self._skipped.add(result.reason, queued.address)
            yield Unreadable(
                page_path(url), result.reason, url=url, path_identifies_page=False, is_page=False
            )
            return
        self._seen.update((queued.url, url))
        if url != queued.url:
            # The redirect may be newer than the index, which then has the page under its old url.
            yield Unreadable(page_path(queued.url), result.reason, url=queued.url, is_page=False)
        if cached is not None:
            # The page and those that it led to may still exist.
            self._learn_editions(url, cached)
            self._follow_links(cached, queued.depth)
            if not cached.skip_reason:
                self._pages.add_failed(url, cached, self._canonical_url(url, cached))
        if cached is not None and cached.links_complete:
            yield Unreadable(page_path(url), result.reason, url=url)
        else:
            yield self._report_incomplete(page_path(url), result.reason, url)
        self._count_failure(no_answer=result.no_answer)

    def _count_failure(self, *, no_answer: bool) -> None:
        """End the crawl if the site is down, after as many failures in a row as its limits allow."""
        self._failures_in_a_row = self._failures_in_a_row + 1 if no_answer else 0
        limit = self._limits.failures
        if self._failures_in_a_row >= limit:
            if not self._site_answers():
                self._cache.prevent_resuming()
                raise _CrawlEnded(f"the site no longer answers: {limit} pages in a row failed")
            self._failures_in_a_row = 0

    def _site_answers(self) -> bool:
        """Request the last readable page, or else the start page, to tell whether the whole site is down."""
        address = self._last_readable_address or self.first_address
        return self._robots.allows(address) and self._visitor.answers(address)

    def _take_page(
        self, url: str, page: ParsedPage, address: str, depth: int
    ) -> Iterator[LazyPage | Unreadable]:
        """Follow the links of a page, and yield the page if it is to be indexed."""
        self._learn_editions(url, page)
        if self._editions.is_unwanted(url):
            self._frontier.add_other_edition(url)
            return
        if page.truncated:
            self._skipped.add("in part: too large to be read completely", address)
        self._follow_links(page, depth)
        if not page.links_complete:
            yield self._report_incomplete(page_path(url), _TOO_MANY_LINKS)
        if not self._scope.wants(url):
            self._skipped.add("excluded by --include or --exclude", address)
            self._gone.add(url)
        elif page.skip_reason:
            self._skipped.add(page.skip_reason, address)
            if page.skip_reason == NO_ARTICLE:  # it may be broken: if it is indexed, it stays
                yield Unreadable(page_path(url), f"has {NO_ARTICLE}", url=url, is_page=False)
            else:
                self._gone.add(url)
        elif self.follows_links and self._editions.may_be_version(url, page.version):
            self._undecided[url] = self._spool.add(replace(page, links=None))
        else:
            yield from self._give_page(url, page)

    def _learn_editions(self, url: str, page: ParsedPage) -> None:
        self._editions.language = self._editions.language or page.language
        self._editions.learn_from_page(url, language=page.language, version=page.version)
        if self.follows_links and page.skip_reason in ("", NOINDEX):
            self._editions.learn_from_answer(url)

    def _give_page(self, url: str, page: ParsedPage) -> Iterator[LazyPage]:
        if canonical := self._canonical_url(url, page):
            self._pages.add_alias(url, page, canonical)
        else:
            yield from self._pages.add(url, page)

    def _decide_versions(self) -> Iterator[LazyPage]:
        """Yield the pages that might have been of another version, now that all pages are known."""
        self._editions.decide_versions()
        for url, spooled in self._undecided.items():
            if self._editions.is_unwanted(url):
                self._frontier.add_other_edition(url)
            else:
                yield from self._give_page(url, self._spool.read(spooled))

    def _follow_links(self, page: ParsedPage, depth: int) -> None:
        """Queue the pages that a page links to, and the one that it names as canonical."""
        self._add_links(page.links or (), depth + 1)
        if canonical := normalize_address(page.canonical or ""):
            self._frontier.add(canonical, max(depth, 1))

    def _add_links(self, links: Iterable[str], depth: int) -> None:
        for link in links:
            self._check_time()
            self._frontier.add_link(link, depth)

    def _canonical_url(self, url: str, page: ParsedPage) -> str | None:
        """The url of the page that this one names as canonical, if that is another one of this crawl."""
        address = normalize_address(page.canonical or "")
        canonical = address and self._scope.public_url(address)
        if not canonical or canonical == url or not self._scope.wants(canonical):
            return None
        editions = self._editions
        # Pages of older versions name the current one. They are indexed if they were requested.
        is_same_edition = editions.edition_prefix(url) == editions.edition_prefix(canonical)
        return canonical if is_same_edition and not editions.is_unwanted(canonical) else None

    def _raise_no_pages(self) -> None:
        summary = (*self._skipped_urls(), *self._skipped.summarize())
        reasons = [f"{skipped.pages} {skipped.reason}" for skipped in summary]
        if self._some_gone and self._scope.is_copy:
            reasons.append(f"--base-url replaces {self._scope.served_prefix} by {self._scope.public_prefix}")
        detail = f" ({'; '.join(reasons)})" if reasons else ""
        advice = f". Start at {self._suggested_start} instead" if self._suggested_start else ""
        raise SourceError(
            f"no pages found at {self._scope.start}{detail}{self._discovery.excluded_hint}; "
            f"nothing was changed{advice}"
        )

    def _skipped_urls(self) -> Iterator[Skipped]:
        for reason, urls in self._frontier.skipped.items():
            if skipped := {url for url in urls if url not in self._pages}:
                yield Skipped(f"{reason}, such as {min(skipped)[:200]}", len(skipped))

    def _skipped_summary(self) -> Iterator[Skipped]:
        yield from self._skipped_urls()
        if external := self._discovery.external_hint:
            yield Skipped(f"listed on another host, such as {external}", self._discovery.external_count)
        yield from self._skipped.summarize()
        for kind, name in self._editions.missing_requests():
            yield Skipped(f"of {kind} {name}: the site does not have it", 0)
