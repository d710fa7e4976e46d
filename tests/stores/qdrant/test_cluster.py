"""The index on a cluster of three peers: the suite of every index, and peers that die and come back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from pertinent.errors import IndexFailure
from pertinent.indexing.sync import Indexer
from pertinent.ports import Fingerprint, VectorIndex
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.stores.qdrant.builds import QdrantBuilds
from pertinent.stores.qdrant.collection import CollectionOptions
from pertinent.stores.qdrant.index import QdrantIndex
from pertinent.stores.qdrant.server import Server
from pertinent.testing.index_suite import EMBEDDER, IndexSuite, by_point, fill
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import Filters

from ...servers.qdrant import Cluster, Node

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("qdrant-cluster")]

MADE_WITH = Fingerprint(EMBEDDER.name, EMBEDDER.dimension, "structure-1", "bm25")
SPREAD = CollectionOptions(shards=3, replicas=2)
TIMEOUT = 10.0


def opened(urls: str, name: str) -> QdrantIndex:
    return QdrantBuilds(partial(Server, urls, timeout=TIMEOUT), name, SPREAD).open(MADE_WITH)


class TestCluster(IndexSuite):
    """A cluster is an index."""

    @pytest.fixture
    def index(self, qdrant_cluster: Cluster, collection: str) -> Iterator[VectorIndex]:
        index = opened(qdrant_cluster.urls, collection)
        yield index
        index.close()


def test_each_shard_is_at_two_peers(qdrant_cluster: Cluster, collection: str) -> None:
    opened(qdrant_cluster.urls, collection).close()
    peers = [node.get(f"/collections/{collection}_001/cluster") for node in qdrant_cluster.nodes]
    assert {peer["shard_count"] for peer in peers} == {3}
    assert sorted(shard["shard_id"] for peer in peers for shard in peer["local_shards"]) == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("is_first", [True, False], ids=["the peer that is asked", "another peer"])
def test_searches_go_on_when_a_peer_dies(fragile_cluster: Cluster, collection: str, is_first: bool) -> None:
    index = opened(fragile_cluster.urls, collection)
    fill(index)
    index.finish()
    vector = EMBEDDER.embed_queries(["messages over topics"])[0]
    stop = threading.Event()

    def search() -> tuple[set[object], float]:
        began = time.monotonic()
        candidates = index.candidates(
            vector, "messages", by=["dense", "lexical"], limit=50, filters=Filters()
        )
        assert index.chunks(candidates.point_ids).keys() == set(candidates.point_ids)
        return set(by_point(candidates)), time.monotonic() - began

    def keep_searching(_: int) -> list[tuple[set[object], float]]:
        answers = []
        while not stop.is_set():
            answers.append(search())
        return answers

    expected, _ = search()
    first, *peers = fragile_cluster.nodes
    with ThreadPoolExecutor(4) as pool:
        searches = pool.map(keep_searching, range(4))
        time.sleep(0.5)
        (first if is_first else peers[0]).kill()
        time.sleep(3)
        stop.set()
        answers = [answer for batch in searches for answer in batch]
    assert len(answers) > 20
    assert all(points == expected for points, _ in answers)
    assert max(seconds for _, seconds in answers) < TIMEOUT
    index.close()


PAGES = [
    page(
        f"part-{number}",
        {
            f"Section {part}": f"Passage {part} of {number} tells of joint {number * part}."
            for part in range(4)
        },
    )
    for number in range(60)
]


class Killer:
    """Kills a peer in the middle of an indexing run."""

    def __init__(self, victim: Node, steps_left: int) -> None:
        self.victim = victim
        self.left = steps_left

    def stage(self, name: str, total: int | None) -> None: ...

    def waiting(self, message: str) -> None: ...

    def advance(self, steps: int = 1) -> None:
        self.left -= steps if self.left else 0
        if self.left == 1:
            self.victim.kill()


@pytest.mark.parametrize("victim", [0, 1], ids=["the peer that is asked", "another peer"])
def test_nothing_is_lost_when_a_peer_dies_while_indexing(
    fragile_cluster: Cluster, collection: str, tmp_path: Path, victim: int
) -> None:
    cluster = fragile_cluster
    index = opened(cluster.urls, collection)
    catalog = SqlCatalog.open(f"sqlite:///{tmp_path}/catalog.sqlite3")
    dying = cluster.nodes[victim]
    run(Indexer(lambda: EMBEDDER, index, catalog, 60), InMemorySource(*PAGES[:20]))
    # What the dead peer does not hear of: new pages, and the removal of old ones.
    run(
        Indexer(lambda: EMBEDDER, index, catalog, 60, Killer(dying, steps_left=120)),
        InMemorySource(*PAGES[5:]),
    )
    expected = {chunk.chunk_id: chunk for page in PAGES[5:] for chunk in catalog.chunks(page.document_id)}
    assert len(expected) > 200
    assert {chunk.chunk_id: chunk for chunk in index.scan()} == expected

    dying.start()
    dying.wait()
    cluster.wait_until_whole(f"{collection}_001")
    # With another peer gone, a third of what there is can be had from the one that came back alone.
    cluster.nodes[2].kill()
    for node in (dying, *(node for node in cluster.nodes[:2] if node is not dying)):
        with Server(node.url, timeout=TIMEOUT) as server:
            alone = QdrantIndex(server, f"{collection}_001", MADE_WITH)
            assert alone.count() == len(expected)
            assert {chunk.chunk_id: chunk for chunk in alone.scan()} == expected
    catalog.close()
    index.close()


def run(indexer: Indexer, source: InMemorySource) -> None:
    """Sync the source; what was broken off is finished by running again."""
    for _ in range(3):
        try:
            indexer.apply(indexer.plan(source))
        except IndexFailure:
            continue
        return
    pytest.fail("the sync did not end")
