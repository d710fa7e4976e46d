"""What a caller may say about a crawl: which pages are wanted, and how far it may go."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import InvalidInput

ALL = "all"
"""Stands for every version, or every language."""
YEAR = 365 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Choice:
    """Which pages of a site are wanted.

    Patterns are matched with the whole path of an address: `*` is anything, slashes too, and a pattern
    without a `*` also holds for what lies below it. Versions and languages are those wanted besides
    the ones that readers land on.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    locales: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field, values in (
            ("include", self.include),
            ("exclude", self.exclude),
            ("versions", self.versions),
            ("locales", self.locales),
        ):
            if not all(value.strip() for value in values):
                raise InvalidInput(field, "must not be empty")


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a crawl stops; times are in seconds, sizes in bytes after decompression."""

    pages: int = 20_000
    depth: int = 50
    """How many links away from the start a page may be, where there is no sitemap."""
    alike: int = 1_000
    """How many addresses may differ in nothing but numbers, where there is no sitemap."""
    sitemaps: int = 500
    page_bytes: int = 10 * 2**20
    sitemap_bytes: int = 50 * 2**20
    page_seconds: float = 30
    quiet_seconds: float = 10
    """How long the other side may say nothing at all."""
    crawl_seconds: float = 3600
    connections: int = 8
    delay: float = 0
    """How long to wait between two requests at least; robots.txt may ask for more."""
    redirects: int = 10
    attempts: int = 3
    busy_attempts: int = 5
    """How often a page is asked for where the site says that it is busy."""
    first_wait: float = 0.5
    longest_wait: float = 60
    """The longest that a site may ask to wait before it is asked again."""
    failures: int = 20
    """How many pages in a row may get no answer before the site is taken to be down."""

    def __post_init__(self) -> None:
        for field, seconds in (("delay", self.delay), ("crawl_seconds", self.crawl_seconds)):
            if not 0 <= seconds <= YEAR:
                raise InvalidInput(field, f"{seconds:g} is no number of seconds from 0 to a year")
