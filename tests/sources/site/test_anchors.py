"""Anchors of live pages, and the check of citations against them."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from pertinent.errors import NotFound, SourceError
from pertinent.health.links import BrokenLink, find_broken_links, group_web_citations
from pertinent.sources.site.anchors import SiteAnchors

from .conftest import FAST_LIMITS
from .server import LocalSite, page


def test_check_links_fetches_each_page_once() -> None:
    fetched: list[str] = []
    anchors = {"https://x.example/a": {"one", "caf\u00e9"}, "https://x.example/b": set[str]()}

    def anchors_of(url: str) -> set[str]:
        fetched.append(url)
        if url.endswith("down"):
            raise SourceError("answers HTTP 500")
        if url not in anchors:
            raise NotFound("answers HTTP 404")
        return anchors[url]

    cited = [
        ("https://x.example/a", "one"), ("https://x.example/a", "one"),
        ("https://x.example/a", "caf%C3%A9"), ("https://x.example/a", "two"), ("https://x.example/b", ""),
        ("https://x.example/gone", "x"), ("https://x.example/down", "x"), ("https://x.example/down", "y"),
        ("file:///home/me/a.md", "x"), ("beir://scifact/1", ""),
    ]  # fmt: skip
    ticks: list[int] = []
    assert find_broken_links(group_web_citations(cited), anchors_of, on_page=lambda: ticks.append(1)) == [
        BrokenLink("https://x.example/a", "two", "anchor missing", "the page has no #two"),
        BrokenLink("https://x.example/down", "", "not reached", "answers HTTP 500"),
        BrokenLink("https://x.example/gone", "", "page gone", "answers HTTP 404"),
    ]
    assert sorted(fetched) == [f"https://x.example/{name}" for name in ("a", "b", "down", "gone")]
    assert len(ticks) == 4


def test_site_anchors_reads_ids_and_names_of_live_pages(site: LocalSite) -> None:
    site.pages["/docs/a"] = page("A", "<h2 id='one'>One</h2><p id='two'>x</p><a name='three'></a>")
    site.pages["/docs/pdf"] = lambda r: r.send(b"%PDF", headers={"Content-Type": "application/pdf"})
    site.pages["/docs/down"] = lambda r: r.send(status=500)
    cited = [(f"{site.address}/docs/{name}", "one") for name in ("a", "pdf", "down", "gone")]
    cited += [(f"{site.address}/docs/a", name) for name in ("two", "three", "four")]
    with SiteAnchors(limits=FAST_LIMITS) as anchors_of:
        broken = find_broken_links(group_web_citations(cited), anchors_of)
    assert [(link.url.rpartition("/")[2], link.anchor, link.kind) for link in broken] == [
        ("a", "four", "anchor missing"),
        ("down", "", "not reached"),
        ("gone", "", "page gone"),
        ("pdf", "", "not reached"),
    ]


def test_site_anchors_fetches_from_a_copy(site: LocalSite) -> None:
    site.pages["/docs/a"] = page("A", "<h2 id='one'>One</h2>")
    with SiteAnchors(f"{site.address}/docs/", "https://h.example/docs", FAST_LIMITS) as anchors_of:
        assert "one" in anchors_of("https://h.example/docs/a")


def test_site_anchors_stops_fetching_from_a_site_that_is_down(site: LocalSite) -> None:
    site.fallback = lambda request: request.send(status=500)
    with SiteAnchors(limits=replace(FAST_LIMITS, failures=3, attempts=1)) as anchors_of:
        reasons = []
        for number in range(9):
            with pytest.raises(SourceError) as failure:
                anchors_of(f"{site.address}/docs/p{number}")
            reasons.append(str(failure.value))
    assert len(site.requested_paths) == 4  # robots.txt too
    assert reasons[2:4] == ["answers HTTP 500", "was not fetched: the site no longer answers"]


def test_site_anchors_respects_the_crawl_delay(site: LocalSite) -> None:
    site.pages["/robots.txt"] = "User-agent: *\nCrawl-delay: 0.3\nDisallow: /docs/\n"
    for name in "abc":
        site.pages[f"/docs/{name}"] = page(name, "<h2 id='one'>One</h2>")
    cited = [(f"{site.address}/docs/{name}", "one") for name in "abc"]
    began = time.monotonic()
    with SiteAnchors(limits=FAST_LIMITS) as anchors_of:
        assert find_broken_links(group_web_citations(cited), anchors_of) == []
    assert time.monotonic() - began >= 0.6
