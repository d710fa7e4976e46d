"""A live site as a source of pages: a site's root, a part of it, or the address of a sitemap."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ...types import Offer, PassedOver, Unreadable
from .addresses import open_site
from .crawl import Crawl
from .crawl_cache import Memory
from .discovery import find
from .fetch import Fetcher
from .limits import Choice, Limits


class SiteSource:
    """Pages of a site at the addresses they have there, or at those below `base_url` where it is a copy.

    With a `memory` file, a page that has not changed is not downloaded again, and a crawl that was
    broken off goes on where it ended.
    """

    def __init__(
        self,
        start: str,
        *,
        base_url: str | None = None,
        name: str | None = None,
        memory: Path | None = None,
        choice: Choice | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._site = open_site(start, base_url, choice)
        self._name = name or self._site.name
        self._memory = memory
        self._limits = limits or Limits()
        self._planned: Crawl | None = None

    @property
    def name(self) -> str:
        """The given name, else the address that all pages lie below: the same as of the book's Markdown."""
        return self._name

    @property
    def location(self) -> str:
        """Where the crawl begins."""
        return self._site.start

    @property
    def total(self) -> int | None:
        """How many pages the sitemaps list; None where there are none, and links must be followed."""
        if self._planned is None:
            self._planned = self._plan()
        return self._planned.total

    def read(self) -> Iterator[Offer | PassedOver | Unreadable]:
        """Every page of the site, in the order of its sitemaps, or as links lead to them."""
        crawl, self._planned = self._planned or self._plan(), None
        with (
            closing(Memory(self._memory, self._remembered_as, links=crawl.by_links)) as memory,
            Fetcher(self._site, self._limits) as fetcher,
        ):
            yield from crawl.run(fetcher, memory)

    @property
    def _remembered_as(self) -> str:
        """A copy by its own place: whether a page has changed there says nothing of the original."""
        site = self._site
        return self._name if site.served == site.known else f"{self._name} at {site.served}"

    def _plan(self) -> Crawl:
        with Fetcher(self._site, self._limits) as fetcher:
            return Crawl(self._site, find(self._site, fetcher, self._limits), self._limits)
