"""The ids of pages on live sites, which citations point to."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from ...errors import NotFound, SourceError
from . import robots
from .addresses import Site, open_site
from .fetch import Answer, Fetcher, Gone, Unfetchable
from .limits import Limits
from .parsing import NotHtml, article_of


class SiteAnchors:
    """Asks each page for its ids; safe to use from many threads.

    As slowly as robots.txt asks for, but also where it keeps crawlers out: these are pages that somebody
    holds citations of, often on a preview that is to be found by nobody else.
    `at` is where a copy of the site is served that is known by `base_url`: pages below it are asked
    for there, all others where they say they are.
    """

    def __init__(
        self, at: str | None = None, base_url: str | None = None, limits: Limits | None = None
    ) -> None:
        self._copy = open_site(at, base_url) if at else None
        self._limits = limits or Limits()
        self._fetchers: dict[str, Fetcher] = {}
        self._silent: Counter[str] = Counter()
        self._opening = threading.Lock()
        self._counting = threading.Lock()

    def __call__(self, url: str) -> frozenset[str]:
        """The ids of the page at a url. Raises NotFound where there is none, SourceError if it fails."""
        site = self._copy if self._copy and self._copy.address(url) else open_site(_origin(url))
        address = site.address(url)
        if address is None:
            raise SourceError(f"{url} is not an address that can be asked for")
        if self._silent[site.origin] >= self._limits.failures:
            raise SourceError("was not asked for: the site no longer answers")
        try:
            answer = self._answered(site, address)
            article = article_of(answer.body, answer.headers, answer.address)
        except Gone as error:
            raise NotFound(str(error)) from error
        except NotHtml as error:
            raise SourceError(str(error)) from error
        return article.anchors

    def _answered(self, site: Site, address: str) -> Answer:
        """The answer of a site; how often in a row it gave none is counted."""
        silent = False
        try:
            return self._fetcher(site).get(address)
        except Unfetchable as error:
            silent = error.silent
            raise
        finally:
            with self._counting:
                self._silent[site.origin] = self._silent[site.origin] + 1 if silent else 0

    def _fetcher(self, site: Site) -> Fetcher:
        with self._opening:
            if site.origin not in self._fetchers:
                fetcher = self._fetchers[site.origin] = Fetcher(site, self._limits)
                with suppress(SourceError):  # what is wrong with the site, its pages will tell
                    fetcher.obey(lambda _: True, robots.ask(site, fetcher, self._limits.page_seconds).delay)
            return self._fetchers[site.origin]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for fetcher in self._fetchers.values():
            fetcher.__exit__(kind, error, trace)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/"
