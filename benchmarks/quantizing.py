"""Quantised vectors and vectors on disk on a Qdrant server: what is found, in how much memory.

Recall is against exact search over the same vectors. Memory is that of the server's process after it was
started again on what it stored and had answered every query once: what building needed does not count.
"""

from __future__ import annotations

import re
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models

import serving
from pertinent.embedders.local import LocalEmbedder
from pertinent.identity import point_id
from pertinent.ports import Entry, Fingerprint
from pertinent.search.bm25 import Bm25
from pertinent.search.ranking import CANDIDATES
from pertinent.sources import open_source
from pertinent.stores.candidates import DENSE
from pertinent.stores.qdrant.builds import QdrantBuilds
from pertinent.stores.qdrant.collection import CollectionOptions, Quantization
from pertinent.stores.qdrant.index import QdrantIndex
from pertinent.stores.qdrant.points import parse_point_id
from pertinent.stores.qdrant.server import Server
from pertinent.types import Chunk, Filters, Page

sys.path.append(str(Path(__file__).parents[1]))
from tests.servers import binary
from tests.servers.qdrant import Node, running

VECTORS = 30_000
SENTENCES = 2_000
QUERIES = 200
BEST = 10
NAME = "book"

Matrix = NDArray[np.float32]


def measure(book: Path, vectors: int = VECTORS) -> dict[str, Any]:
    embedder = LocalEmbedder.load_minilm()
    entries, stored = _passages(book, embedder, vectors)
    words = serving.make_queries(book)
    step = len(words) // QUERIES
    queries = np.stack(embedder.embed_queries(words[: QUERIES * step : step]))
    nearest = np.argsort(-(queries @ stored.T), axis=1)[:, :BEST]
    exact = [{point_id(entries[number].chunk.chunk_id) for number in row} for row in nearest]
    made_with = Fingerprint(embedder.name, embedder.dimension, "none", Bm25().settings)
    kinds: tuple[Quantization, ...] = get_args(Quantization)
    return {
        "vectors": vectors,
        "dimension": embedder.dimension,
        "queries": len(queries),
        "empty_server_mb": _empty(),
        "ways": [
            _measure_quantization(
                CollectionOptions(quantization=kind, on_disk=on_disk),
                made_with,
                entries,
                stored,
                queries,
                exact,
            )
            for kind, on_disk in product(kinds, (False, True))
        ],
    }


def _passages(book: Path, embedder: LocalEmbedder, count: int) -> tuple[list[Entry], Matrix]:
    """Passages of two of the book's sentences; the vector of one lies between those of its sentences.

    So the vectors are as unevenly spread as those of texts are, without a model's hour of work.
    """
    text = " ".join(page.text for page in open_source(str(book)).read() if isinstance(page, Page))
    split = re.split(r"(?<=[.!?])\s+", text.replace("\n", " "))
    sentences = list(dict.fromkeys(sentence for sentence in split if 30 < len(sentence) < 300))[:SENTENCES]
    vectors = np.stack(list(embedder.embed_documents(sentences)))
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, len(sentences), size=(count, 2))
    share = rng.uniform(0.5, 0.9, size=(count, 1))
    mixed = share * vectors[pairs[:, 0]] + (1 - share) * vectors[pairs[:, 1]]
    mixed += rng.normal(scale=0.01, size=mixed.shape)
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    entries = [
        _entry(number, f"{sentences[first]} {sentences[second]}")
        for number, (first, second) in enumerate(pairs)
    ]
    return entries, mixed.astype(np.float32)


def _entry(number: int, text: str) -> Entry:
    page = number // 20
    chunk = Chunk(
        chunk_id=f"chunk-{number}", document_id=f"page-{page}",
        url=f"https://book.example/docs/page-{page}", anchor="", title=f"Page {page}", section="",
        position=number % 20, start=0, end=len(text), text=text, content_hash=f"{number:064}",
        source_path=f"docs/page-{page}.md", slug=f"page-{page}", source_type="docusaurus-page",
    )  # fmt: skip
    return Entry(chunk, "book", text, f"{number}")


def _measure_quantization(
    options: CollectionOptions,
    made_with: Fingerprint,
    entries: list[Entry],
    stored: Matrix,
    queries: Matrix,
    exact: list[set[Any]],
) -> dict[str, Any]:
    """Fill a server, restart it, and query it."""
    with tempfile.TemporaryDirectory() as folder, running(binary.find(), Path(folder)) as node:
        builds = QdrantBuilds(lambda: Server(node.url, timeout=60), NAME, options)
        filling = builds.open(made_with)
        for start in range(0, len(entries), 1024):
            filling.put(entries[start : start + 1024], list(stored[start : start + 1024]))
        filling.finish()
        filling.close()
        node.stop()
        node.start()
        node.wait()
        unasked = _memory(node)
        index = builds.open(made_with)
        try:
            rankings = {limit: _rank(index, queries, limit) for limit in (CANDIDATES, BEST)}
            memory = _memory(node)
            coarse = _coarse(index, queries)
        finally:
            index.close()
        return {
            "quantization": options.quantization,
            "on_disk": options.on_disk,
            "recall_at_10": _recall(rankings[BEST], exact),
            "recall_at_10_of_a_search": _recall(rankings[CANDIDATES], exact),
            "recall_at_10_not_scored_again": _recall(coarse, exact),
            "memory_mb_before_a_query": unasked,
            "memory_mb": memory,
            "disk_mb": _on_disk(Path(folder) / "storage"),
        }


def _empty() -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder, running(binary.find(), Path(folder)) as node:
        return _memory(node)


def _rank(index: QdrantIndex, queries: Matrix, limit: int) -> list[list[Any]]:
    """The best ten of `limit` candidates."""
    return [
        index.candidates(vector, None, by=[DENSE], limit=limit, filters=Filters()).point_ids[:BEST]
        for vector in queries
    ]


def _coarse(index: QdrantIndex, queries: Matrix) -> list[list[Any]]:
    """The best ten by the small vectors alone, which Pertinent never asks for."""
    params = models.SearchParams(quantization=models.QuantizationSearchParams(rescore=False))
    rankings = []
    for vector in queries:
        answer = index._server.read(
            lambda peer, query: peer.reading.query_points(
                index._collection, query, using=DENSE, limit=BEST, search_params=params, with_payload=False
            ),
            vector.tolist(),
        )
        rankings.append([parse_point_id(point.id) for point in answer.points])
    return rankings


def _recall(rankings: list[list[Any]], exact: list[set[Any]]) -> float:
    shares = [
        len(expected.intersection(got)) / len(expected) for got, expected in zip(rankings, exact, strict=True)
    ]
    return round(float(np.mean(shares)), 4)


def _memory(node: Node) -> dict[str, int]:
    """What the process holds itself, and what it has mapped from files: that may be taken from it."""
    assert node.process is not None
    status = Path(f"/proc/{node.process.pid}/status").read_text()
    fields = {"all": "VmRSS", "own": "RssAnon", "mapped": "RssFile"}
    return {
        name: round(int(match[1]) / 1024)
        for name, key in fields.items()
        if (match := re.search(rf"{key}:\s+(\d+)", status))
    }


def _on_disk(folder: Path) -> int:
    return round(sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / 2**20)
