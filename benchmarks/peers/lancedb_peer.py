"""LanceDB: a hybrid query of a table with a full-text index, reranked with RRF, on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lancedb
from lancedb.rerankers import RRFReranker

from peers import protocol


class LanceDbPeer:
    packages = ("lancedb", "pyarrow")

    def __init__(self, task: protocol.Task) -> None:
        self._task = task
        self._reranker = RRFReranker()

    def build(self) -> None:
        self._table = lancedb.connect("data.lance").create_table("peer", self._make_rows())
        self._table.create_fts_index("text")

    def refresh(self) -> None:
        """Insert what the table does not have, and bring its indexes up to date."""
        merge = self._table.merge_insert("id").when_not_matched_insert_all()
        merge.execute(self._make_rows())
        self._table.optimize()

    def search(self, text: str, vector: protocol.Vector) -> Sequence[str]:
        query = self._table.search(query_type="hybrid").vector(vector).text(text)
        hits = query.distance_type("cosine").rerank(self._reranker).limit(self._task.limit)
        return [hit["id"] for hit in hits.select(["id"]).to_list()]

    def _make_rows(self) -> list[dict[str, Any]]:
        return [
            {"id": document.id, "text": document.text, "vector": vector}
            for document, vector in zip(self._task.documents, self._task.document_vectors, strict=True)
        ]


if __name__ == "__main__":
    protocol.main(LanceDbPeer)
