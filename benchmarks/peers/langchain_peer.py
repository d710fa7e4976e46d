"""LangChain: EnsembleRetriever of BM25Retriever and FAISS, weights 0.5 and 0.5, in memory."""

from __future__ import annotations

from collections.abc import Sequence

import faiss
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.docstore.in_memory import InMemoryDocstore
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import InMemoryRecordManager, index

from peers import protocol


class TaskEmbeddings(Embeddings):
    def __init__(self, task: protocol.Task) -> None:
        self._stored = protocol.StoredVectors(task)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._stored.embed(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class LangChainPeer:
    packages = ("langchain-classic", "langchain-community", "langchain-core", "faiss-cpu", "rank-bm25")

    def __init__(self, task: protocol.Task) -> None:
        self._task = task
        self._embeddings = TaskEmbeddings(task)

    def build(self) -> None:
        self._records = InMemoryRecordManager("peer")
        self._records.create_schema()
        self._store = FAISS(
            self._embeddings,
            faiss.IndexFlatL2(self._task.document_vectors.shape[1]),
            InMemoryDocstore(),
            {},
        )
        self.refresh()

    def refresh(self) -> None:
        """Run `index` again, which skips known documents; the BM25 retriever is always made anew."""
        documents = [
            Document(document.text, metadata={"id": document.id, "source": document.page})
            for document in self._task.documents
        ]
        index(
            documents,
            self._records,
            self._store,
            cleanup="full",
            source_id_key="source",
            key_encoder="sha256",
        )
        words = BM25Retriever.from_documents(documents, k=self._task.candidates)
        vectors = self._store.as_retriever(search_kwargs={"k": self._task.candidates})
        self._retriever = EnsembleRetriever(retrievers=[words, vectors], weights=[0.5, 0.5], id_key="id")

    def search(self, text: str, vector: protocol.Vector) -> Sequence[str]:
        del vector  # looked up by the embedding function
        return [document.metadata["id"] for document in self._retriever.invoke(text)]


if __name__ == "__main__":
    protocol.main(LangChainPeer)
