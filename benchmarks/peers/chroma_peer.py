"""Chroma: a persistent collection, searched by vectors; its hybrid search is part of Chroma Cloud only."""

from __future__ import annotations

from collections.abc import Sequence

import chromadb

from peers import protocol

BATCH = 1000


class ChromaPeer:
    packages = ("chromadb",)

    def __init__(self, task: protocol.Task) -> None:
        self._task = task

    def build(self) -> None:
        client = chromadb.PersistentClient("chroma")
        self._collection = client.create_collection("peer", configuration={"hnsw": {"space": "cosine"}})
        self.refresh()

    def refresh(self) -> None:
        """Upsert every document again: an upsert has no test for unchanged documents."""
        for start in range(0, len(self._task.documents), BATCH):
            documents = self._task.documents[start : start + BATCH]
            self._collection.upsert(
                ids=[document.id for document in documents],
                embeddings=self._task.document_vectors[start : start + BATCH],
                documents=[document.text for document in documents],
            )

    def search(self, text: str, vector: protocol.Vector) -> Sequence[str]:
        del text
        answer = self._collection.query(query_embeddings=[vector], n_results=self._task.limit)
        ids: list[str] = answer["ids"][0]
        return ids


if __name__ == "__main__":
    protocol.main(ChromaPeer)
