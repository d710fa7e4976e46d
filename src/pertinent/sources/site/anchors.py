"""The anchors of pages on live sites, to check that citations still point somewhere."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress
from types import TracebackType
from typing import Self

from ...errors import NotFound, SourceError
from .addresses import site_origin
from .fetch import Fetcher
from .limits import CrawlLimits
from .parsing import NotHtml, parse_article
from .responses import FetchFailed, PageGone, Response
from .robots import fetch_robots
from .scope import SiteScope, open_scope


class SiteAnchors:
    """Fetches pages and gives their anchors; safe to use from many threads.

    The `Crawl-delay` of robots.txt is respected, but not its rules: the pages are cited by the index
    already, and often on a preview that hides from crawlers. `at` is where a copy of the site at
    `base_url` is served: pages below `base_url` are fetched from the copy, all others from their own
    address.
    """

    def __init__(
        self, at: str | None = None, base_url: str | None = None, limits: CrawlLimits | None = None
    ) -> None:
        self._copy = open_scope(at, base_url) if at else None
        self._limits = limits or CrawlLimits()
        self._fetchers: dict[str, Fetcher] = {}
        self._failures_in_a_row: Counter[str] = Counter()
        self._fetchers_lock = threading.Lock()
        self._failures_lock = threading.Lock()

    def __call__(self, url: str) -> frozenset[str]:
        """The anchors of the page at a url.

        Raises NotFound where there is no such page, SourceError where it can't be read.
        """
        scope = self._copy
        if scope is None or not scope.served_address(url):
            scope = open_scope(f"{site_origin(url)}/")
        address = scope.served_address(url)
        if address is None:
            raise SourceError(f"{url} is not an address that can be fetched")
        if self._failures_in_a_row[scope.origin] >= self._limits.failures:
            raise SourceError("was not fetched: the site no longer answers")
        try:
            response = self._fetch(scope, address)
            article = parse_article(response.body, response.headers, response.address)
        except PageGone as error:
            raise NotFound(str(error)) from error
        except NotHtml as error:
            raise SourceError(str(error)) from error
        return article.anchors

    def _fetch(self, scope: SiteScope, address: str) -> Response:
        """Fetch an address, and count how often in a row its site does not answer."""
        no_answer = False
        try:
            return self._fetcher(scope).get(address)
        except FetchFailed as error:
            no_answer = error.no_answer
            raise
        finally:
            with self._failures_lock:
                failures = self._failures_in_a_row[scope.origin]
                self._failures_in_a_row[scope.origin] = failures + 1 if no_answer else 0

    def _fetcher(self, scope: SiteScope) -> Fetcher:
        with self._fetchers_lock:
            if scope.origin not in self._fetchers:
                fetcher = self._fetchers[scope.origin] = Fetcher(scope, self._limits)
                with suppress(SourceError):  # the pages will show what is wrong with the site
                    robots = fetch_robots(scope, fetcher, self._limits.page_seconds)
                    fetcher.apply_robots(lambda _: True, robots.delay)
            return self._fetchers[scope.origin]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for fetcher in self._fetchers.values():
            fetcher.__exit__(kind, error, trace)
