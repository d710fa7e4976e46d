"""Haystack: a pipeline of both in-memory retrievers and DocumentJoiner (reciprocal rank fusion)."""

from __future__ import annotations

from collections.abc import Sequence

from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from peers import protocol


class HaystackPeer:
    packages = ("haystack-ai",)

    def __init__(self, task: protocol.Task) -> None:
        self._task = task

    def build(self) -> None:
        self._store = InMemoryDocumentStore(embedding_similarity_function="cosine")
        self.refresh()
        pipeline = Pipeline()
        pipeline.add_component("words", InMemoryBM25Retriever(self._store, top_k=self._task.candidates))
        pipeline.add_component(
            "vectors", InMemoryEmbeddingRetriever(self._store, top_k=self._task.candidates)
        )
        pipeline.add_component(
            "joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=self._task.limit)
        )
        pipeline.connect("words", "joiner")
        pipeline.connect("vectors", "joiner")
        self._pipeline = pipeline

    def refresh(self) -> None:
        """Write with the policy that skips known documents."""
        documents = [
            Document(id=document.id, content=document.text, embedding=vector)
            for document, vector in zip(
                self._task.documents, self._task.document_vectors.tolist(), strict=True
            )
        ]
        self._store.write_documents(documents, policy=DuplicatePolicy.SKIP)

    def search(self, text: str, vector: protocol.Vector) -> Sequence[str]:
        answer = self._pipeline.run(
            {"words": {"query": text}, "vectors": {"query_embedding": vector.tolist()}}
        )
        return [document.id for document in answer["joiner"]["documents"]]


if __name__ == "__main__":
    protocol.main(HaystackPeer)
