"""Sync of a site to the index: which pages are removed and which stay."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

import pytest

from pertinent._internal.progress import NoProgress
from pertinent.errors import SourceError, SyncRefused
from pertinent.indexing.sync import SyncSummary
from pertinent.ports import Source
from pertinent.sources import open_source
from pertinent.sources.site import CrawlLimits, PageFilter, SiteSource
from pertinent.sources.site.crawl_cache import SITEMAP_GRACE_SECONDS
from pertinent.types import FrontMatter, LazyPage, Page, Skipped
from pertinent.workspace.workspace import Workspace

from .conftest import FAST_LIMITS
from .rendering import article
from .server import LocalSite, Request, doc, links, page, sitemap, sitemap_index

HANDBOOK = Path(__file__).parents[3] / "examples" / "handbook"
NAMES = [f"p{number}" for number in range(8)]
PATHS = [f"/docs/{name}" for name in NAMES]
BASE_URL = "https://handbook.example"


def sync_source(workspace: Workspace, source: Source) -> SyncSummary:
    indexer = workspace.create_indexer(NoProgress())
    return indexer.apply(indexer.plan(source))


@dataclass
class SiteIndex:
    """The index of a site, with its crawl cache."""

    site: LocalSite
    workspace: Workspace
    cache_file: Path

    def sync(
        self,
        path: str = "",
        *,
        limits: CrawlLimits = FAST_LIMITS,
        base_url: str | None = None,
        exclude: tuple[str, ...] = (),
    ) -> SyncSummary:
        source = self.open_source(path, limits=limits, base_url=base_url, exclude=exclude)
        return sync_source(self.workspace, source)

    def open_source(
        self,
        path: str = "",
        *,
        limits: CrawlLimits = FAST_LIMITS,
        base_url: str | None = None,
        exclude: tuple[str, ...] = (),
    ) -> SiteSource:
        return SiteSource(
            self.site.address + path,
            base_url=base_url,
            cache_file=self.cache_file,
            limits=limits,
            page_filter=PageFilter(exclude=exclude),
        )

    def paths(self) -> set[str]:
        return {record.source_path for record in self.workspace.catalog().pages()}


@pytest.fixture
def index(site: LocalSite, workspace: Workspace, cache_file: Path) -> SiteIndex:
    return SiteIndex(site, workspace, cache_file)


def unreadable_files(summary: SyncSummary) -> list[str]:
    """The paths that could not be read and that identify no page."""
    assert not any(problem.path_identifies_page for problem in summary.unreadable)
    return [problem.source_path for problem in summary.unreadable]


def test_second_sync_writes_nothing(site: LocalSite, index: SiteIndex) -> None:
    site.book(*NAMES)
    assert index.sync().pages_added == 8
    second = index.sync()
    assert (second.pages_unchanged, second.pages_added, second.pages_changed) == (8, 0, 0)
    assert second.chunks_added == 0


def describe(text: str, keywords: str) -> str:
    return f'<meta name="description" content="{text}"><meta name="keywords" content="{keywords}">'


def read_front_matter(index: SiteIndex) -> dict[str, FrontMatter]:
    catalog = index.workspace.catalog()
    pages = (catalog.page(record.document_id) for record in catalog.pages())
    return {page.slug: page.front_matter for page in pages if page is not None}


def test_changed_description_of_a_page_is_synced(site: LocalSite, index: SiteIndex) -> None:
    site.book(*NAMES)
    index.sync()
    site.pages["/docs/p3"] = page("P3", "<p>This page is about p3.</p>", head=describe("Bolts", "nut, screw"))
    summary = index.sync()
    assert (summary.pages_changed, summary.chunks_changed, summary.chunks_added) == (1, 1, 0)
    assert read_front_matter(index)["docs-p3"] == FrontMatter("Bolts", ("nut", "screw"))
    assert index.sync().pages_unchanged == 8  # from the crawl cache
    index.cache_file.unlink()
    assert index.sync().pages_unchanged == 8


def test_description_of_the_site_is_not_repeated_on_every_page(site: LocalSite, index: SiteIndex) -> None:
    site.book("a", "b", "c")
    site.pages["/docs/a"] = page("A", head=describe("All of it", "book"))
    site.pages["/docs/b"] = page("B", head=describe("About B.", "book"))
    site.pages["/docs/c"] = page("C", head=describe("All of it", "book"))
    index.sync()
    assert read_front_matter(index) == {
        "docs-a": FrontMatter("All of it", ("book",)),
        "docs-b": FrontMatter(),  # what stands in its text says nothing new
        "docs-c": FrontMatter(),
    }


@pytest.mark.parametrize("status", [404, 410])
def test_gone_page_is_removed(site: LocalSite, index: SiteIndex, status: int) -> None:
    site.book(*NAMES)
    index.sync()
    site.pages["/docs/p3"] = lambda request: request.send(status=status)
    summary = index.sync()
    assert (summary.pages_removed, summary.unreadable) == (1, ())
    assert "/docs/p3" not in index.paths()


def test_page_that_robots_txt_forbids_now_is_removed_with_the_reason(
    site: LocalSite, index: SiteIndex
) -> None:
    site.book(*NAMES)
    index.sync()
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /docs/p3\n"
    summary = index.sync()
    assert (summary.pages_removed, summary.unreadable) == (1, ())
    assert summary.skipped == (Skipped(f"forbidden by robots.txt, such as {site.address}/docs/p3", 1),)


@pytest.mark.parametrize("incomplete", [False, True])
def test_page_that_has_lost_its_article_is_kept_and_reported(
    site: LocalSite, index: SiteIndex, incomplete: bool
) -> None:
    site.book(*NAMES)
    index.sync()
    empty = "<html><body><div id='root'></div></body></html>"
    site.pages |= {"/docs/p3": empty, "/docs/list": empty}
    site.sitemap(*PATHS, "/docs/list", *(["/docs/new"] if incomplete else []))
    if incomplete:
        site.pages["/docs/new"] = lambda request: request.send(status=500)
    for _ in range(2):  # the second time, the page comes from the cache
        summary = index.sync()
        assert (summary.pages_removed, summary.pages_unchanged) == (0, 7)
        reasons = {problem.source_path: problem.reason for problem in summary.unreadable}
        assert reasons.pop("/docs/p3") == "has no article"
        assert "/docs/list" not in reasons
    assert index.paths() == set(PATHS)


@pytest.mark.parametrize("status", [403, 500])
def test_failing_page_stays_indexed(site: LocalSite, index: SiteIndex, status: int) -> None:
    site.book(*NAMES)
    index.sync()
    paths_before = index.paths()
    site.pages["/docs/p3"] = lambda request: request.send(status=status)
    del site.pages["/docs/p4"]
    summary = index.sync()
    assert [problem.source_path for problem in summary.unreadable] == ["/docs/p3"]
    assert index.paths() == paths_before - {"/docs/p4"}
    # And at the next sync.
    assert index.sync().pages_removed == 0
    assert index.paths() == paths_before - {"/docs/p4"}


def test_page_that_is_no_longer_html_stays_indexed(site: LocalSite, index: SiteIndex) -> None:
    site.book(*NAMES)
    index.sync()
    site.pages["/docs/p3"] = lambda r: r.send("{}", headers={"Content-Type": "application/json"})
    assert index.sync().pages_removed == 0


def test_pages_linked_only_from_a_failing_page_stay_indexed(site: LocalSite, index: SiteIndex) -> None:
    site.pages |= {
        "/": page("Home", links("/a", "/b", "/c", "/d")),
        "/a": page("A", links("/a/x")),
        "/a/x": page("X"),
        **{f"/{name}": page(name) for name in "bcd"},
    }
    index.sync()
    site.pages["/a"] = lambda request: request.send(status=500)
    summary = index.sync()
    assert (summary.pages_removed, [problem.source_path for problem in summary.unreadable]) == (0, ["/a"])
    # Also without the cache.
    index.cache_file.unlink()
    assert index.sync().pages_removed == 0
    assert "/a/x" in index.paths()


def fail(request: Request) -> None:
    request.send(status=500)


def serve_linked_pages(site: LocalSite, *further: str) -> None:
    """Serve a home page that links to all pages of the book and to `further` ones, without a sitemap."""
    site.book(*NAMES)
    del site.pages["/sitemap.xml"]
    site.pages["/"] = page("Home", links(*PATHS, *further))


def test_pages_below_a_new_failing_page_stay_indexed(site: LocalSite, index: SiteIndex) -> None:
    serve_linked_pages(site, "/child")
    site.pages["/child"] = page("Child")
    index.sync()
    serve_linked_pages(site, "/hub")
    site.pages["/hub"] = fail
    summary = index.sync()
    assert unreadable_files(summary) == ["/hub"]
    assert "/child" in index.paths()
    site.pages["/hub"] = page("Hub")
    assert index.sync().unreadable == ()
    assert "/child" not in index.paths()


def test_gone_page_is_removed_while_a_new_page_fails(site: LocalSite, index: SiteIndex) -> None:
    serve_linked_pages(site, "/linked", "/unlinked", "/moved", "/hidden", "/hub")
    site.pages |= {f"/{name}": page(name) for name in ("linked", "unlinked", "moved", "hidden")}
    site.pages["/hub"] = fail
    index.sync()
    serve_linked_pages(site, "/linked", "/moved", "/hidden", "/hub")
    del site.pages["/linked"], site.pages["/unlinked"]
    assert index.sync().pages_removed == 2
    site.pages["/moved"] = lambda request: request.send(status=301, headers={"Location": "/new"})
    site.pages["/new"] = page("moved")
    site.pages["/hidden"] = page("hidden", head='<meta name="robots" content="noindex">')
    assert index.sync().pages_removed == 2
    assert index.paths() == {"/", *PATHS, "/new"}


def test_failing_page_without_cache_keeps_the_pages_it_led_to(site: LocalSite, index: SiteIndex) -> None:
    serve_linked_pages(site, "/hub")
    site.pages |= {"/hub": page("Hub", links("/child")), "/child": page("Child")}
    index.sync()
    index.cache_file.unlink()
    site.pages["/hub"] = fail
    for _ in range(3):
        assert index.sync().pages_removed == 0
    assert "/child" in index.paths()


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize(
    "head",
    ['<link rel="canonical" href="/target">', '<meta http-equiv="refresh" content="0; url=/target">'],
)
def test_target_of_a_failing_page_stays_indexed(
    site: LocalSite, index: SiteIndex, head: str, listed: bool
) -> None:
    serve_linked_pages(site, "/source")
    site.pages |= {"/source": page("Target", head=head), "/target": page("Target")}
    if listed:
        site.sitemap("/", *PATHS, "/source")
    index.sync()
    site.pages["/source"] = fail
    assert index.sync().pages_removed == 0
    assert "/target" in index.paths()


def test_page_whose_new_target_fails_stays_indexed(site: LocalSite, index: SiteIndex) -> None:
    """A crawl that changed nothing has seen the redirect; the index has the page at its old address."""
    site.book(*NAMES)
    index.sync()
    site.pages["/docs/p3"] = lambda request: request.send(status=301, headers={"Location": "/docs/q3"})
    site.pages["/docs/q3"] = page("p3")
    source = SiteSource(site.address, cache_file=index.cache_file, limits=FAST_LIMITS)
    index.workspace.create_indexer(NoProgress()).plan(source, dry_run=True)
    site.pages["/docs/q3"] = lambda request: request.send(status=500)
    index.sync()
    assert index.paths() == set(PATHS)


def test_new_link_that_leaves_the_host_is_skipped_and_others_are_removed(
    site: LocalSite, index: SiteIndex
) -> None:
    site.book(*NAMES)
    index.sync()
    away = {"Location": "https://chat.example/invitation"}
    site.pages["/docs/chat"] = lambda request: request.send(status=302, headers=away)
    site.sitemap(*PATHS[1:], "/docs/chat")
    summary = index.sync()
    assert index.paths() == set(PATHS[1:])
    assert not summary.unreadable
    assert any("chat.example/invitation, which is not on this host" in s.reason for s in summary.skipped)


def test_indexed_page_that_leaves_the_host_stays_indexed_without_cache(
    site: LocalSite, index: SiteIndex
) -> None:
    site.book(*NAMES)
    index.sync()
    index.cache_file.unlink()
    login = {"Location": "https://login.example/"}
    site.pages["/docs/p2"] = lambda request: request.send(status=302, headers=login)
    summary = index.sync()
    assert index.paths() == set(PATHS)
    assert [problem.source_path for problem in summary.unreadable] == ["/docs/p2"]


def test_target_of_a_failing_redirect_stays_indexed_without_cache(site: LocalSite, index: SiteIndex) -> None:
    site.book(*NAMES, "old")
    site.pages["/docs/old"] = lambda request: request.send(status=301, headers={"Location": "/new"})
    site.pages["/new"] = page("New")
    index.sync()
    index.cache_file.unlink()
    site.pages["/docs/old"] = fail
    assert index.sync().pages_removed == 0
    assert "/new" in index.paths()


def test_page_that_is_no_longer_html_stays_indexed_without_cache(site: LocalSite, index: SiteIndex) -> None:
    serve_linked_pages(site, "/feed")
    index.sync()
    index.cache_file.unlink()
    for path in ("/docs/p3", "/feed"):
        site.pages[path] = lambda r: r.send("{}", headers={"Content-Type": "application/json"})
    summary = index.sync()
    assert [problem.source_path for problem in summary.unreadable] == ["/docs/p3"]
    assert summary.pages_removed == 0


def test_alias_of_a_failing_page_is_not_indexed(site: LocalSite, index: SiteIndex) -> None:
    serve_linked_pages(site, "/target", "/alias")
    site.pages["/target"] = page("Target")
    site.pages["/alias"] = page("Target", head='<link rel="canonical" href="/target">')
    index.sync()
    site.pages["/target"] = fail
    assert index.sync().pages_added == 0
    assert "/target" in index.paths()


@pytest.mark.parametrize("order", [("/guide", "/guide/"), ("/guide/", "/guide"), ("/guide", "/docs/p0")])
def test_page_that_is_gone_at_one_spelling_stays_indexed(
    site: LocalSite, index: SiteIndex, order: tuple[str, str]
) -> None:
    serve_linked_pages(site, "/guide/")
    site.pages["/guide/"] = page("Guide")
    index.sync()
    site.pages["/docs/p0"] = page("P0", links("/guide/"))
    site.pages["/"] = page("Home", links(*order, *PATHS))
    site.clear_requests()
    assert (index.sync().pages_removed, site.requested_paths.count("/guide")) == (0, order[0] == "/guide")
    del site.pages["/guide/"]
    assert index.sync().pages_removed == 1
    assert site.requested_paths.count("/guide/") <= 3


def test_pages_that_are_gone_are_removed_although_a_limit_is_reached(
    site: LocalSite, index: SiteIndex
) -> None:
    serve_linked_pages(site, "/gone", "/unlinked")
    site.pages |= {"/gone": page("Gone"), "/unlinked": page("Unlinked"), "/deep": page("Deep")}
    index.sync()
    serve_linked_pages(site)
    del site.pages["/gone"]
    site.pages["/docs/p0"] = page("P0", links("/deep"))
    summary = index.sync(limits=replace(FAST_LIMITS, depth=1))
    assert summary.pages_removed == 1
    assert "/unlinked" in index.paths()


def test_shrunk_site_is_refused(site: LocalSite, index: SiteIndex) -> None:
    site.book(*NAMES)
    index.sync()
    paths_before = index.paths()
    site.book(*NAMES[:3])
    with pytest.raises(SyncRefused, match="--allow-shrink"):
        index.sync()
    assert index.paths() == paths_before


@pytest.mark.parametrize("sentence", ["", "We could not find what you were looking for. " * 20])
def test_site_whose_pages_all_answer_not_found_with_200_is_refused(
    site: LocalSite, index: SiteIndex, sentence: str
) -> None:
    names = [f"p{number}" for number in range(40)]
    site.book(*names)
    index.sync()
    catalog = index.workspace.catalog()
    pages_before = [catalog.page(record.document_id) for record in catalog.pages()]
    for number, name in enumerate(names):
        site.pages[f"/docs/{name}"] = page(f"Not found {number}", f"<p>{sentence}Not found {number}.</p>")
    with pytest.raises(
        SyncRefused, match=r"have lost most of their text.*Nothing was changed.*--allow-shrink"
    ):
        index.sync()
    assert [catalog.page(record.document_id) for record in catalog.pages()] == pages_before


def test_site_under_maintenance_changes_nothing(site: LocalSite, index: SiteIndex) -> None:
    site.book(*NAMES)
    index.sync()
    catalog = index.workspace.catalog()
    pages_before = [catalog.page(record.document_id) for record in catalog.pages()]
    for name in NAMES[1:]:
        site.pages[f"/docs/{name}"] = page("Down", "<p>We will be back soon.</p>")
    with pytest.raises(SourceError, match=r"7 of 8 pages .* have the same text.*Nothing was changed"):
        index.sync()
    assert [catalog.page(record.document_id) for record in catalog.pages()] == pages_before
    site.book(*NAMES)
    assert index.sync().pages_unchanged == len(NAMES)


def test_maintenance_page_at_every_address_changes_nothing(site: LocalSite, index: SiteIndex) -> None:
    site.book(*NAMES)
    site.pages["/"] = page("Home")
    site.sitemap("/", *PATHS)
    index.sync()
    site.pages.clear()
    site.pages["/robots.txt"] = ""
    site.fallback = page("Down", "<p>We will be back soon.</p>")
    with pytest.raises(SourceError, match=r"9 of 9 pages .* have the same text.*Nothing was changed"):
        index.sync()
    assert index.paths() == {"/", *PATHS}


def test_crawl_that_cannot_begin_removes_nothing(site: LocalSite, index: SiteIndex) -> None:
    site.book(*NAMES)
    index.sync()
    paths_before = index.paths()
    site.pages["/robots.txt"] = lambda request: request.send(status=503)
    with pytest.raises(SourceError, match=r"robots\.txt"):
        index.sync()
    del site.pages["/robots.txt"]
    site.pages["/sitemap.xml"] = lambda request: request.send(status=500)
    site.pages["/"] = page("Home")
    summary = index.sync()
    assert (summary.pages_removed, summary.unreadable[0].path_identifies_page) == (0, False)
    assert paths_before <= index.paths()


def test_failing_sitemap_part_removes_nothing(site: LocalSite, index: SiteIndex) -> None:
    site.book(*NAMES)
    site.sitemap("/docs/p0", at="/one.xml")
    site.pages["/two.xml"] = site.pages["/sitemap.xml"]
    site.pages["/sitemap.xml"] = sitemap_index(f"{site.address}/one.xml", f"{site.address}/two.xml")
    index.sync()
    paths_before = index.paths()
    del site.pages["/two.xml"]
    summary = index.sync()
    assert unreadable_files(summary) == ["/two.xml"]
    assert index.paths() == paths_before


NO_SITEMAP = {
    "forbidden": lambda request: request.send(status=403),
    "gone": lambda request: request.send(status=404),
    "something else": page("Not a sitemap"),
    "nothing": "",
    "empty": sitemap(),
    "one with entities": '<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "b">]><urlset></urlset>',
}


@pytest.mark.parametrize("in_robots_txt", [False, True])
@pytest.mark.parametrize("now", NO_SITEMAP)
def test_lost_sitemap_removes_nothing(
    site: LocalSite, index: SiteIndex, now: str, in_robots_txt: bool
) -> None:
    at = "/listed.xml" if in_robots_txt else "/sitemap.xml"
    site.book(*NAMES)
    site.pages["/"] = page("Start", links(*PATHS[:7]))
    site.pages[at] = site.pages.pop("/sitemap.xml")
    if in_robots_txt:
        site.pages["/robots.txt"] = f"Sitemap: {site.address}/listed.xml"
    index.sync()
    paths_before = index.paths()
    listed = site.pages[at]
    site.pages[at] = NO_SITEMAP[now]  # type: ignore[assignment]
    for _ in range(2):
        summary = index.sync()
        assert index.paths() >= paths_before
        assert unreadable_files(summary) == [at]
    site.pages[at] = listed
    site.pages["/docs/p0"] = lambda request: request.send(status=404)
    assert index.sync().unreadable == ()
    assert index.paths() == paths_before - {"/docs/p0"}


def test_sitemap_dropped_from_robots_txt_removes_nothing(site: LocalSite, index: SiteIndex) -> None:
    site.book(*NAMES)
    site.pages["/"] = page("Start", links(*PATHS[1:]))
    site.pages["/parts.xml"] = sitemap_index(f"{site.address}/part.xml")
    site.pages["/part.xml"] = site.pages.pop("/sitemap.xml")
    site.pages["/robots.txt"] = f"Sitemap: {site.address}/parts.xml"
    index.sync()
    paths_before = index.paths()
    del site.pages["/robots.txt"]
    summary = index.sync()
    assert unreadable_files(summary) == ["/parts.xml"]
    assert index.paths() >= paths_before


def test_lost_sitemap_counts_as_gone_after_a_week(
    site: LocalSite, index: SiteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.book(*NAMES)
    site.pages["/"] = page("Start", links(*PATHS[:7]))
    index.sync()
    del site.pages["/sitemap.xml"]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + SITEMAP_GRACE_SECONDS + 1)
    assert index.sync().unreadable == ()
    assert "/docs/p7" not in index.paths()


def test_replaced_sitemap_is_not_expected_back(site: LocalSite, index: SiteIndex) -> None:
    site.book(*NAMES)
    index.sync()
    del site.pages["/sitemap.xml"]
    site.sitemap(*PATHS[:7], at="/new.xml")
    site.pages["/robots.txt"] = f"Sitemap: {site.address}/new.xml"
    assert index.sync().unreadable == ()
    assert "/docs/p7" not in index.paths()


def test_crawl_that_ends_early_removes_nothing(site: LocalSite, index: SiteIndex) -> None:
    site.book(*NAMES)
    index.sync()
    paths_before = index.paths()
    for name in NAMES[2:]:
        site.pages[f"/docs/{name}"] = lambda request: request.send_late(page("Slow"), 1)
    summary = index.sync(limits=replace(FAST_LIMITS, crawl_seconds=0.5, connections=1))
    assert "stopped after 0.5 s" in summary.unreadable[0].reason
    assert (summary.pages_removed, index.paths()) == (0, paths_before)


def handbook(site: LocalSite) -> list[Page]:
    """Serve the handbook as Docusaurus would, at the paths that it has, and give its pages from source."""
    pages = [page for page in open_source(str(HANDBOOK)).read() if isinstance(page, Page)]
    ids = {"docs/intro.md": "intro"}
    for source_page in pages:
        path = source_page.url.removeprefix(BASE_URL)
        # The id that Docusaurus has for a doc is its path without numbers; here the slug's will do.
        name = ids.get(source_page.source_path, path.removeprefix("/docs/"))
        site.pages[path] = doc(name, source_page.title, body=article(source_page)).replace(
            f"<header><h1>{source_page.title}</h1></header>", "", 1
        )
    site.pages["/sitemap.xml"] = sitemap(*(page.url for page in pages))
    return pages


def test_book_from_source_and_from_site_has_the_same_pages(site: LocalSite) -> None:
    source = {page.url: page for page in handbook(site)}
    read = SiteSource(f"{site.address}/docs/", base_url=f"{BASE_URL}/docs", limits=FAST_LIMITS)
    assert read.name == open_source(str(HANDBOOK)).name
    crawled = {page.url: page for page in (lazy.page() for lazy in read.read() if isinstance(lazy, LazyPage))}
    assert crawled.keys() == source.keys()
    identity = attrgetter("document_id", "slug", "title", "source_type")
    assert {url: identity(page) for url, page in crawled.items()} == {
        url: identity(page) for url, page in source.items()
    }


def test_switch_from_source_to_site_embeds_little(site: LocalSite, index: SiteIndex) -> None:
    handbook(site)
    chunks = sync_source(index.workspace, open_source(str(HANDBOOK))).chunks_added
    switched = index.sync("/docs/", base_url=f"{BASE_URL}/docs")
    assert (switched.pages_added, switched.pages_removed, switched.unreadable) == (0, 0, ())
    assert switched.chunks_kept >= 0.9 * chunks
    assert switched.chunks_added + switched.chunks_changed <= 0.1 * chunks


def test_failing_page_stays_indexed_at_the_switch_to_the_site(site: LocalSite, index: SiteIndex) -> None:
    pages = handbook(site)
    sync_source(index.workspace, open_source(str(HANDBOOK)))
    bad = pages[0].url.removeprefix(BASE_URL)
    site.pages[bad] = lambda request: request.send(status=500)
    switched = index.sync("/docs/", base_url=f"{BASE_URL}/docs")
    assert (switched.pages_removed, len(switched.unreadable)) == (0, 1)
    assert pages[0].document_id in {record.document_id for record in index.workspace.catalog().pages()}


def test_other_version_stays_out_while_the_current_one_fails(site: LocalSite, index: SiteIndex) -> None:
    current, old = ([f"/docs/{version}{name}" for name in "abcd"] for version in ("", "1.x/"))
    site.pages |= {"/": page("Home", links(*current, *old))} | {path: page(path) for path in (*current, *old)}
    index.sync("/")
    assert index.paths() == {"/", *current}
    for path in current:
        site.pages[path] = lambda request: request.send(status=502)
    index.sync("/")
    assert index.paths() == {"/", *current}
