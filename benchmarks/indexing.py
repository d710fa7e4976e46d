"""Indexing: the whole pipeline against embedding alone, and a second run against the first."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from pertinent.embedders.local import LocalEmbedder
from pertinent.indexing.chunking import chunk_page, embedded_text
from pertinent.sources import open_source
from pertinent.surfaces.library import Pertinent
from pertinent.types import Page


def measure(book: Path, rounds: int = 2) -> dict[str, Any]:
    """Alternates the two, since the machine may be busy with something else."""
    embedder = LocalEmbedder.load_minilm()
    pages = [page for page in open_source(str(book)).read() if isinstance(page, Page)]
    texts = [
        embedded_text(chunk)
        for page in pages
        for chunk in chunk_page(page, embedder.count_tokens, target=200, most=embedder.max_tokens)
    ]
    alone, total, repeated = [], [], []
    for _ in range(rounds):
        alone.append(_timed(lambda: list(embedder.embed_documents(texts))))
        with tempfile.TemporaryDirectory() as folder, Pertinent.open(folder) as opened:
            opened.workspace.embedder()
            total.append(_timed(lambda: opened.index(book)))
            # The second run is timed in a process state of its own: nothing is open or warm.
            opened.close()
            with Pertinent.open(folder) as reopened:
                repeated.append(_timed(lambda: reopened.index(book)))
    return {
        "pages": len(pages),
        "chunks": len(texts),
        "embedding_alone_s": alone,
        "first_run_s": total,
        "second_run_s": repeated,
        "first_run_over_embedding": round(min(total) / min(alone), 4),
        "second_run_over_first": round(min(repeated) / min(total), 5),
    }


def _timed(work: Any) -> float:
    start = time.perf_counter()
    work()
    return round(time.perf_counter() - start, 4)
