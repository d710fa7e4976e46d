"""A partial outage: the pages that still answer are indexed as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from pertinent._internal.progress import NoProgress
from pertinent.workspace.workspace import Workspace

from .server import LocalSite, Request, doc, links, page
from .test_sync import NAMES, PATHS, SiteIndex


@pytest.fixture
def index(site: LocalSite, workspace: Workspace, cache_file: Path) -> SiteIndex:
    return SiteIndex(site, workspace, cache_file)


def document_ids(index: SiteIndex) -> set[str]:
    return {record.document_id for record in index.workspace.catalog().pages()}


def fail(request: Request) -> None:
    request.send(status=500)


def test_pages_with_their_own_slug_keep_their_id_while_other_docs_fail(
    site: LocalSite, index: SiteIndex
) -> None:
    site.pages |= {
        "/": page("Home", links("/docs", "/docs/faq", *PATHS)),
        "/docs": doc("intro", "Welcome"),
        "/docs/faq": doc("support/questions", "FAQ"),
        **{f"/docs/{name}": doc(name, name) for name in NAMES},
    }
    index.sync()
    before = document_ids(index)
    site.pages |= dict.fromkeys(PATHS, fail)
    summary = index.sync()
    assert (summary.pages_added, summary.pages_removed) == (0, 0)
    assert document_ids(index) == before


def test_page_stays_indexed_while_others_with_the_same_wrong_canonical_fail(
    site: LocalSite, index: SiteIndex
) -> None:
    head = '<link rel="canonical" href="/">'
    site.pages["/"] = page("Home", links(*PATHS), head=head)
    site.pages |= {path: page(path, head=head) for path in PATHS}
    index.sync()
    assert index.paths() == {"/", *PATHS}
    site.pages |= dict.fromkeys(PATHS[1:], fail)
    assert index.sync().pages_removed == 0
    assert index.paths() == {"/", *PATHS}


def test_translations_stay_out_while_the_first_language_fails(site: LocalSite, index: SiteIndex) -> None:
    english, german = ([f"/{language}/{name}" for name in NAMES] for language in ("en", "de"))
    site.pages |= {path: page(path, lang=path[1:3]) for path in (*english, *german)}
    site.sitemap(*english, *german)
    index.sync()
    assert index.paths() == {*english}
    site.pages |= dict.fromkeys(english, fail)
    assert index.sync().pages_added == 0
    assert index.paths() == {*english}


def serve_with_a_forbidden_page(site: LocalSite) -> None:
    """Serve pages of which one can never be read, so that the list of pages is incomplete."""
    site.pages["/"] = page("Home", links(*PATHS, "/admin"))
    site.pages |= {path: page(path) for path in PATHS}
    site.pages["/admin"] = lambda request: request.send(status=403)


def test_excluded_page_is_removed_while_another_can_not_be_read(site: LocalSite, index: SiteIndex) -> None:
    serve_with_a_forbidden_page(site)
    index.sync()
    source = index.open_source(exclude=(PATHS[0],))
    index.workspace.create_indexer(NoProgress()).plan(source, dry_run=True)
    assert index.sync(exclude=(PATHS[0],)).pages_removed == 1
    assert index.paths() == {"/", *PATHS[1:]}


def test_page_that_robots_txt_forbids_is_removed_while_another_can_not_be_read(
    site: LocalSite, index: SiteIndex
) -> None:
    serve_with_a_forbidden_page(site)
    index.sync()
    site.pages["/robots.txt"] = f"User-agent: *\nDisallow: {PATHS[0]}\n"
    assert index.sync().pages_removed == 1
    assert index.paths() == {"/", *PATHS[1:]}


def test_new_alias_is_removed_while_another_page_can_not_be_read(site: LocalSite, index: SiteIndex) -> None:
    serve_with_a_forbidden_page(site)
    index.sync()
    site.pages[PATHS[0]] = page(PATHS[1], head=f'<link rel="canonical" href="{PATHS[1]}">')
    assert index.sync().pages_removed == 1
    assert index.paths() == {"/", *PATHS[1:]}
