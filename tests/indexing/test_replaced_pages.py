"""Sync of pages whose id has changed: each page stays in the index once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pertinent._internal.progress import NoProgress
from pertinent.errors import SyncRefused
from pertinent.identity import document_id
from pertinent.indexing.sync import SyncSummary
from pertinent.ports import Source
from pertinent.sources.markdown.source import MarkdownSource
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import Page, Unreadable
from pertinent.workspace.workspace import Workspace

BOOK = tuple(page(name, {"": f"All there is to say about {name}."}) for name in ("bolts", "nuts", "gears"))
HIDDEN = Unreadable("/hidden", "answers HTTP 403", path_identifies_page=False)


def sync(workspace: Workspace, source: Source) -> SyncSummary:
    indexer = workspace.create_indexer(NoProgress())
    return indexer.apply(indexer.plan(source))


def sync_pages(workspace: Workspace, *pages: Page | Unreadable, name: str = "book") -> SyncSummary:
    return sync(workspace, InMemorySource(*pages, name=name))


def change_slug(original: Page, text: str | None = None) -> Page:
    """Return the page under another slug, and so with another id, maybe with another text."""
    slug = f"new-{original.slug}"
    rewritten = page(original.slug, {"": text}) if text else original
    return replace(rewritten, slug=slug, document_id=document_id(original.url, slug))


def document_ids(workspace: Workspace) -> set[str]:
    return {record.document_id for record in workspace.catalog().pages()}


def test_page_with_a_new_id_replaces_the_old_one_while_the_list_of_pages_is_incomplete(
    workspace: Workspace,
) -> None:
    sync_pages(workspace, *BOOK)
    renamed = change_slug(BOOK[0], "Nobody talks about them any more.")
    summary = sync_pages(workspace, renamed, BOOK[1], HIDDEN)
    assert (summary.pages_added, summary.pages_removed) == (1, 1)
    assert document_ids(workspace) == {renamed.document_id, BOOK[1].document_id, BOOK[2].document_id}


def test_page_at_the_address_of_an_unreadable_one_replaces_it(workspace: Workspace) -> None:
    sync_pages(workspace, *BOOK)
    renamed = replace(change_slug(BOOK[0]), source_path="docs/other.md")
    sync_pages(workspace, renamed, *BOOK[1:], Unreadable(BOOK[0].source_path, "has the same address"))
    assert document_ids(workspace) == {renamed.document_id, BOOK[1].document_id, BOOK[2].document_id}


def test_interrupted_replacement_is_completed_while_the_list_of_pages_is_incomplete(
    workspace: Workspace,
) -> None:
    sync_pages(workspace, *BOOK)
    renamed = change_slug(BOOK[0])
    catalog, indexer = workspace.writable_catalog(), workspace.create_indexer(NoProgress())
    plan = indexer.plan(InMemorySource(renamed, *BOOK[1:], HIDDEN, name="book"))
    indexer.apply(replace(plan, removed=()))  # killed before the old page was deleted
    assert len(catalog.pages()) == 4
    sync_pages(workspace, renamed, *BOOK[1:], HIDDEN)
    assert document_ids(workspace) == {renamed.document_id, BOOK[1].document_id, BOOK[2].document_id}


def test_plan_keeps_documents_that_share_a_url(workspace: Workspace) -> None:
    """In a BEIR corpus, several documents may be parts of one web page."""
    first = replace(BOOK[0], document_id=document_id("beir:corpus/1", "1"))
    second = replace(BOOK[0], document_id=document_id("beir:corpus/2", "2"))
    sync_pages(workspace, first, second)
    summary = sync_pages(workspace, first, HIDDEN)
    assert summary.pages_removed == 0
    assert document_ids(workspace) == {first.document_id, second.document_id}


def test_replaced_pages_are_not_missing(workspace: Workspace) -> None:
    sync_pages(workspace, *BOOK)
    summary = sync_pages(workspace, *map(change_slug, BOOK))
    assert (summary.pages_added, summary.pages_removed) == (3, 3)


def test_replaced_pages_count_among_those_that_lost_their_text(workspace: Workspace) -> None:
    sync_pages(workspace, *BOOK)
    with pytest.raises(SyncRefused, match="lost most of their text"):
        sync_pages(workspace, *(change_slug(original, "Not found") for original in BOOK))


def test_plan_refuses_page_of_another_source_despite_new_slug(workspace: Workspace) -> None:
    sync_pages(workspace, *BOOK)
    summary = sync_pages(workspace, change_slug(BOOK[0]), name="site")
    assert summary.pages_added == 0
    assert "source book" in summary.unreadable[0].reason


def test_file_that_takes_the_address_of_another_replaces_its_page(
    workspace: Workspace, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# Welcome\n\nThe old front page.")
    source = MarkdownSource(docs, base_url="https://book.example/docs")
    sync(workspace, source)
    (docs / "README.md").write_text("# Read me\n\nThe old front page, rewritten.")
    summary = sync(workspace, MarkdownSource(docs, base_url="https://book.example/docs"))
    assert [problem.source_path for problem in summary.unreadable] == ["docs/index.md"]
    assert [record.title for record in workspace.catalog().pages()] == ["Read me"]


def test_sync_notes_that_the_same_folder_is_indexed_under_another_name(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "intro.md").write_text("# Welcome\n\nThe front page.")
    first = MarkdownSource(tmp_path, name="my book")
    assert sync(workspace, first).notes == ()
    (note,) = sync(workspace, MarkdownSource(tmp_path, base_url="https://book.example/docs")).notes
    assert "is also indexed as my book" in note
    assert "`pertinent remove 'my book'`" in note
