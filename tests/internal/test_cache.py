"""The cache of answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pertinent._internal.cache import VersionedCache
from pertinent._internal.progress import NoProgress
from pertinent.settings import Settings
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import SearchOptions
from pertinent.workspace.workspace import Workspace


def test_cache_evicts_the_least_recently_used_value() -> None:
    cache: VersionedCache[int] = VersionedCache(2)
    for key in "abc":
        cache.put(key, ord(key), version=1)
    assert cache.get("a", version=1) is None
    assert cache.get("b", version=1) == ord("b")
    cache.put("d", 4, version=1)
    assert cache.get("c", version=1) is None
    assert cache.get("b", version=1) == ord("b")


def test_cache_of_size_0_is_empty() -> None:
    cache: VersionedCache[int] = VersionedCache(0)
    cache.put("a", 1)
    assert cache.get("a") is None


def test_cache_evicts_the_least_recently_used_values_until_the_others_fit() -> None:
    cache: VersionedCache[str] = VersionedCache(10, max_bytes=5, count_bytes=len)
    for value in ("aa", "bb", "ccc"):
        cache.put(value[0], value)
    assert [cache.get(key) for key in "abc"] == [None, "bb", "ccc"]
    cache.put("c", "c")
    cache.put("d", "dd")
    assert [cache.get(key) for key in "bcd"] == ["bb", "c", "dd"]
    cache.put("d", "too large")
    assert [cache.get(key) for key in "bcd"] == ["bb", "c", None]
    cache.put("e", "eeeee", version=2)
    assert cache.get("e", version=2) == "eeeee"


KEYS = st.integers(0, 6)
VERSIONS = st.integers(1, 2)


@given(
    size=st.integers(1, 4), steps=st.lists(st.tuples(VERSIONS, KEYS, st.none() | st.integers()), max_size=40)
)
def test_cache_behaves_as_a_list_of_pairs(size: int, steps: list[tuple[int, int, int | None]]) -> None:
    cache: VersionedCache[int] = VersionedCache(size)
    current = 0
    pairs: list[tuple[int, int]] = []  # the one used last is at the end
    for version, key, value in steps:
        if value is None:
            expected = dict(pairs).get(key) if version == current else None
            assert cache.get(key, version) == expected
            if expected is not None:
                pairs = [*(pair for pair in pairs if pair[0] != key), (key, expected)]
        else:
            if version != current:
                current, pairs = version, []
            cache.put(key, value, version)
            pairs = [*(pair for pair in pairs if pair[0] != key), (key, value)][-size:]


def test_repeated_query_is_cached_until_the_index_changes(workspace: Workspace) -> None:
    caching = Workspace(Settings(**(workspace.settings.model_dump() | {"query_cache": 10})))
    options = SearchOptions()
    try:
        indexer = caching.create_indexer(NoProgress())
        indexer.apply(indexer.plan(InMemorySource(page("one", {"": "Robots walk."}))))
        engine = caching.engine()
        first = engine.search("robots", options)
        assert not first.cached
        repeated = engine.search("robots", options)
        assert repeated.cached
        assert repeated.hits == first.hits
        assert list(repeated.timings) == list(first.timings)
        assert not engine.search("robots", SearchOptions(bypass_cache=True)).cached
        assert engine.cached_answer("robots", SearchOptions(top_k=2)) is None
        pages = [page("one", {"": "Robots walk."}, title="Walking"), page("two", {"": "Robots run."})]
        indexer.apply(indexer.plan(InMemorySource(*pages)))
        assert engine.cached_answer("robots", options) is None
        assert {hit.chunk.title for hit in engine.search("robots", options).hits} == {"Walking", "two"}
        indexer.apply(indexer.plan(InMemorySource(pages[0])), allow_shrink=True)
        assert [hit.chunk.title for hit in engine.search("robots", options).hits] == ["Walking"]
    finally:
        caching.close()
