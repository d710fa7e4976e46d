from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pertinent.sources.site import CrawlLimits, PageFilter, SiteSource
from pertinent.types import LazyPage, Page, Unreadable

from .server import LocalSite, served

FAST_LIMITS = CrawlLimits(page_seconds=2, quiet_seconds=0.6, crawl_seconds=30, attempts=2, first_wait=0.02)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """All servers of these tests are on this machine."""
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def short_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crawl waits at most 0.2 s between two requests to a busy site, instead of 2 s."""
    monkeypatch.setattr("pertinent.sources.site.throttle._LONGEST_GAP", 0.2)


@pytest.fixture
def site() -> Iterator[LocalSite]:
    with served() as up:
        yield up


@pytest.fixture
def cache_file(tmp_path: Path) -> Path:
    return tmp_path / "crawl.sqlite3"


def crawl(
    site: LocalSite,
    path: str = "/",
    *,
    base_url: str | None = None,
    cache_file: Path | None = None,
    limits: CrawlLimits = FAST_LIMITS,
    **filters: tuple[str, ...],
) -> tuple[dict[str, Page], list[Unreadable]]:
    """Crawl a site: its pages by the path of their url, and what could not be read."""
    source = SiteSource(
        site.address + path,
        base_url=base_url,
        cache_file=cache_file,
        limits=limits,
        page_filter=PageFilter(**filters),
    )
    pages, unreadable = {}, []
    for result in source.read():
        if isinstance(result, LazyPage):
            page = result.page()
            assert page.source_path not in pages
            pages[page.source_path] = page
        elif isinstance(result, Unreadable) and result.is_page:
            unreadable.append(result)
    return pages, unreadable


def check_incomplete(unreadable: list[Unreadable], reason: str) -> None:
    """The only problem is about the crawl, not about a page."""
    (problem,) = unreadable
    assert reason in problem.reason
    assert not problem.path_identifies_page
