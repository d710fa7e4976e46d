"""Sync of a site to the index: which pages are removed and which stay."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from pertinent._internal.progress import NoProgress
from pertinent.errors import SourceError, SyncRefused
from pertinent.indexing.sync import SyncSummary
from pertinent.ports import Source
from pertinent.sources import open_source
from pertinent.sources.site import CrawlLimits, SiteSource
from pertinent.sources.site.crawl_cache import SITEMAP_GRACE_SECONDS
from pertinent.types import LazyPage, Page
from pertinent.workspace.workspace import Workspace

from .conftest import FAST_LIMITS
from .rendering import article
from .server import LocalSite, doc, links, page, sitemap, sitemap_index

HANDBOOK = Path(__file__).parents[3] / "examples" / "handbook"
NAMES = [f"p{number}" for number in range(8)]


def sync(workspace: Workspace, source: Source, *, allow_shrink: bool = False) -> SyncSummary:
    indexer = workspace.create_indexer(NoProgress())
    return indexer.apply(indexer.plan(source), allow_shrink=allow_shrink)


def crawled(
    workspace: Workspace, site: LocalSite, cache_file: Path | None, limits: CrawlLimits = FAST_LIMITS
) -> SyncSummary:
    return sync(workspace, SiteSource(site.address, cache_file=cache_file, limits=limits))


def paths(workspace: Workspace) -> set[str]:
    return {record.source_path for record in workspace.catalog().pages()}


def test_second_sync_writes_nothing(workspace: Workspace, site: LocalSite, cache_file: Path) -> None:
    site.book(*NAMES)
    assert crawled(workspace, site, cache_file).pages_added == 8
    second = crawled(workspace, site, cache_file)
    assert (second.pages_unchanged, second.pages_added, second.pages_changed, second.chunks_added) == (
        8,
        0,
        0,
        0,
    )


@pytest.mark.parametrize("status", [404, 410])
def test_gone_page_is_removed(workspace: Workspace, site: LocalSite, cache_file: Path, status: int) -> None:
    site.book(*NAMES)
    crawled(workspace, site, cache_file)
    site.pages["/docs/p3"] = lambda request: request.send(status=status)
    summary = crawled(workspace, site, cache_file)
    assert (summary.pages_removed, summary.unreadable) == (1, ())
    assert "/docs/p3" not in paths(workspace)


@pytest.mark.parametrize("status", [403, 500])
def test_failing_page_stays_indexed(
    workspace: Workspace, site: LocalSite, cache_file: Path, status: int
) -> None:
    site.book(*NAMES)
    crawled(workspace, site, cache_file)
    paths_before = paths(workspace)
    site.pages["/docs/p3"] = lambda request: request.send(status=status)
    del site.pages["/docs/p4"]
    summary = crawled(workspace, site, cache_file)
    assert [problem.source_path for problem in summary.unreadable] == ["/docs/p3"]
    assert paths(workspace) == paths_before - {"/docs/p4"}
    # And the next time, when it has been failing for a while.
    assert crawled(workspace, site, cache_file).pages_removed == 0
    assert paths(workspace) == paths_before - {"/docs/p4"}


def test_page_that_is_no_longer_html_stays_indexed(
    workspace: Workspace, site: LocalSite, cache_file: Path
) -> None:
    site.book(*NAMES)
    crawled(workspace, site, cache_file)
    site.pages["/docs/p3"] = lambda r: r.send("{}", headers={"Content-Type": "application/json"})
    assert crawled(workspace, site, cache_file).pages_removed == 0


def test_pages_linked_only_from_a_failing_page_stay_indexed(
    workspace: Workspace, site: LocalSite, cache_file: Path
) -> None:
    site.pages |= {
        "/": page("Home", links("/a", "/b", "/c", "/d")),
        "/a": page("A", links("/a/x")),
        "/a/x": page("X"),
        **{f"/{name}": page(name) for name in "bcd"},
    }
    crawled(workspace, site, cache_file)
    site.pages["/a"] = lambda request: request.send(status=500)
    summary = crawled(workspace, site, cache_file)
    assert (summary.pages_removed, [problem.source_path for problem in summary.unreadable]) == (0, ["/a"])
    # Even where nothing is remembered of it.
    cache_file.unlink()
    assert crawled(workspace, site, cache_file).pages_removed == 0
    assert "/a/x" in paths(workspace)


def test_shrunk_site_is_refused(workspace: Workspace, site: LocalSite, cache_file: Path) -> None:
    site.book(*NAMES)
    crawled(workspace, site, cache_file)
    paths_before = paths(workspace)
    site.book(*NAMES[:3])
    with pytest.raises(SyncRefused, match="--allow-shrink"):
        crawled(workspace, site, cache_file)
    assert paths(workspace) == paths_before


def test_site_under_maintenance_changes_nothing(
    workspace: Workspace, site: LocalSite, cache_file: Path
) -> None:
    site.book(*NAMES)
    crawled(workspace, site, cache_file)
    pages_before = {
        record.document_id: workspace.catalog().page(record.document_id)
        for record in workspace.catalog().pages()
    }
    for name in NAMES[1:]:
        site.pages[f"/docs/{name}"] = page("Down", "<p>We will be back soon.</p>")
    with pytest.raises(SourceError, match=r"7 of 8 pages .* the same, word for word.*nothing was changed"):
        crawled(workspace, site, cache_file)
    pages_after = {
        record.document_id: workspace.catalog().page(record.document_id)
        for record in workspace.catalog().pages()
    }
    assert pages_after == pages_before
    site.book(*NAMES)
    assert crawled(workspace, site, cache_file).pages_unchanged == len(NAMES)


def test_crawl_that_cannot_begin_removes_nothing(
    workspace: Workspace, site: LocalSite, cache_file: Path
) -> None:
    site.book(*NAMES)
    crawled(workspace, site, cache_file)
    paths_before = paths(workspace)
    site.pages["/robots.txt"] = lambda request: request.send(status=503)
    with pytest.raises(SourceError, match=r"robots\.txt"):
        crawled(workspace, site, cache_file)
    del site.pages["/robots.txt"]
    site.pages["/sitemap.xml"] = lambda request: request.send(status=500)
    site.pages["/"] = page("Home")
    summary = crawled(workspace, site, cache_file)
    assert (summary.pages_removed, summary.unreadable[0].path_identifies_page) == (0, False)
    assert paths_before <= paths(workspace)


def test_failing_sitemap_part_removes_nothing(
    workspace: Workspace, site: LocalSite, cache_file: Path
) -> None:
    site.book(*NAMES)
    site.sitemap("/docs/p0", at="/one.xml")
    site.pages["/two.xml"] = site.pages["/sitemap.xml"]
    site.pages["/sitemap.xml"] = sitemap_index(f"{site.address}/one.xml", f"{site.address}/two.xml")
    crawled(workspace, site, cache_file)
    paths_before = paths(workspace)
    del site.pages["/two.xml"]
    summary = crawled(workspace, site, cache_file)
    assert [(problem.source_path, problem.path_identifies_page) for problem in summary.unreadable] == [
        ("/two.xml", False)
    ]
    assert paths(workspace) == paths_before


NO_SITEMAP = {
    "forbidden": lambda request: request.send(status=403),
    "gone": lambda request: request.send(status=404),
    "something else": page("Not a sitemap"),
    "nothing": "",
    "empty": sitemap(),
    "one with entities": '<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "b">]><urlset></urlset>',
}


@pytest.mark.parametrize("named_in_robots_txt", [False, True])
@pytest.mark.parametrize("now", NO_SITEMAP)
def test_lost_sitemap_removes_nothing(
    workspace: Workspace, site: LocalSite, cache_file: Path, now: str, named_in_robots_txt: bool
) -> None:
    at = "/listed.xml" if named_in_robots_txt else "/sitemap.xml"
    site.book(*(f"p{number}" for number in range(8)))
    site.pages["/"] = page("Start", links(*(f"/docs/p{number}" for number in range(7))))
    site.pages[at] = site.pages.pop("/sitemap.xml")
    if named_in_robots_txt:
        site.pages["/robots.txt"] = f"Sitemap: {site.address}/listed.xml"
    crawled(workspace, site, cache_file)
    paths_before = paths(workspace)
    listed = site.pages[at]
    site.pages[at] = NO_SITEMAP[now]  # type: ignore[assignment]
    for _ in range(2):
        summary = crawled(workspace, site, cache_file)
        assert paths(workspace) >= paths_before
        assert [(problem.source_path, problem.path_identifies_page) for problem in summary.unreadable] == [
            (at, False)
        ]
    site.pages[at] = listed
    site.pages["/docs/p0"] = lambda request: request.send(status=404)
    assert crawled(workspace, site, cache_file).unreadable == ()
    assert paths(workspace) == paths_before - {"/docs/p0"}


def test_sitemap_dropped_from_robots_txt_removes_nothing(
    workspace: Workspace, site: LocalSite, cache_file: Path
) -> None:
    site.book(*NAMES)
    site.pages["/"] = page("Start", links(*(f"/docs/{name}" for name in NAMES[1:])))
    site.pages["/parts.xml"] = sitemap_index(f"{site.address}/part.xml")
    site.pages["/part.xml"] = site.pages.pop("/sitemap.xml")
    site.pages["/robots.txt"] = f"Sitemap: {site.address}/parts.xml"
    crawled(workspace, site, cache_file)
    paths_before = paths(workspace)
    del site.pages["/robots.txt"]
    summary = crawled(workspace, site, cache_file)
    assert [(problem.source_path, problem.path_identifies_page) for problem in summary.unreadable] == [
        ("/parts.xml", False)
    ]
    assert paths(workspace) >= paths_before


def test_lost_sitemap_counts_as_gone_after_a_week(
    workspace: Workspace, site: LocalSite, cache_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.book(*(f"p{number}" for number in range(8)))
    site.pages["/"] = page("Start", links(*(f"/docs/p{number}" for number in range(7))))
    crawled(workspace, site, cache_file)
    del site.pages["/sitemap.xml"]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + SITEMAP_GRACE_SECONDS + 1)
    assert crawled(workspace, site, cache_file).unreadable == ()
    assert "/docs/p7" not in paths(workspace)


def test_replaced_sitemap_is_not_expected_back(
    workspace: Workspace, site: LocalSite, cache_file: Path
) -> None:
    site.book(*(f"p{number}" for number in range(8)))
    crawled(workspace, site, cache_file)
    del site.pages["/sitemap.xml"]
    site.sitemap(*(f"/docs/p{number}" for number in range(7)), at="/new.xml")
    site.pages["/robots.txt"] = f"Sitemap: {site.address}/new.xml"
    assert crawled(workspace, site, cache_file).unreadable == ()
    assert "/docs/p7" not in paths(workspace)


def test_crawl_that_ends_early_removes_nothing(
    workspace: Workspace, site: LocalSite, cache_file: Path
) -> None:
    site.book(*NAMES)
    crawled(workspace, site, cache_file)
    paths_before = paths(workspace)
    for name in NAMES[2:]:
        site.pages[f"/docs/{name}"] = lambda request: request.send_late(page("Slow"), 1)
    summary = crawled(workspace, site, cache_file, replace(FAST_LIMITS, crawl_seconds=0.5, connections=1))
    assert "stopped after 0.5 s" in summary.unreadable[0].reason
    assert (summary.pages_removed, paths(workspace)) == (0, paths_before)


def handbook(site: LocalSite) -> list[Page]:
    """Serve the handbook as Docusaurus would, at the paths that it has, and give its pages from source."""
    pages = [page for page in open_source(str(HANDBOOK)).read() if isinstance(page, Page)]
    ids = {"docs/intro.md": "intro"}
    for source_page in pages:
        path = source_page.url.removeprefix("https://handbook.example")
        # The id that Docusaurus has for a doc is its path without numbers; here the slug's will do.
        name = ids.get(source_page.source_path, path.removeprefix("/docs/"))
        site.pages[path] = doc(name, source_page.title, body=article(source_page)).replace(
            f"<header><h1>{source_page.title}</h1></header>", "", 1
        )
    site.pages["/sitemap.xml"] = sitemap(*(page.url for page in pages))
    return pages


def test_book_from_source_and_from_site_has_the_same_pages(site: LocalSite) -> None:
    source = {page.url: page for page in handbook(site)}
    read = SiteSource(f"{site.address}/docs/", base_url="https://handbook.example/docs", limits=FAST_LIMITS)
    assert read.name == open_source(str(HANDBOOK)).name
    crawled = {
        page.url: page for offer in read.read() if isinstance(offer, LazyPage) for page in [offer.page()]
    }
    assert crawled.keys() == source.keys()
    for url, crawled_page in crawled.items():
        expected = source[url]
        assert (
            crawled_page.document_id,
            crawled_page.slug,
            crawled_page.title,
            crawled_page.source_type,
        ) == (
            expected.document_id,
            expected.slug,
            expected.title,
            expected.source_type,
        )


def test_switch_from_source_to_site_embeds_little(
    workspace: Workspace, site: LocalSite, cache_file: Path
) -> None:
    handbook(site)
    chunks = sync(workspace, open_source(str(HANDBOOK))).chunks_added
    site_source = SiteSource(
        f"{site.address}/docs/",
        base_url="https://handbook.example/docs",
        cache_file=cache_file,
        limits=FAST_LIMITS,
    )
    switched = sync(workspace, site_source)
    assert (switched.pages_added, switched.pages_removed, switched.unreadable) == (0, 0, ())
    assert switched.chunks_kept >= 0.9 * chunks
    assert switched.chunks_added + switched.chunks_changed <= 0.1 * chunks


def test_failing_page_stays_indexed_at_the_switch_to_the_site(
    workspace: Workspace, site: LocalSite, cache_file: Path
) -> None:
    pages = handbook(site)
    sync(workspace, open_source(str(HANDBOOK)))
    bad = pages[0].url.removeprefix("https://handbook.example")
    site.pages[bad] = lambda request: request.send(status=500)
    switched = sync(
        workspace,
        SiteSource(
            f"{site.address}/docs/",
            base_url="https://handbook.example/docs",
            cache_file=cache_file,
            limits=FAST_LIMITS,
        ),
    )
    assert (switched.pages_removed, len(switched.unreadable)) == (0, 1)
    assert pages[0].document_id in {record.document_id for record in workspace.catalog().pages()}
