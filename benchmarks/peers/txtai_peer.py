"""txtai: Embeddings with `hybrid=True` (BM25 and Faiss, a weighted sum of normalised scores), in memory."""

from __future__ import annotations

from collections.abc import Sequence

from txtai import Embeddings

from peers import protocol


class TxtaiPeer:
    packages = ("txtai", "torch", "transformers", "faiss-cpu")

    def __init__(self, task: protocol.Task) -> None:
        self._task = task
        self._stored = protocol.StoredVectors(task)

    def build(self) -> None:
        def transform(texts: Sequence[str]) -> protocol.Matrix:
            """Look vectors up; txtai takes a plain function, but no method."""
            return self._stored.embed(texts)

        self._embeddings = Embeddings(hybrid=True, method="external", transform=transform)
        self._embeddings.index((document.id, document.text, None) for document in self._task.documents)

    def refresh(self) -> None:
        """Upsert every document again: txtai has no test for unchanged documents."""
        self._embeddings.upsert((document.id, document.text, None) for document in self._task.documents)

    def search(self, text: str, vector: protocol.Vector) -> Sequence[str]:
        del vector  # looked up by the embedding function
        return [identifier for identifier, _score in self._embeddings.search(text, self._task.limit)]


if __name__ == "__main__":
    protocol.main(TxtaiPeer)
