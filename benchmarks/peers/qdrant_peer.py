"""qdrant-client: dense and BM25 vectors in a Qdrant server, fused with RRF by the server.

The server makes the BM25 vectors itself, from `Document` objects (Qdrant 1.15.2 and newer).
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from qdrant_client import QdrantClient, models

from peers import protocol

COLLECTION = "peer"
MODEL = "qdrant/bm25"
BATCH = 256


class QdrantPeer:
    packages = ("qdrant-client",)

    def __init__(self, task: protocol.Task) -> None:
        self._task = task
        self._client = QdrantClient(os.environ["PEERS_QDRANT_URL"], cloud_inference=True, timeout=120)
        words = sum(len(document.text.split()) for document in task.documents)
        self._options = {"avg_len": words / len(task.documents)}

    def build(self) -> None:
        self._client.create_collection(
            COLLECTION,
            vectors_config={
                "dense": models.VectorParams(
                    size=self._task.document_vectors.shape[1], distance=models.Distance.COSINE
                )
            },
            sparse_vectors_config={"bm25": models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
        self.refresh()

    def refresh(self) -> None:
        """Upsert every point again: an upload has no test for unchanged points."""
        points = [
            models.PointStruct(
                id=number,
                vector={"dense": vector.tolist(), "bm25": self._describe(document.text)},
                payload={"text": document.text, "page": document.page},
            )
            for number, (document, vector) in enumerate(
                zip(self._task.documents, self._task.document_vectors, strict=True)
            )
        ]
        for start in range(0, len(points), BATCH):
            self._client.upsert(COLLECTION, points[start : start + BATCH], wait=True)

    def search(self, text: str, vector: protocol.Vector) -> Sequence[str]:
        response = self._client.query_points(
            COLLECTION,
            prefetch=[
                models.Prefetch(query=vector.tolist(), using="dense", limit=self._task.candidates),
                models.Prefetch(query=self._describe(text), using="bm25", limit=self._task.candidates),
            ],
            query=models.FusionQuery(fusion=models.Fusion.RRF),
            limit=self._task.limit,
        )
        return [self._task.documents[int(point.id)].id for point in response.points]

    def _describe(self, text: str) -> models.Document:
        return models.Document(text=text, model=MODEL, options=self._options)


if __name__ == "__main__":
    protocol.main(QdrantPeer)
