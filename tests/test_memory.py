"""The memory of answers."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from pertinent.engine import Query
from pertinent.memory import Memory
from pertinent.progress import Silent
from pertinent.settings import Settings
from pertinent.testing.pages import Shelf, page
from pertinent.workspace import Workspace


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


class Plain:
    """The same by hand: pairs of key and value, the one used last at the end."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.version: int | None = None
        self.pairs: list[tuple[int, int]] = []

    def recall_all(self, keys: Sequence[int], version: int) -> dict[int, int]:
        if version != self.version:
            return {}
        there = dict(self.pairs)
        found = [key for key in dict.fromkeys(keys) if key in there]
        self.pairs = [pair for pair in self.pairs if pair[0] not in found]
        self.pairs += [(key, there[key]) for key in found]
        return {key: there[key] for key in found}

    def keep_all(self, values: dict[int, int], version: int) -> None:
        before = self.pairs if version == self.version else []
        self.version = version
        kept = [pair for pair in before if pair[0] not in values] + list(values.items())
        self.pairs = kept[len(kept) - min(self.size, len(kept)) :]


KEYS = st.integers(0, 6)
VERSIONS = st.integers(1, 2)
STEPS = st.lists(
    st.tuples(VERSIONS, st.lists(KEYS, max_size=4) | st.dictionaries(KEYS, st.integers(), max_size=5)),
    max_size=30,
)


@given(size=st.integers(0, 4), steps=STEPS)
def test_several_at_once_are_kept_and_recalled_as_a_plain_list_would(
    size: int, steps: list[tuple[int, list[int] | dict[int, int]]]
) -> None:
    memory: Memory[int] = Memory(size)
    plain = Plain(size)
    for version, step in steps:
        if isinstance(step, dict):
            memory.keep_all(step, version)
            plain.keep_all(step, version)
        else:
            assert memory.recall_all(step, version) == plain.recall_all(step, version)
    for version in (1, 2):
        assert memory.recall_all(range(7), version) == plain.recall_all(range(7), version)


@given(size=st.integers(0, 4), steps=st.lists(st.tuples(KEYS, st.none() | st.integers()), max_size=30))
def test_one_at_a_time_is_the_same_as_several_of_one(size: int, steps: list[tuple[int, int | None]]) -> None:
    single: Memory[int] = Memory(size)
    several: Memory[int] = Memory(size)
    for key, value in steps:
        if value is None:
            assert single.recall(key, 1) == several.recall_all([key], 1).get(key)
        else:
            single.keep(key, 1, value)
            several.keep_all({key: value}, 1)


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
