"""LlamaIndex: QueryFusionRetriever (reciprocal rank) of a VectorStoreIndex and BM25Retriever, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import Stemmer
from llama_index.core import QueryBundle, VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import TextNode, TransformComponent
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.retrievers.bm25 import BM25Retriever

from peers import protocol


class AddVectors(TransformComponent):
    """The step of the pipeline that embeds: it sets the vectors of the task."""

    vectors: dict[str, list[float]]

    def __call__(self, nodes: Sequence[Any], **_options: Any) -> Sequence[Any]:
        for node in nodes:
            node.embedding = self.vectors[node.node_id]
        return nodes


class LlamaIndexPeer:
    packages = ("llama-index-core", "llama-index-retrievers-bm25", "bm25s")

    def __init__(self, task: protocol.Task) -> None:
        self._task = task

    def build(self) -> None:
        ids = [document.id for document in self._task.documents]
        vectors = dict(zip(ids, self._task.document_vectors.tolist(), strict=True))
        self._pipeline = IngestionPipeline(
            transformations=[AddVectors(vectors=vectors)],
            docstore=SimpleDocumentStore(),
            docstore_strategy=DocstoreStrategy.UPSERTS,
            disable_cache=True,
        )
        self._index = VectorStoreIndex(
            nodes=[], embed_model=MockEmbedding(self._task.document_vectors.shape[1])
        )
        self.refresh()

    def refresh(self) -> None:
        """Run the pipeline again, which skips known documents; the BM25 retriever is always made anew."""
        nodes = [TextNode(id_=document.id, text=document.text) for document in self._task.documents]
        new_nodes = self._pipeline.run(nodes=nodes)
        self._index.insert_nodes(list(new_nodes))
        dense = self._index.as_retriever(similarity_top_k=self._task.candidates)
        words = BM25Retriever.from_defaults(
            nodes=nodes,
            similarity_top_k=self._task.candidates,
            stemmer=Stemmer.Stemmer("english"),
            language="english",
        )
        self._retriever = QueryFusionRetriever(
            [dense, words],
            llm=MockLLM(),
            mode=FUSION_MODES.RECIPROCAL_RANK,
            num_queries=1,
            similarity_top_k=self._task.limit,
            use_async=False,
        )

    def search(self, text: str, vector: protocol.Vector) -> Sequence[str]:
        bundle = QueryBundle(text, embedding=vector.tolist())
        return [hit.node.node_id for hit in self._retriever.retrieve(bundle)]


if __name__ == "__main__":
    protocol.main(LlamaIndexPeer)
