"""Pertinent with its default settings, on disk; the caches of queries and answers are off.

It reads the source itself, so its times include parsing and chunking, which the others are spared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from peers import protocol
from pertinent import Pertinent
from pertinent.indexing.sync import SyncSummary
from pertinent.ports import Embedder, Vector


class TaskEmbedder:
    """The vectors of a task instead of a model; tokens are counted by the model's own tokenizer."""

    def __init__(self, task: protocol.Task, inner: Embedder) -> None:
        self.name, self.model = inner.name, inner.model
        self.dimension, self.max_tokens = inner.dimension, inner.max_tokens
        self.count_tokens = inner.count_tokens
        texts = json.loads((task.folder / "texts.json").read_text(encoding="utf-8"))
        self._vectors = dict(zip(texts, np.load(task.folder / "texts.npy"), strict=True))

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vectors[text] for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        return (self._vectors[text] for text in texts)


class PertinentPeer:
    packages = ("pertinent", "qdrant-edge-py")

    def __init__(self, task: protocol.Task) -> None:
        self._task = task
        settings = json.loads((task.folder / "task.json").read_text(encoding="utf-8"))["settings"]
        self._pertinent = Pertinent.open("data", query_cache=0, **settings)
        workspace = self._pertinent.workspace
        workspace._embedder = TaskEmbedder(task, workspace.create_embedder())

    def build(self) -> None:
        self.sync()

    def refresh(self) -> None:
        """Sync the source again, which finds nothing changed."""
        self.sync()

    def sync(self) -> SyncSummary:
        return self._pertinent.index(self._task.source)

    def search(self, text: str, vector: protocol.Vector) -> Sequence[str]:
        del vector  # a corrected query has another one
        return [hit.chunk.chunk_id for hit in self._pertinent.search(text, top_k=self._task.limit).hits]


if __name__ == "__main__":
    protocol.main(PertinentPeer)
