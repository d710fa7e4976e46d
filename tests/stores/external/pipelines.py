"""Other people's pipelines: each fills a collection with the same small book, as it really does it.

LangChain, LlamaIndex and Haystack are the real packages; the five seeds are points written by hand,
with an unnamed vector, as their pages say.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from qdrant_client import QdrantClient, models

from pertinent.identity import content_hash
from pertinent.testing.embedder import HashedWords

EMBEDDER = HashedWords()
SITE = "https://book.example/docs"
WHEN = "2025-12-15T10:00:00Z"

PAGES: dict[str, tuple[str, list[str]]] = {
    "topics": (
        "Topics",
        [
            "Nodes exchange messages over topics.",
            "Reliable delivery resends lost messages; best effort does not.",
            "A publisher sends messages on a topic at a steady rate.",
        ],
    ),
    "services": (
        "Services",
        [
            "A service answers one request with one response.",
            "A client sends a request and waits for the response of the server.",
        ],
    ),
    "guide/joints": ("Joints", ["A revolute joint turns between a lower and an upper limit."]),
}


class Passage(NamedTuple):
    slug: str
    title: str
    position: int
    text: str

    @property
    def url(self) -> str:
        return f"{SITE}/{self.slug}"

    @property
    def start(self) -> int:
        """Where it begins in its page, paragraphs being one empty line apart."""
        return sum(len(text) + 2 for text in PAGES[self.slug][1][: self.position])


PASSAGES = [
    Passage(slug, title, position, text)
    for slug, (title, texts) in PAGES.items()
    for position, text in enumerate(texts)
]

Fill = Callable[[QdrantClient, str], None]


def vector(text: str) -> list[float]:
    return [float(embed_query) for embed_query in EMBEDDER.embed_queries([text])[0]]


def write(client: QdrantClient, name: str, payloads: Sequence[dict[str, Any]], texts: Sequence[str]) -> None:
    """Points by hand: one unnamed vector, and numbers for ids."""
    params = models.VectorParams(size=EMBEDDER.dimension, distance=models.Distance.COSINE)
    client.create_collection(name, params)
    points = [
        models.PointStruct(id=number, vector=vector(text), payload=payload)
        for number, (payload, text) in enumerate(zip(payloads, texts, strict=True), start=1)
    ]
    if points:
        client.upsert(name, points, wait=True)


def by_hand(payload: Callable[[Passage], dict[str, Any]]) -> Fill:
    def fill(client: QdrantClient, name: str) -> None:
        write(client, name, [*map(payload, PASSAGES)], [passage.text for passage in PASSAGES])

    return fill


def _seed_000(passage: Passage) -> dict[str, Any]:
    return {
        "content": passage.text, "url": passage.url, "title": passage.title,
        "chunk_index": passage.position, "timestamp": WHEN, "content_hash": content_hash(passage.text),
    }  # fmt: skip


def _seed_001(passage: Passage) -> dict[str, Any]:
    return {
        "content": passage.text, "url": passage.url, "position": passage.position,
        "chunk_id": f"{passage.slug}-{passage.position}", "created_at": WHEN,
    }  # fmt: skip


def _seed_002(passage: Passage) -> dict[str, Any]:
    return {
        "text": passage.text, "url": passage.url, "chunk_id": f"{passage.slug}-{passage.position}",
        "position": passage.position, "title": passage.title, "content_hash": content_hash(passage.text),
    }  # fmt: skip


def _seed_003(passage: Passage) -> dict[str, Any]:
    return {
        "chunk_id": f"doc-{passage.slug}-{passage.position + 1:04}", "text": passage.text,
        "source_path": f"docs/{passage.slug}.md", "slug": passage.slug.replace("/", "-"),
        "title": passage.title, "order_index": passage.position + 1,
    }  # fmt: skip


def _seed_004(passage: Passage) -> dict[str, Any]:
    chunk_id = f"{passage.slug}-{passage.position}"
    return {
        "content": passage.text,
        "chunk_id": chunk_id,
        "position": passage.position,
        "metadata": {
            "url": passage.url, "section": f"Part {passage.position + 1}", "chunk_id": chunk_id,
            "document_id": passage.slug, "document_title": passage.title, "source_type": "docusaurus-page",
        },
    }  # fmt: skip


@contextmanager
def _quiet() -> Iterator[None]:
    """Their imports warn of their own matters, and one of them would report its use."""
    os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def place(client: QdrantClient) -> dict[str, Any]:
    """Where the client's server is, as those ask for it that connect themselves."""
    return {"url": client.init_options["url"], "api_key": client.init_options["api_key"]}


def langchain(client: QdrantClient, name: str) -> None:
    """`langchain-qdrant`, as its guide has it, with where each chunk began."""
    with _quiet():
        from langchain_core.documents import Document
        from langchain_qdrant import QdrantVectorStore

        documents = [
            Document(
                passage.text,
                metadata={"source": passage.url, "title": passage.title, "start_index": passage.start},
            )
            for passage in PASSAGES
        ]
        QdrantVectorStore.from_documents(
            documents, _langchain_embeddings(), collection_name=name, **place(client)
        )


def langchain_hybrid(client: QdrantClient, name: str) -> None:
    """The same with a sparse vector of LangChain's, and files for sources."""
    with _quiet():
        from langchain_core.documents import Document
        from langchain_qdrant import QdrantVectorStore, RetrievalMode, SparseEmbeddings, SparseVector

        class Sparse(SparseEmbeddings):
            def embed_documents(self, texts: list[str]) -> list[SparseVector]:
                return [self.embed_query(text) for text in texts]

            def embed_query(self, text: str) -> SparseVector:
                return SparseVector(indices=[len(text)], values=[1.0])

        documents = [
            Document(
                passage.text, metadata={"source": f"docs/{passage.slug}.md", "chunk_index": passage.position}
            )
            for passage in PASSAGES
        ]
        QdrantVectorStore.from_documents(
            documents, _langchain_embeddings(), sparse_embedding=Sparse(),
            retrieval_mode=RetrievalMode.HYBRID, vector_name="meaning", collection_name=name,
            **place(client),
        )  # fmt: skip


def _langchain_embeddings() -> Any:
    from langchain_core.embeddings import Embeddings

    class Hashed(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [vector(text) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return vector(text)

    return Hashed()


def llama_index(client: QdrantClient, name: str) -> None:
    """`llama-index-vector-stores-qdrant`: documents, nodes that refer to them, and the store's own `add`."""
    with _quiet():
        from llama_index.core.schema import BaseNode, Document, NodeRelationship, TextNode
        from llama_index.vector_stores.qdrant import QdrantVectorStore

        documents = {
            slug: Document(text="\n\n".join(texts), metadata={"url": f"{SITE}/{slug}", "title": title})
            for slug, (title, texts) in PAGES.items()
        }
        nodes: list[BaseNode] = [
            TextNode(
                text=passage.text,
                id_=str(uuid5(UUID(int=0), f"{passage.slug} {passage.position}")),
                metadata=dict(documents[passage.slug].metadata),
                relationships={NodeRelationship.SOURCE: documents[passage.slug].as_related_node_info()},
                start_char_idx=passage.start,
                end_char_idx=passage.start + len(passage.text),
                embedding=vector(passage.text),
            )
            for passage in PASSAGES
        ]
        QdrantVectorStore(client=client, collection_name=name).add(nodes)


def haystack(client: QdrantClient, name: str) -> None:
    """`qdrant-haystack`: Haystack's own splitter, and the store's `write_documents`."""
    with _quiet():
        from haystack import Document
        from haystack.components.preprocessors import DocumentSplitter
        from haystack.utils import Secret
        from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

        documents = [
            Document(content="\n\n".join(texts), meta={"url": f"{SITE}/{slug}", "title": title})
            for slug, (title, texts) in PAGES.items()
        ]
        split = DocumentSplitter(split_by="passage", split_length=1).run(documents=documents)["documents"]
        for document in split:
            document.embedding = vector(document.content or "")
        store = QdrantDocumentStore(
            url=place(client)["url"],
            api_key=Secret.from_token(key) if (key := place(client)["api_key"]) else None,
            index=name,
            embedding_dim=EMBEDDER.dimension,
            progress_bar=False,
        )
        store.write_documents(split)


class Pipeline(NamedTuple):
    """A pipeline, what its payload format is called, and which of seed 000's fields its points have."""

    fill: Fill
    payload_format: str
    complete: bool = False
    hashed: bool = False
    named_by: str = "url"
    """How a golden set names the pages."""


PIPELINES = {
    "seed 000": Pipeline(by_hand(_seed_000), "retrieval-validation", complete=True, hashed=True),
    "seed 001": Pipeline(by_hand(_seed_001), "retrieval-testing"),
    "seed 002": Pipeline(by_hand(_seed_002), "retrieval-layer", hashed=True),
    "seed 003": Pipeline(by_hand(_seed_003), "retrieval-api", named_by="page"),
    "seed 004": Pipeline(by_hand(_seed_004), "retrieval-implementation"),
    "langchain": Pipeline(langchain, "langchain"),
    "langchain hybrid": Pipeline(langchain_hybrid, "langchain", named_by="page"),
    "llama-index": Pipeline(llama_index, "llama-index"),
    "haystack": Pipeline(haystack, "haystack"),
}
