"""One search at 10,000 chunks: what Pertinent adds to embedding the query and asking the index."""

from __future__ import annotations

import random
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import qdrant_edge as qdrant

from pertinent._internal.progress import NoProgress
from pertinent.embedders.local import LocalEmbedder
from pertinent.ports import Vector
from pertinent.search.bm25 import Bm25
from pertinent.search.engine import Engine
from pertinent.search.ranking import CANDIDATES
from pertinent.sources import open_source
from pertinent.stores.candidates import DENSE, LEXICAL
from pertinent.stores.edge import EdgeIndex
from pertinent.surfaces.library import Pertinent
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import Page

BM25 = Bm25()
QUERIES = [
    "How do ROS 2 nodes communicate?", "What is a URDF joint?", "reliable or best effort delivery",
    "How do I keep a humanoid from falling over?", "spawn a robot into Gazebo", "costmap inflation radius",
    "action chunking in a vision-language-action policy", "IMU bias and noise model",
]  # fmt: skip


class Quick:
    """Stands in for the model while the index is filled: the vectors' values do not matter to speed."""

    name = "local:all-MiniLM-L6-v2"
    model = "all-MiniLM-L6-v2"
    dimension = 384
    max_tokens = 256

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        raise NotImplementedError

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        for _ in texts:
            vector = self._random.normal(size=384).astype(np.float32)
            yield vector / np.linalg.norm(vector)


def pages(book: Path, chunks: int) -> list[Page]:
    """Pages of the handbook's own sentences, shuffled."""
    rng = random.Random(1)
    text = " ".join(page.text for page in open_source(str(book)).read() if isinstance(page, Page))
    sentences = [sentence for sentence in text.replace("\n", " ").split(". ") if 30 < len(sentence) < 300]
    built = []
    for number in range(chunks // 20):
        body = {f"Section {n}": ". ".join(rng.sample(sentences, 6)) for n in range(20)}
        built.append(page(f"page-{number}", body))
    return built


def measure(book: Path, chunks: int = 10_000, rounds: int = 40) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, Pertinent.open(folder, query_cache=0) as opened:
        workspace = opened.workspace
        workspace._embedder = Quick()
        indexer = workspace.create_indexer(NoProgress())
        indexer.apply(indexer.plan(InMemorySource(*pages(book, chunks))))
        embedder = LocalEmbedder.load_minilm()
        workspace._embedder = embedder
        index = workspace.index()
        assert isinstance(index, EdgeIndex)
        engine = workspace.engine()
        figures: dict[str, list[float]] = {"embed_ms": [], "raw_index_ms": [], "search_ms": []}
        for text in QUERIES:
            engine.search(text)
        for _ in range(rounds):
            for text in QUERIES:
                _one(engine, embedder, index, text, figures)
        beyond = [
            total - embed - raw
            for total, embed, raw in zip(
                figures["search_ms"], figures["embed_ms"], figures["raw_index_ms"], strict=True
            )
        ]
        return {
            "chunks": index.count(),
            "searches": len(beyond),
            **{f"median_{name}": round(statistics.median(values), 3) for name, values in figures.items()},
            "median_beyond_ms": round(statistics.median(beyond), 3),
            "process_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }


def _one(
    engine: Engine, embedder: LocalEmbedder, index: EdgeIndex, text: str, figures: dict[str, list[float]]
) -> None:
    start = time.perf_counter()
    vector = embedder.embed_queries([text])[0]
    figures["embed_ms"].append((time.perf_counter() - start) * 1000)
    figures["raw_index_ms"].append(_raw(index._shard, vector, text))
    start = time.perf_counter()
    engine.search(text)
    figures["search_ms"].append((time.perf_counter() - start) * 1000)


def _raw(shard: qdrant.EdgeShard, vector: Vector, text: str) -> float:
    """The raw queries of a hybrid search, without Pertinent."""
    terms = qdrant.SparseVector(*BM25.query(text))
    start = time.perf_counter()
    queries = [
        qdrant.Query.Nearest(vector.tolist(), using=DENSE),
        qdrant.Query.Nearest(terms, using=LEXICAL),
    ]
    first = [qdrant.QueryRequest(limit=CANDIDATES, query=query, with_payload=False) for query in queries]
    candidates = shard.query_batch(qdrant.QueryBatchRequest(first))
    dense, sparse = ({point.id: point.score for point in points} for points in candidates)
    remaining = [
        qdrant.QueryRequest(
            limit=CANDIDATES,
            query=query,
            with_payload=False,
            filter=qdrant.Filter(must=[qdrant.HasIdCondition(missing)]),
        )
        for query, missing in zip(queries, (sparse.keys() - dense, dense.keys() - sparse), strict=True)
        if missing
    ]
    for points in shard.query_batch(qdrant.QueryBatchRequest(remaining)):
        _ = {point.id: point.score for point in points}
    best = [point.id for point in candidates[0][:5]]
    _ = [record.payload for record in shard.retrieve(best, True, False)]  # noqa: FBT003 - Qdrant's own
    return (time.perf_counter() - start) * 1000
