"""Cached answers: each is what a search of the present index and its words would give."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest

from pertinent._internal.progress import NoProgress
from pertinent.errors import CatalogFailure
from pertinent.search import book_words_cache
from pertinent.search.engine import Engine
from pertinent.search.notes import NO_WORDS
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import Answer, Page, SearchOptions, Vocabulary
from pertinent.workspace.workspace import Workspace

JOINTS = page("joints", {"Limits": "A revolute joint turns between limits."})
CONFIGURING = page("configuring", {"": "Configure the joint limits."})
CONFIGORA = page("configora", {"": "Configora writes the joint limits."}, title="Configora")


def search(engine: Engine, text: str) -> Answer:
    return engine.search(text, SearchOptions())


def index_pages(workspace: Workspace, *pages: Page) -> None:
    indexer = workspace.create_indexer(NoProgress())
    indexer.apply(indexer.plan(InMemorySource(JOINTS, CONFIGURING, *pages)))


def cached_engine(workspace: Workspace) -> Engine:
    return Engine(HashedWords(), workspace.index(), workspace.catalog(), cache_size=10)


def test_search_right_after_a_sync_knows_the_new_words(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book_words_cache, "CHECK_SECONDS", 3600.0)
    index_pages(workspace)
    engine = cached_engine(workspace)
    assert search(engine, "configora").searched_for == "configure"
    index_pages(workspace, CONFIGORA)
    answer = search(engine, "configora")
    assert (answer.searched_for, answer.hits[0].chunk.title) == ("configora", "Configora")
    assert search(engine, "configora").cached


@pytest.mark.parametrize("batch", [False, True])
def test_answer_made_with_old_words_is_not_cached_for_the_new_ones(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, batch: bool
) -> None:
    index_pages(workspace)
    engine = cached_engine(workspace)
    search(engine, "configora")
    may_read = threading.Event()
    read_vocabulary = workspace.catalog().vocabulary

    def read_late() -> Vocabulary:
        assert may_read.wait(10)
        return read_vocabulary()

    monkeypatch.setattr(workspace.catalog(), "vocabulary", read_late)
    monkeypatch.setattr(book_words_cache, "MAX_WAIT_SECONDS", 0.01)
    index_pages(workspace, CONFIGORA)
    if batch:
        engine.search_batch([("configora", SearchOptions())])
    assert search(engine, "configora").corrected
    monkeypatch.setattr(book_words_cache, "MAX_WAIT_SECONDS", 10.0)
    may_read.set()
    engine.load_words()
    assert search(engine, "configora").searched_for == "configora"


def test_answer_cache_discards_answers_made_with_old_words(workspace: Workspace) -> None:
    index_pages(workspace)
    engine = cached_engine(workspace)
    queries = [f"wordy{number}" for number in range(6)]
    new_pages = [page(query, {"": f"The {query} limits a joint."}) for query in queries]
    over = threading.Event()

    def search_all() -> None:
        while not over.is_set():
            for query in queries:
                search(engine, query)

    with ThreadPoolExecutor(2) as pool:
        searches = [pool.submit(search_all) for _ in range(2)]
        for count in range(1, len(new_pages) + 1):
            index_pages(workspace, *new_pages[:count])
        over.set()
        for future in searches:
            future.result()
    engine.load_words()
    fresh = Engine(HashedWords(), workspace.index(), workspace.catalog())
    for query in queries:
        answer, expected = search(engine, query), search(fresh, query)
        assert answer.searched_for == expected.searched_for == query
        assert [(hit.point_id, hit.score) for hit in answer.hits] == [
            (hit.point_id, hit.score) for hit in expected.hits
        ]


def test_unreadable_words_are_noted_and_such_answers_are_not_cached(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book_words_cache, "CHECK_SECONDS", 0.0)
    index_pages(workspace)
    engine = cached_engine(workspace)
    assert search(engine, "revolute").notes == ()
    with sqlite3.connect(workspace.settings.folder / "catalog.sqlite3") as database:
        database.execute("ALTER TABLE vocabulary RENAME TO lost")
        database.execute("UPDATE meta SET value = value + 1 WHERE key = 'vocabulary_version'")
    assert search(engine, "joint limits").notes == (NO_WORDS,)
    assert not search(engine, "joint limits").cached
    with sqlite3.connect(workspace.settings.folder / "catalog.sqlite3") as database:
        database.execute("ALTER TABLE lost RENAME TO vocabulary")
    assert search(engine, "joint limits").notes == ()


def test_words_read_last_are_used_while_the_catalog_is_silent(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book_words_cache, "CHECK_SECONDS", 0.0)
    index_pages(workspace)
    engine = cached_engine(workspace)
    expected = search(engine, "revolut").searched_for
    with monkeypatch.context() as silence:
        silence.setattr(SqlCatalog, "vocabulary_version", Mock(side_effect=CatalogFailure("silent")))
        answer = search(engine, "joint revolut")
    assert expected == "revolute"
    assert answer.searched_for == "joint revolute"
    assert answer.notes == ()
