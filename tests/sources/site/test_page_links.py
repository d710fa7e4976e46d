"""The links of pages: how many are read, and that they cost little memory and disk."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pertinent.sources.html import MAX_LINK_CHARACTERS, parse_html
from pertinent.sources.site.frontier import Frontier
from pertinent.sources.site.limits import CrawlLimits
from pertinent.sources.site.page_filter import PageFilter
from pertinent.sources.site.robots import Robots
from pertinent.sources.site.scope import open_scope
from pertinent.sources.site.versions_and_locales import Editions

from .conftest import FAST_LIMITS, check_incomplete, crawl
from .server import LocalSite, links, page

if TYPE_CHECKING:
    from pathlib import Path

LONG_BASE = f"<base href='/{'x' * 1900}/'>"


def test_links_of_a_page_are_limited_in_characters() -> None:
    html = page("Long", links(*(f"q{number}" for number in range(9900))), head=LONG_BASE)
    article = parse_html(html, "https://book.example/")
    assert not article.links_complete
    assert MAX_LINK_CHARACTERS - 2000 < sum(map(len, article.links)) <= MAX_LINK_CHARACTERS


def test_links_take_little_space_in_the_cache(site: LocalSite, cache_file: Path) -> None:
    site.pages["/"] = page("Home", links(*(f"q{number}.pdf" for number in range(9900))), head=LONG_BASE)
    crawl(site, cache_file=cache_file)
    assert cache_file.stat().st_size < 200_000


def test_frontier_does_not_store_links_that_lead_elsewhere() -> None:
    scope = open_scope("https://book.example/docs")
    frontier = Frontier(scope, Robots(None), Editions("/docs", PageFilter()), CrawlLimits(), set())
    tracemalloc.start()
    try:
        for host in ("https://elsewhere.example", "https://book.example/blog"):
            for number in range(50_000):
                frontier.add_link(f"{host}/{'x' * 1900}{number}", 1)
        assert tracemalloc.get_traced_memory()[0] < 20_000_000
    finally:
        tracemalloc.stop()


def test_page_with_too_many_links_is_reported(site: LocalSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pertinent.sources.html.links.MAX_LINKS", 3)
    elsewhere = [f"https://elsewhere.example/{number}" for number in range(10)]
    site.pages |= {f"/{name}": page(name) for name in "abcd"}
    site.pages["/"] = page("Home", links("/a", *elsewhere, "/b", "/c"))
    assert crawl(site)[1] == []
    site.pages["/"] = page("Home", links("/a", *elsewhere, "/b", "/c", "/d"))
    pages, unreadable = crawl(site)
    assert list(pages) == ["/", "/a", "/b", "/c"]
    check_incomplete(unreadable, "more links than are read")


@pytest.mark.parametrize("listed", [True, False])
def test_links_that_take_long_to_check_keep_to_the_time_limit(
    site: LocalSite, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    checked = []

    def check_slowly(_: Robots, address: str) -> bool:
        checked.append(address)
        time.sleep(0.02)
        return address.endswith("/")

    monkeypatch.setattr(Robots, "allows", check_slowly)
    paths = ["/", *(f"/b{number}" for number in range(500))]
    site.pages |= {"/": page("Home", links(*paths)), "/robots.txt": ""}
    if listed:
        site.sitemap(*paths)
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, crawl_seconds=1))
    assert len(checked) < 100
    assert not any(problem.path_identifies_page for problem in unreadable)
    assert "1 s" in unreadable[0].reason
    assert len(pages) <= 1


def test_page_that_is_too_large_has_incomplete_links(site: LocalSite) -> None:
    site.pages["/"] = page("Home", links("/a") + f"<p>{'word ' * 1_700_000}</p>")
    site.pages["/a"] = page("A")
    pages, unreadable = crawl(site)
    assert list(pages) == ["/", "/a"]
    check_incomplete(unreadable, "more links than are read")
