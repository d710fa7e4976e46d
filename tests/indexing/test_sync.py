"""Sync: the least work, no harm, and the same end whatever happens on the way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pertinent._internal.progress import Silent
from pertinent.errors import SyncRefused
from pertinent.indexing import sync as indexing
from pertinent.indexing.sync import Indexer, Plan, Summary
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import Shelf, page
from pertinent.types import Chunk, Page, SearchOptions, Unreadable, readable_chunks
from pertinent.workspace.workspace import Workspace

TOPICS = page("topics", {"": "Nodes talk over topics.", "QoS": "Reliable or best effort."})
SERVICES = page("services", {"": "A service answers a request."})
ACTIONS = page("actions", {"": "An action has a goal, feedback and a result."})
JOINTS = page("joints", {"": "A joint links two bodies.", "Limits": "Lower and upper."})
BOOK = (TOPICS, SERVICES, ACTIONS, JOINTS)


def sync(workspace: Workspace, *pages: Page | Unreadable, name: str = "book", **options: bool) -> Summary:
    indexer = workspace.indexer(Silent())
    return indexer.apply(indexer.plan(Shelf(*pages, name=name)), **options)


def contents(workspace: Workspace) -> tuple[list[Chunk], list[Chunk], list[str]]:
    """All that index and catalog hold, but for the time of writing."""
    catalog = workspace.catalog()
    rows = [chunk for record in catalog.pages() for chunk in catalog.chunks(record.document_id)]
    points = readable_chunks(workspace.index().scan())

    def timeless(chunks: object) -> list[Chunk]:
        return sorted((replace(c, created_at="") for c in chunks), key=lambda c: c.chunk_id)  # type: ignore[attr-defined]

    return timeless(points), timeless(rows), workspace.writable_catalog().pending()


def embedded(workspace: Workspace) -> int:
    embedder = workspace.embedder()
    assert isinstance(embedder, HashedWords)
    return embedder.embedded


def test_a_first_run_adds_everything(workspace: Workspace) -> None:
    summary = sync(workspace, *BOOK)
    assert (summary.pages_added, summary.chunks_added) == (4, 6)
    points, rows, pending = contents(workspace)
    assert points == rows
    assert len(points) == 6
    assert pending == []


def test_a_second_run_writes_nothing_and_embeds_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(workspace, *BOOK)
    before, made = contents(workspace), embedded(workspace)
    writes: list[str] = []
    indexer = workspace.indexer(Silent())
    for kind, names in (
        (type(indexer.index), ("put", "describe", "delete_stale_points")),
        (type(indexer.catalog), ("begin", "commit")),
    ):
        for name in names:
            monkeypatch.setattr(kind, name, lambda *_, name=name, **__: writes.append(name))
    plan = indexer.plan(Shelf(*BOOK, name="book"))
    assert plan.nothing_to_do
    summary = indexer.apply(plan)
    assert writes == []
    assert (summary.pages_unchanged, summary.chunks_kept, summary.chunks_added) == (4, 6, 0)
    assert contents(workspace) == before
    assert embedded(workspace) == made


def test_planning_writes_nothing(workspace: Workspace) -> None:
    sync(workspace, TOPICS)
    before = contents(workspace)
    plan = workspace.indexer(Silent()).plan(Shelf(*BOOK, name="book"))
    assert len(plan.changes) == 3
    assert contents(workspace) == before


def test_a_changed_page_embeds_only_its_changed_chunks(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    made = embedded(workspace)
    changed = page("topics", {"": "Nodes talk over topics.", "QoS": "Only reliable."})
    summary = sync(workspace, changed, SERVICES, ACTIONS, JOINTS)
    assert (summary.pages_changed, summary.chunks_added, summary.chunks_removed) == (1, 1, 1)
    assert embedded(workspace) == made + 1
    points, rows, _ = contents(workspace)
    assert points == rows
    texts = {chunk.text for chunk in points}
    assert "Only reliable." in texts
    assert "Reliable or best effort." not in texts


def test_text_put_in_above_moves_positions_without_embedding(workspace: Workspace) -> None:
    first = page("topics", {"A": "Alpha text.", "B": "Beta text."})
    sync(workspace, first, SERVICES)
    made = embedded(workspace)
    sync(workspace, page("topics", {"New": "New text.", "A": "Alpha text.", "B": "Beta text."}), SERVICES)
    assert embedded(workspace) == made + 1
    points, rows, _ = contents(workspace)
    assert points == rows
    assert {c.text: c.position for c in points if c.slug == "topics"} == {
        "New text.": 0,
        "Alpha text.": 1,
        "Beta text.": 2,
    }


def test_a_kept_chunk_keeps_the_time_when_it_was_stored(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(workspace, TOPICS)
    before = {c.chunk_id: c.created_at for c in readable_chunks(workspace.index().scan())}
    monkeypatch.setattr(indexing, "utc_now", lambda: "2031-01-01T00:00:00Z")
    sync(workspace, page("topics", {"": "Nodes talk over topics.", "QoS": "Changed."}))
    after = {c.chunk_id: c.created_at for c in readable_chunks(workspace.index().scan())}
    kept = before.keys() & after.keys()
    assert len(kept) == 1
    assert all(before[one] == after[one] for one in kept)
    assert {after[one] for one in after.keys() - kept} == {"2031-01-01T00:00:00Z"}


def test_a_deleted_page_goes_with_its_chunks(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    summary = sync(workspace, TOPICS, SERVICES, ACTIONS)
    assert (summary.pages_removed, summary.chunks_removed) == (1, 2)
    points, rows, _ = contents(workspace)
    assert points == rows
    assert {c.slug for c in points} == {"topics", "services", "actions"}


def test_more_than_a_quarter_gone_at_once_is_refused_and_changes_nothing(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    before = contents(workspace)
    with pytest.raises(SyncRefused, match=r"2 of the 4 pages.*--allow-shrink"):
        sync(workspace, TOPICS, SERVICES, page("new", {"": "New."}))
    assert contents(workspace) == before
    sync(workspace, TOPICS, SERVICES, allow_shrink=True)
    assert {c.slug for c in contents(workspace)[0]} == {"topics", "services"}


def test_an_unreadable_page_keeps_what_was_indexed(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    before = contents(workspace)
    broken = [Unreadable(p.source_path, "bad UTF-8") for p in (SERVICES, ACTIONS, JOINTS)]
    summary = sync(workspace, TOPICS, *broken)
    assert summary.pages_removed == 0
    assert len(summary.unreadable) == 3
    assert contents(workspace) == before


def test_an_unreadable_page_without_a_name_keeps_all_that_is_missing(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    before = contents(workspace)
    sync(workspace, TOPICS, SERVICES, ACTIONS, Unreadable("corpus.jsonl:4", "not JSON", named=False))
    assert contents(workspace) == before


@pytest.mark.parametrize("text", ["a \0 b", "half \ud800 pair"])
def test_one_page_that_can_not_be_stored_does_not_stop_the_others(workspace: Workspace, text: str) -> None:
    bad = [page("bad", {"": text}), page("worse", {"": "Fine."}, title=text)]
    summary = sync(workspace, TOPICS, *bad, SERVICES)
    assert [one.source_path for one in summary.unreadable] == ["docs/bad.md", "docs/worse.md"]
    assert {c.slug for c in contents(workspace)[0]} == {"topics", "services"}


def test_a_page_of_another_source_is_left_to_it(workspace: Workspace) -> None:
    sync(workspace, TOPICS, SERVICES, name="one")
    summary = sync(workspace, TOPICS, ACTIONS, name="two")
    assert [one.source_path for one in summary.unreadable] == [TOPICS.source_path]
    assert "source one" in summary.unreadable[0].reason
    assert sync(workspace, TOPICS, SERVICES, name="one").pages_unchanged == 2


def test_a_retitled_page_has_changed_chunks_not_new_ones(workspace: Workspace) -> None:
    sync(workspace, TOPICS)
    again = page("topics", {"": "Nodes talk over topics.", "QoS": "Reliable or best effort."}, title="New")
    summary = sync(workspace, again)
    assert (summary.chunks_added, summary.chunks_changed, summary.chunks_removed) == (0, 2, 0)


def test_two_sources_do_not_delete_each_others_pages(workspace: Workspace) -> None:
    sync(workspace, TOPICS, SERVICES, name="one")
    sync(workspace, ACTIONS, JOINTS, name="two")
    sync(workspace, TOPICS, SERVICES, name="one")
    assert {c.slug for c in contents(workspace)[0]} == {"topics", "services", "actions", "joints"}


def test_a_page_without_text_is_known_and_has_no_chunks(workspace: Workspace) -> None:
    sync(workspace, page("empty", {}), TOPICS)
    summary = sync(workspace, page("empty", {}), TOPICS)
    assert summary.pages_unchanged == 2


class Broken(Exception):
    """Stands for the moment when a run ends."""


def broken_off(workspace: Workspace, plan_of: Shelf, calls: int) -> bool:
    """Run a sync that breaks off at its n-th call of a store; whether it did."""
    indexer = workspace.indexer(Silent())
    plan = indexer.plan(plan_of)
    left = calls

    class Fragile:
        def __init__(self, inner: object) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                raise Broken
            return getattr(self._inner, name)

    fragile = Indexer(
        indexer.embedder,
        Fragile(indexer.index),  # type: ignore[arg-type]
        Fragile(indexer.catalog),  # type: ignore[arg-type]
        indexer.chunk_tokens,
    )
    try:
        fragile.apply(plan)
    except Broken:
        return True
    return False


EDITED = page("topics", {"": "Nodes talk over topics.", "QoS": "Reliable.", "Late": "Late joiners."})


@pytest.mark.parametrize("calls", range(16))
def test_a_run_broken_off_between_any_two_steps_is_finished_by_the_next(
    workspace: Workspace, calls: int
) -> None:
    sync(workspace, *BOOK)
    target = Shelf(EDITED, SERVICES, ACTIONS, page("new", {"": "A new page."}), name="book")
    broken = broken_off(workspace, target, calls)
    sync(workspace, *target.pages)
    points, rows, pending = contents(workspace)
    assert points == rows
    assert pending == []
    assert {c.slug for c in points} == {"topics", "services", "actions", "new"}
    assert broken or calls > 10


@pytest.mark.parametrize("calls", range(16))
def test_a_run_broken_off_and_then_undone_in_the_source_leaves_no_trace(
    workspace: Workspace, calls: int
) -> None:
    sync(workspace, *BOOK)
    before = contents(workspace)
    broken = broken_off(workspace, Shelf(EDITED, *BOOK[1:], page("new", {"": "New."}), name="book"), calls)
    sync(workspace, *BOOK, allow_shrink=True)
    assert contents(workspace) == before
    assert broken or calls > 7


def test_vectors_written_before_a_break_are_not_made_again(workspace: Workspace) -> None:
    sync(workspace, TOPICS)
    made = embedded(workspace)
    target = Shelf(TOPICS, SERVICES, name="book")
    # Breaks at the commit, after the vectors are in the index.
    assert broken_off(workspace, target, 5)
    assert embedded(workspace) == made + 1
    sync(workspace, *target.pages)
    assert embedded(workspace) == made + 1


def test_a_chunk_found_by_search_is_the_one_that_was_synced(workspace: Workspace) -> None:
    sync(workspace, *BOOK)
    answer = workspace.engine().search("service request", SearchOptions(ranking="hybrid"))
    assert answer.hits[0].chunk.slug == "services"


def test_the_plan_counts_what_will_be_embedded(workspace: Workspace) -> None:
    plan: Plan = workspace.indexer(Silent()).plan(Shelf(*BOOK, name="book"))
    assert plan.chunks_to_embed == 6
