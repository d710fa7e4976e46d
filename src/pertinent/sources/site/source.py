"""A live site as a source of pages: a whole site, a part of it, or what a sitemap lists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from ...errors import SourceError
from ...types import Gone, LazyPage, Skipped, Unreadable
from ..locales import language_of_locale
from .crawl import Crawl
from .crawl_cache import CrawlCache
from .discovery import discover_pages
from .fetch import Fetcher
from .limits import CrawlLimits
from .page_filter import PageFilter
from .parsing import NotHtml, parse_article
from .scope import open_scope


class SiteSource:
    """The pages of a live site.

    `start` is the address of a site, of a path in it, or of a sitemap. `base_url` is the public address
    of a site of which `start` is a copy. With a `cache_file`, an unchanged page is not downloaded again,
    and an interrupted crawl is resumed.

    >>> source = SiteSource("https://book.example/docs", limits=CrawlLimits(pages=100))
    >>> source.name
    'https://book.example/docs'
    """

    def __init__(
        self,
        start: str,
        *,
        base_url: str | None = None,
        name: str | None = None,
        cache_file: Path | None = None,
        page_filter: PageFilter | None = None,
        limits: CrawlLimits | None = None,
    ) -> None:
        self._scope = open_scope(start, base_url, page_filter)
        self._name = name or self._scope.name
        self._cache_file = cache_file
        self._limits = limits or CrawlLimits()
        self._planned: Crawl | None = None
        self._locale: str | None = None

    @property
    def name(self) -> str:
        """The name of the source; by default the public address, as for the Markdown of the same book."""
        return self._name

    @property
    def location(self) -> str:
        """The address that the crawl starts at."""
        return self._scope.start

    @property
    def language(self) -> str | None:
        """The language of the first page; before the crawl, that page is fetched for it."""
        if self._locale is None:
            self._locale = self._fetch_locale()
        return language_of_locale(self._locale)

    @property
    def notes(self) -> tuple[str, ...]:
        """None."""
        return ()

    def _fetch_locale(self) -> str:
        """The `lang` of the first page; "" where it can't be read, which the crawl reports."""
        crawl = self._planned = self._planned or self._plan_crawl()
        with Fetcher(self._scope, self._limits) as fetcher, suppress(SourceError, NotHtml):
            crawl.apply_robots(fetcher)
            response = fetcher.get(crawl.first_address)
            return parse_article(response.body, response.headers, response.address).language or ""
        return ""

    @property
    def total(self) -> int | None:
        """How many pages the sitemaps list; None where links must be followed."""
        if self._planned is None:
            self._planned = self._plan_crawl()
        return self._planned.total

    def read(self) -> Iterator[LazyPage | Skipped | Gone | Unreadable]:
        """Crawl the site: its pages, those that could not be read, and how many were skipped and why."""
        crawl, self._planned = self._planned or self._plan_crawl(), None
        with (
            closing(CrawlCache(self._cache_file, self._cache_key, with_links=crawl.follows_links)) as cache,
            Fetcher(self._scope, self._limits) as fetcher,
        ):
            yield from crawl.run(fetcher, cache)
            self._locale = crawl.locale

    @property
    def _cache_key(self) -> str:
        """The key of this site in the cache; copies have their own, since they change on their own."""
        return f"{self._name} at {self._scope.served_prefix}" if self._scope.is_copy else self._name

    def _plan_crawl(self) -> Crawl:
        with Fetcher(self._scope, self._limits) as fetcher:
            discovery = discover_pages(self._scope, fetcher, self._limits)
            return Crawl(self._scope, discovery, self._limits)
