"""Sync: the least work, nothing lost, and the same result after any interruption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import qdrant_edge

from pertinent._internal.progress import NoProgress
from pertinent.errors import EmbedderError, SyncRefused
from pertinent.identity import point_id
from pertinent.indexing import planner as planning
from pertinent.indexing.sync import Indexer, SyncSummary
from pertinent.sources.markdown.source import UNKNOWN_ADDRESS, MarkdownSource
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import Chunk, FrontMatter, Page, SearchOptions, Unreadable, readable_chunks
from pertinent.workspace.workspace import Workspace

TOPICS = page("topics", {"": "Nodes talk over topics.", "QoS": "Reliable or best effort."})
SERVICES = page("services", {"": "A service answers a request."})
ACTIONS = page("actions", {"": "An action has a goal, feedback and a result."})
JOINTS = page("joints", {"": "A joint links two bodies.", "Limits": "Lower and upper."})
BOOK = (TOPICS, SERVICES, ACTIONS, JOINTS)


def sync(workspace: Workspace, *pages: Page | Unreadable, name: str = "book", **options: bool) -> SyncSummary:
    indexer = workspace.create_indexer(NoProgress())
    return indexer.apply(indexer.plan(InMemorySource(*pages, name=name)), **options)


def contents(workspace: Workspace) -> tuple[list[Chunk], list[Chunk], list[str]]:
    """Return the chunks of the index and of the catalog, without their times, and the pending pages."""
    catalog = workspace.catalog()
    rows = [chunk for record in catalog.pages() for chunk in catalog.chunks(record.document_id)]
    points = readable_chunks(workspace.index().scan())

    def timeless(chunks: object) -> list[Chunk]:
        return sorted((replace(c, created_at="") for c in chunks), key=lambda c: c.chunk_id)  # type: ignore[attr-defined]

    return timeless(points), timeless(rows), workspace.writable_catalog().pending()


def embedded(workspace: Workspace) -> int:
    """Count the embedded documents; a sync of new texts into an index embeds one more, as a check."""
    embedder = workspace.embedder()
    assert isinstance(embedder, HashedWords)
    return embedder.embedded


def test_first_sync_adds_every_page(workspace: Workspace) -> None:
    summary = sync(workspace, *BOOK)
    assert (summary.pages_added, summary.chunks_added) == (4, 6)
    points, rows, pending = contents(workspace)
    assert points == rows
    assert len(points) == 6
    assert pending == []


@pytest.mark.parametrize(
    ("embed", "message"),
    [
        (lambda vectors: (vector * np.nan for vector in vectors), "returned NaN or infinity in a vector"),
        (lambda vectors: islice(vectors, 2), "returned fewer vectors than texts"),
    ],
)
def test_sync_ends_with_an_error_if_the_model_fails_silently(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, embed: Callable[..., Any], message: str
) -> None:
    embed_documents = HashedWords.embed_documents
    monkeypatch.setattr(
        HashedWords, "embed_documents", lambda self, texts: embed(embed_documents(self, texts))
    )
    with pytest.raises(EmbedderError, match=message):
        sync(workspace, *BOOK)
    monkeypatch.undo()
    assert sync(workspace, *BOOK).pages_added == 4


@pytest.mark.parametrize(
    ("base", "base_url", "is_noted"),
    [
        ("'/'", None, False),
        ("process.env.BASE", None, True),
        ("process.env.BASE", "https://book.example", False),
    ],
)
def test_sync_notes_that_the_address_of_a_site_is_computed(
    workspace: Workspace, tmp_path: Path, base: str, base_url: str | None, *, is_noted: bool
) -> None:
    config = f"module.exports = {{title: 'B', url: 'https://book.example', baseUrl: {base}}};"
    (tmp_path / "docusaurus.config.js").write_text(config, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("# Page\n\nSome text.\n", encoding="utf-8")
    indexer = workspace.create_indexer(NoProgress())
    source = MarkdownSource(tmp_path, base_url=base_url)
    summary = indexer.apply(indexer.plan(source))
    assert summary.notes == ((UNKNOWN_ADDRESS,) if is_noted else ())
    assert indexer.plan(source).notes == summary.notes


def test_second_sync_writes_and_embeds_nothing(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    sync(workspace, *BOOK)
    before, embedded_before = contents(workspace), embedded(workspace)
    writes: list[str] = []
    indexer = workspace.create_indexer(NoProgress())
    for kind, names in (
        (type(indexer.index), ("put", "describe", "delete_stale_points")),
        (type(indexer.catalog), ("begin", "commit")),
    ):
        for name in names:
            monkeypatch.setattr(kind, name, lambda *_, name=name, **__: writes.append(name))
    plan = indexer.plan(InMemorySource(*BOOK, name="book"))
    assert plan.nothing_to_do
    summary = indexer.apply(plan)
    assert writes == []
    assert (summary.pages_unchanged, summary.chunks_kept, summary.chunks_added) == (4, 6, 0)
    assert contents(workspace) == before
    assert embedded(workspace) == embedded_before


def test_plan_writes_nothing(workspace: Workspace) -> None:
    sync(workspace, TOPICS)
    before = contents(workspace)
    plan = workspace.create_indexer(NoProgress()).plan(InMemorySource(*BOOK, name="book"))
    assert len(plan.changes) == 3
    assert contents(workspace) == before


def test_sync_embeds_only_changed_chunks(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    embedded_before = embedded(workspace)
    changed = page("topics", {"": "Nodes talk over topics.", "QoS": "Only reliable."})
    summary = sync(workspace, changed, SERVICES, ACTIONS, JOINTS)
    assert (summary.pages_changed, summary.chunks_added, summary.chunks_removed) == (1, 1, 1)
    assert embedded(workspace) == embedded_before + 2
    points, rows, _ = contents(workspace)
    assert points == rows
    texts = {chunk.text for chunk in points}
    assert "Only reliable." in texts
    assert "Reliable or best effort." not in texts


def test_changed_front_matter_embeds_the_first_chunk_again(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    before, embedded_before = contents(workspace), embedded(workspace)
    described = replace(TOPICS, front_matter=FrontMatter("Publish and subscribe", tags=("middleware",)))
    summary = sync(workspace, described, SERVICES, ACTIONS, JOINTS)
    assert (summary.pages_changed, summary.chunks_changed, summary.chunks_added) == (1, 1, 0)
    assert embedded(workspace) == embedded_before + 2
    assert contents(workspace) == before  # ids, texts, spans and hashes
    for words in ("publish subscribe", "middleware"):
        answer = workspace.engine().search(words, SearchOptions(ranking="lexical", correct=False))
        assert [hit.chunk.text for hit in answer.hits] == ["Nodes talk over topics."]
    corrected = workspace.engine().search("midleware", SearchOptions(ranking="lexical"))
    assert corrected.searched_for == "middleware"
    summary = sync(workspace, described, SERVICES, ACTIONS, JOINTS)
    assert (summary.pages_unchanged, embedded(workspace)) == (4, embedded_before + 2)
    sync(workspace, *BOOK)
    assert not workspace.engine().search("middleware", SearchOptions(ranking="lexical")).hits


def test_inserted_text_moves_positions_without_embedding(workspace: Workspace) -> None:
    first = page("topics", {"A": "Alpha text.", "B": "Beta text."})
    sync(workspace, first, SERVICES)
    embedded_before = embedded(workspace)
    sync(workspace, page("topics", {"New": "New text.", "A": "Alpha text.", "B": "Beta text."}), SERVICES)
    assert embedded(workspace) == embedded_before + 2
    points, rows, _ = contents(workspace)
    assert points == rows
    assert {c.text: c.position for c in points if c.slug == "topics"} == {
        "New text.": 0,
        "Alpha text.": 1,
        "Beta text.": 2,
    }


def test_unchanged_chunk_keeps_its_creation_time(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(workspace, TOPICS)
    before = {c.chunk_id: c.created_at for c in readable_chunks(workspace.index().scan())}
    monkeypatch.setattr(planning, "utc_now", lambda: "2031-01-01T00:00:00Z")
    sync(workspace, page("topics", {"": "Nodes talk over topics.", "QoS": "Changed."}))
    after = {c.chunk_id: c.created_at for c in readable_chunks(workspace.index().scan())}
    unchanged = before.keys() & after.keys()
    assert len(unchanged) == 1
    assert all(before[chunk_id] == after[chunk_id] for chunk_id in unchanged)
    assert {after[chunk_id] for chunk_id in after.keys() - unchanged} == {"2031-01-01T00:00:00Z"}


def test_sync_deletes_a_removed_page_with_its_chunks(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    summary = sync(workspace, TOPICS, SERVICES, ACTIONS)
    assert (summary.pages_removed, summary.chunks_removed) == (1, 2)
    points, rows, _ = contents(workspace)
    assert points == rows
    assert {c.slug for c in points} == {"topics", "services", "actions"}


def test_sync_refuses_to_remove_more_than_a_quarter(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    before = contents(workspace)
    with pytest.raises(SyncRefused, match=r"2 of the 4 indexed pages.*--allow-shrink"):
        sync(workspace, TOPICS, SERVICES, page("new", {"": "New."}))
    assert contents(workspace) == before
    sync(workspace, TOPICS, SERVICES, allow_shrink=True)
    assert {c.slug for c in contents(workspace)[0]} == {"topics", "services"}


def test_sync_refuses_pages_that_lost_most_of_their_text(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    before = contents(workspace)
    missing = [replace(page(p.slug, {"": f"Not found {n}."}), url=p.url) for n, p in enumerate(BOOK)]
    with pytest.raises(SyncRefused, match=r"3 of the 4 indexed pages.*most of their text.*--allow-shrink"):
        sync(workspace, *missing[:3], JOINTS)
    assert contents(workspace) == before
    assert sync(workspace, *missing[:2], ACTIONS, JOINTS).pages_changed == 2  # half of them are not most
    assert sync(workspace, *missing, allow_shrink=True).pages_changed == 2


def test_removed_pages_count_among_those_that_lost_their_text(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    missing = [page(p.slug, {"": f"Not found {n}."}) for n, p in enumerate(BOOK)]
    with pytest.raises(SyncRefused, match="3 of the 4 indexed pages"):
        sync(workspace, *missing[:2], ACTIONS)


def test_only_page_of_a_source_may_be_rewritten(workspace: Workspace) -> None:
    sync(workspace, TOPICS)
    assert sync(workspace, page("topics", {"": "All of it was written anew."})).pages_changed == 1


def test_pages_whose_text_moved_or_grew_have_not_lost_it(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    grown = [
        page(p.slug, {"News": "A paragraph above.", "Text": p.text.replace("#", ""), "End": "And one below."})
        for p in BOOK
    ]
    assert sync(workspace, *grown).pages_changed == 4


def test_unreadable_page_stays_indexed(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    before = contents(workspace)
    broken = [Unreadable(p.source_path, "bad UTF-8") for p in (SERVICES, ACTIONS, JOINTS)]
    summary = sync(workspace, TOPICS, *broken)
    assert summary.pages_removed == 0
    assert len(summary.unreadable) == 3
    assert contents(workspace) == before


def test_unidentified_unreadable_page_prevents_all_removals(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    before = contents(workspace)
    unreadable = Unreadable("corpus.jsonl:4", "not JSON", path_identifies_page=False)
    sync(workspace, TOPICS, SERVICES, ACTIONS, unreadable)
    assert contents(workspace) == before


@pytest.mark.parametrize("text", ["a \0 b", "half \ud800 pair"])
def test_page_that_no_store_accepts_does_not_stop_the_sync(workspace: Workspace, text: str) -> None:
    bad = [page("bad", {"": text}), page("worse", {"": "Fine."}, title=text)]
    summary = sync(workspace, TOPICS, *bad, SERVICES)
    assert [problem.source_path for problem in summary.unreadable] == ["docs/bad.md", "docs/worse.md"]
    assert {c.slug for c in contents(workspace)[0]} == {"topics", "services"}


def test_page_of_another_source_is_unreadable(workspace: Workspace) -> None:
    sync(workspace, TOPICS, SERVICES, name="one")
    summary = sync(workspace, TOPICS, ACTIONS, name="two")
    assert [problem.source_path for problem in summary.unreadable] == [TOPICS.source_path]
    assert "source one" in summary.unreadable[0].reason
    assert sync(workspace, TOPICS, SERVICES, name="one").pages_unchanged == 2


def test_retitled_page_has_changed_chunks_not_added_ones(workspace: Workspace) -> None:
    sync(workspace, TOPICS)
    again = page("topics", {"": "Nodes talk over topics.", "QoS": "Reliable or best effort."}, title="New")
    summary = sync(workspace, again)
    assert (summary.chunks_added, summary.chunks_changed, summary.chunks_removed) == (0, 2, 0)


def test_sync_of_a_source_keeps_pages_of_others(workspace: Workspace) -> None:
    sync(workspace, TOPICS, SERVICES, name="one")
    sync(workspace, ACTIONS, JOINTS, name="two")
    sync(workspace, TOPICS, SERVICES, name="one")
    assert {c.slug for c in contents(workspace)[0]} == {"topics", "services", "actions", "joints"}


def test_page_without_text_is_indexed_without_chunks(workspace: Workspace) -> None:
    sync(workspace, page("empty", {}), TOPICS)
    summary = sync(workspace, page("empty", {}), TOPICS)
    assert summary.pages_unchanged == 2


def test_sync_keeps_what_an_interrupted_first_sync_of_another_source_wrote(workspace: Workspace) -> None:
    sync(workspace, TOPICS, name="one")
    assert interrupt_sync(workspace, InMemorySource(SERVICES, ACTIONS, name="two"), 12)
    assert workspace.index().count() == 4
    sync(workspace, TOPICS, name="one")
    before = embedded(workspace)
    sync(workspace, SERVICES, ACTIONS, name="two")
    assert embedded(workspace) == before
    assert contents(workspace)[2] == []


def test_remove_deletes_what_an_interrupted_first_sync_of_the_source_wrote(workspace: Workspace) -> None:
    sync(workspace, TOPICS, name="one")
    assert interrupt_sync(workspace, InMemorySource(SERVICES, ACTIONS, name="two"), 12)
    assert workspace.create_indexer(NoProgress()).remove("two") == 0
    points, rows, pending = contents(workspace)
    assert (points, pending) == (rows, [])


class Interrupted(Exception):
    """Ends a run."""


def interrupt_sync(workspace: Workspace, source: InMemorySource, calls: int) -> bool:
    """Run a sync that is interrupted after some calls of its stores; return whether it was."""
    indexer = workspace.create_indexer(NoProgress())
    plan = indexer.plan(source)
    remaining = calls

    class Fragile:
        def __init__(self, inner: object) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> object:
            nonlocal remaining
            remaining -= 1
            if remaining < 0:
                raise Interrupted
            return getattr(self._inner, name)

    fragile = Indexer(
        indexer.embedder,
        Fragile(indexer.index),  # type: ignore[arg-type]
        Fragile(indexer.catalog),  # type: ignore[arg-type]
        indexer.chunk_tokens,
    )
    try:
        fragile.apply(plan)
    except Interrupted:
        return True
    return False


EDITED = page("topics", {"": "Nodes talk over topics.", "QoS": "Reliable.", "Late": "Late joiners."})


@pytest.mark.parametrize("calls", range(21))
def test_next_sync_completes_an_interrupted_one(workspace: Workspace, calls: int) -> None:
    sync(workspace, *BOOK)
    target = InMemorySource(EDITED, SERVICES, ACTIONS, page("new", {"": "A new page."}), name="book")
    interrupted = interrupt_sync(workspace, target, calls)
    sync(workspace, *target.pages)
    points, rows, pending = contents(workspace)
    assert points == rows
    assert pending == []
    assert {c.slug for c in points} == {"topics", "services", "actions", "new"}
    assert interrupted or calls > 15


@pytest.mark.parametrize("calls", range(21))
def test_sync_after_an_interruption_restores_the_old_pages(workspace: Workspace, calls: int) -> None:
    sync(workspace, *BOOK)
    before = contents(workspace)
    interrupted = interrupt_sync(
        workspace, InMemorySource(EDITED, *BOOK[1:], page("new", {"": "New."}), name="book"), calls
    )
    sync(workspace, *BOOK, allow_shrink=True)
    assert contents(workspace) == before
    assert interrupted or calls > 7


def test_page_that_returns_after_an_interrupted_deletion_has_its_words(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The embedded index empties points before it deletes them."""
    sync(workspace, *BOOK)
    points = [point_id(chunk.chunk_id) for chunk in contents(workspace)[0]]
    words = workspace.writable_index().word_weights(points)

    def interrupt(*_: object) -> None:
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(qdrant_edge.UpdateOperation, "delete_points_by_filter", interrupt)
        with pytest.raises(Interrupted):
            sync(workspace, *BOOK[1:], allow_shrink=True)
    sync(workspace, *BOOK)
    assert workspace.writable_index().word_weights(points) == words
    assert all(words.values())


def test_sync_reuses_vectors_of_an_interrupted_run(workspace: Workspace) -> None:
    sync(workspace, TOPICS)
    embedded_before = embedded(workspace)
    target = InMemorySource(TOPICS, SERVICES, name="book")
    # Interrupted at the commit, after the vectors are in the index.
    assert interrupt_sync(workspace, target, 10)
    assert embedded(workspace) == embedded_before + 2
    sync(workspace, *target.pages)
    assert embedded(workspace) == embedded_before + 2


def test_search_finds_a_synced_chunk(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    answer = workspace.engine().search("service request", SearchOptions(ranking="hybrid"))
    assert answer.hits[0].chunk.slug == "services"


def test_plan_counts_chunks_to_embed(workspace: Workspace) -> None:
    plan = workspace.create_indexer(NoProgress()).plan(InMemorySource(*BOOK, name="book"))
    assert plan.chunks_to_embed == 6
