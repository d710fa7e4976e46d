"""The embedded index, a server and a cluster give the same hits, in the same order, with the same scores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from pertinent.identity import digest
from pertinent.ports import Entry, Fingerprint, VectorIndex
from pertinent.search.book_words import BookWords
from pertinent.search.cosine_scale import CosineScale
from pertinent.search.ranking import CANDIDATE_SIDES, rank
from pertinent.search.terms import Analyzer
from pertinent.sources import open_source
from pertinent.stores.edge import EdgeIndex
from pertinent.stores.qdrant.builds import QdrantBuilds
from pertinent.stores.qdrant.collection import CollectionOptions
from pertinent.stores.qdrant.server import Server
from pertinent.testing.index_suite import EMBEDDER, entries, fill
from pertinent.types import Filters, Page, Ranking, Vocabulary
from pertinent.validation.golden.golden_set import load_golden_file

from ..servers.fixtures import Endpoint
from ..servers.qdrant import Cluster

pytestmark = pytest.mark.xdist_group("qdrant-cluster")

BOOK = Path(__file__).parents[2] / "examples" / "handbook"
MADE_WITH = Fingerprint(EMBEDDER.name, EMBEDDER.dimension, "structure-1", "bm25")
LIMIT = 50
READ = 15
TOP = 10
CLOSE = 1e-5

QUERIES = [
    query.text
    for name in ("golden.yaml", "golden-hard.yaml")
    for query in load_golden_file(BOOK / name).queries[::8]
]
FILTERS = [
    Filters(),
    Filters(source_type="docusaurus-page", url="https://handbook.example/docs/ros2"),
    Filters(section="Pitfalls"),
]

Hits = list[tuple[float, str]]
"""Score and chunk id, in order."""
NO_WORDS = BookWords(Vocabulary({}, 0), (), Analyzer())


@pytest.fixture(scope="module")
def book_entries() -> list[Entry]:
    pages = [page for page in open_source(str(BOOK)).read() if isinstance(page, Page)]
    book_entries = entries(pages)
    assert len(book_entries) > 300
    return book_entries


@pytest.fixture(scope="module")
def indexes(
    tmp_path_factory: pytest.TempPathFactory,
    qdrant: Endpoint,
    qdrant_cluster: Cluster,
    book_entries: list[Entry],
) -> Iterator[dict[str, VectorIndex]]:
    name = f"test-parity-{digest(str(tmp_path_factory.getbasetemp()))}"
    with ExitStack() as stack:
        opened: dict[str, VectorIndex] = {
            "edge": EdgeIndex.open(tmp_path_factory.mktemp("edge"), EMBEDDER.dimension),
            "server": QdrantBuilds(qdrant.connect, name).open(MADE_WITH),
            "cluster": _on(qdrant_cluster, name, CollectionOptions(replicas=2)),
            "cluster of three shards": _on(
                qdrant_cluster, f"{name}-3", CollectionOptions(shards=3, replicas=2)
            ),
        }
        stack.callback(qdrant.sweep, name)
        for index in opened.values():
            stack.callback(index.close)
            fill(index, book_entries)
            index.finish()
        yield opened


def _on(cluster: Cluster, name: str, options: CollectionOptions) -> VectorIndex:
    return QdrantBuilds(partial(Server, cluster.urls), name, options).open(MADE_WITH)


def hits(index: VectorIndex, query: str, ranking: Ranking, filters: Filters) -> Hits:
    """The first hits as the engine orders them: by score, and by chunk id where scores are equal."""
    vector = EMBEDDER.embed_queries([query])[0]
    candidates = index.candidates(vector, query, by=CANDIDATE_SIDES[ranking], limit=LIMIT, filters=filters)
    ranked = rank(candidates, index.chunks(candidates.point_ids), ranking, query, NO_WORDS, CosineScale())
    return [(hit.score, hit.chunk.chunk_id) for hit in ranked.hits[:TOP]]


def tied(ranked: Hits) -> list[set[str]]:
    """Groups of chunks with equal scores; the last group, which may continue below the list, is left out."""
    groups: list[set[str]] = [set()]
    for (score, chunk), (next_score, _) in pairwise([*ranked, (-1.0, "")]):
        groups[-1].add(chunk)
        if score - next_score > CLOSE:
            groups.append(set())
    return groups[:-2]


@pytest.mark.parametrize("ranking", ["hybrid", "dense", "lexical"])
@pytest.mark.parametrize("filters", FILTERS, ids=["all", "part of the book", "one heading"])
def test_stores_give_the_same_hits_and_scores(
    indexes: dict[str, VectorIndex], ranking: Ranking, filters: Filters
) -> None:
    stores = [
        "server",
        "cluster",
        *(["cluster of three shards"] if ranking == "dense" else []),
    ]
    book_entries = 0
    for query in QUERIES:
        expected = hits(indexes["edge"], query, ranking, filters)
        book_entries += len(expected)
        for store in stores:
            store_hits = hits(indexes[store], query, ranking, filters)
            assert [score for score, _ in store_hits] == pytest.approx(
                [score for score, _ in expected], abs=CLOSE
            ), store
            assert tied(store_hits) == tied(expected), (store, query)
    assert book_entries > len(QUERIES)


def test_idf_is_counted_per_shard(
    indexes: dict[str, VectorIndex],
) -> None:
    """Qdrant takes a word's rarity from the shard that it searches: scores differ, hits hardly."""
    common, off = [], []
    # A blank query matches nothing: all passages have the same score, and each store lists any of them.
    for query in filter(str.strip, QUERIES):
        expected = hits(indexes["edge"], query, "hybrid", Filters())
        rankings = {
            chunk: score
            for score, chunk in hits(indexes["cluster of three shards"], query, "hybrid", Filters())
        }
        common.append(sum(chunk in rankings for _, chunk in expected) / len(expected))
        off += [abs(rankings[chunk] - score) for score, chunk in expected if chunk in rankings]
    assert 1e-4 < max(off) < 0.1
    assert sum(common) / len(common) > 0.9
