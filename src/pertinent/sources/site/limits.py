"""How far a crawl may go: pages, sizes, times, connections and retries."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import InvalidInput

YEAR = 365 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """Where a crawl stops; times are in seconds, sizes in bytes after decompression.

    >>> CrawlLimits(pages=500, crawl_seconds=600).connections
    8
    """

    pages: int = 20_000
    depth: int = 50
    """How many links away from the start a page may be, where there is no sitemap."""
    alike: int = 1_000
    """How many addresses may differ only in numbers, where there is no sitemap."""
    sitemaps: int = 500
    page_bytes: int = 10 * 2**20
    sitemap_bytes: int = 50 * 2**20
    page_seconds: float = 30
    """The total time limit of a page, redirects included, retries not."""
    quiet_seconds: float = 10
    """How long the server may send nothing at all."""
    crawl_seconds: float = 3600
    connections: int = 8
    delay: float = 0
    """The least time between two requests; robots.txt may ask for more."""
    redirects: int = 10
    attempts: int = 3
    busy_attempts: int = 5
    """How often a page is requested where the site is busy (429, 503)."""
    first_wait: float = 0.5
    """The wait before the first retry; it doubles with each retry."""
    longest_wait: float = 60
    """The longest `Retry-After` that is respected."""
    failures: int = 20
    """How many pages in a row may get no answer before the site counts as down."""

    def __post_init__(self) -> None:
        for field, seconds in (("delay", self.delay), ("crawl_seconds", self.crawl_seconds)):
            if not 0 <= seconds <= YEAR:
                raise InvalidInput(field, f"{seconds:g} is not a number of seconds from 0 to a year")
