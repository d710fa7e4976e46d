"""The memory of answers."""

from __future__ import annotations

from pertinent.build import Workspace
from pertinent.engine import Query
from pertinent.indexing import Silent
from pertinent.memory import Memory
from pertinent.settings import Settings
from pertinent.testing.pages import Shelf, page


def test_what_was_used_last_is_kept() -> None:
    memory: Memory[int] = Memory(2)
    for key in "abc":
        memory.keep(key, 1, ord(key))
    assert memory.recall("a", 1) is None
    assert memory.recall("b", 1) == ord("b")
    memory.keep("d", 1, 4)
    assert memory.recall("c", 1) is None
    assert memory.recall("b", 1) == ord("b")


def test_another_version_forgets_all() -> None:
    memory: Memory[int] = Memory(2)
    memory.keep("a", 1, 1)
    assert memory.recall("a", 2) is None
    memory.keep("b", 2, 2)
    assert memory.recall("a", 1) is None


def test_nothing_is_kept_where_the_size_is_0() -> None:
    memory: Memory[int] = Memory(0)
    memory.keep("a", 1, 1)
    assert memory.recall("a", 1) is None


def test_a_repeated_query_is_answered_the_same_until_the_index_changes(workspace: Workspace) -> None:
    settings = Settings(**(workspace.settings.model_dump() | {"query_cache": 10}))
    remembering = Workspace(settings)
    try:
        indexer = remembering.indexer(Silent())
        indexer.apply(indexer.plan(Shelf(page("one", {"": "Robots walk."}))))
        engine = remembering.engine()
        first = engine.search(Query("robots"))
        assert engine.recall(Query("robots")) is not None
        assert engine.search(Query("robots")).hits == first.hits
        assert list(engine.search(Query("robots")).timings) == list(first.timings)
        assert engine.recall(Query("robots", top_k=2)) is None
        more = [page("one", {"": "Robots walk."}), page("two", {"": "Robots run."})]
        indexer.apply(indexer.plan(Shelf(*more)))
        assert engine.recall(Query("robots")) is None
        assert len(engine.search(Query("robots")).hits) == 2
    finally:
        remembering.close()
