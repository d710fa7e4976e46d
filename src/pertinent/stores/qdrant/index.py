"""The vector index on a Qdrant server or cluster, with the same points and scores as the embedded one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from qdrant_client import models

from ..._internal.vector_checksum import CHECKSUM_FIELD, compute_checksum, normalize_vector
from ...errors import DimensionMismatch, IndexFailure
from ...identity import point_id
from ...ports import Entry, Fingerprint, Vector
from ...search.bm25 import Bm25, SparseWeights
from ...types import Candidates, Chunk, Filters, PointId, StoredPoint
from ..candidates import DENSE, LEXICAL, PointScores, SideQuery, gather_candidates
from ..payload import filter_conditions, find_damaged_filters, to_chunk, to_payload
from .collection import OVERSAMPLING, claim_collection, read_commits, write_commits
from .points import format_point_id, match_field, parse_point_id, read_scores
from .server import Peer, Server

PAGE_SIZE = 512
"""How many points are read with one request."""

BATCH = 64
"""How many points are written with one request."""
WRITERS = 4
"""How many requests write at the same time."""

FINISH_SECONDS = 600.0
"""How long to wait until the server has built its indexes."""

_IN_ORDER = models.WriteOrdering.MEDIUM
"""Writes of a cluster go through one replica of a shard, so that a late put can't undo a deletion."""


class QdrantIndex:
    """`ports.VectorIndex` on a server: one build in a collection of its own; thread-safe.

    A write returns when its points can be found and are on the server's disk. Closing the index closes the
    server connection that it was given.
    """

    version = None
    """Other processes may write to the server too."""

    def __init__(
        self,
        server: Server,
        collection: str,
        made_with: Fingerprint,
        catalog: str = "",
        oversampling: float = OVERSAMPLING,
    ) -> None:
        self._server = server
        self._catalog = catalog
        self._claimed = False
        self._oversampling = oversampling
        self._collection = collection
        self._made_with = made_with
        self._bm25 = Bm25.from_settings(made_with.lexical)

    @property
    def sides(self) -> tuple[str, ...]:
        """Dense and lexical."""
        return (DENSE, LEXICAL)

    def candidates(
        self,
        vector: Vector | None,
        text: str | None,
        *,
        by: Sequence[str],
        limit: int,
        filters: Filters,
    ) -> Candidates:
        """Return the best points of each side in `by`, with the raw scores of both sides."""
        queries = self._queries(vector, text)
        allowed: list[models.Condition] = [
            match_field(field, value) for field, value in filter_conditions(filters).items()
        ]

        def ask(side_queries: Sequence[SideQuery]) -> list[PointScores]:
            requests = [self._request(query, queries[query.side], allowed) for query in side_queries]
            responses = self._server.read(
                lambda peer: peer.reading.query_batch_points(self._collection, requests)
            )
            if len(responses) != len(requests):
                raise IndexFailure(
                    f"the Qdrant server at {self._server.url} sent {len(responses)} lists of points for "
                    f"{len(requests)} queries"
                )
            return [read_scores(response.points) for response in responses]

        return gather_candidates(ask, queries, by, limit)

    def search_exactly(self, vector: Vector, limit: int) -> dict[PointId, float]:
        """Return the nearest points with their cosines, found by comparing the vector with every point's."""
        nearest = self._queries(vector, None)[DENSE]
        response = self._server.read(
            lambda peer: peer.reading.query_points(
                self._collection,
                query=nearest,
                using=DENSE,
                limit=limit,
                with_payload=False,
                search_params=models.SearchParams(exact=True),
            )
        )
        return read_scores(response.points)

    def _queries(self, vector: Vector | None, text: str | None) -> dict[str, models.NearestQuery | None]:
        """Return the query for each side; a text of stop words alone has none."""
        queries: dict[str, models.NearestQuery | None] = {}
        if vector is not None:
            if len(vector) != self._made_with.dimension:
                raise DimensionMismatch(len(vector), self._made_with.dimension)
            queries[DENSE] = models.NearestQuery(nearest=vector.tolist())
        if text is not None:
            terms = self._bm25.query(text)
            queries[LEXICAL] = models.NearestQuery(nearest=_sparse(terms)) if terms.indices else None
        return queries

    def _request(
        self, query: SideQuery, nearest: models.NearestQuery | None, allowed: list[models.Condition]
    ) -> models.QueryRequest:
        # Quantised vectors only preselect; rescoring with the exact vectors keeps a score a cosine.
        rescoring = models.QuantizationSearchParams(
            rescore=True, oversampling=1.0 if query.among else self._oversampling
        )
        among: list[models.Condition] = [
            models.HasIdCondition(has_id=[format_point_id(point) for point in query.among])
        ]
        must = among if query.among else allowed
        return models.QueryRequest(
            query=nearest,
            using=query.side,
            limit=query.limit,
            filter=models.Filter(must=must) if must else None,
            params=models.SearchParams(quantization=rescoring),
            with_payload=False,
        )

    def chunks(self, point_ids: Sequence[PointId]) -> dict[PointId, StoredPoint]:
        """Read the chunks of the points that exist."""
        records = self._retrieve(point_ids, fields=True)
        return {point: to_chunk(record.payload or {}, point) for point, record in records}

    def vectors(self, point_ids: Sequence[PointId]) -> dict[PointId, Vector]:
        """Read the dense vectors of the points that exist."""
        vectors = self._retrieve_vectors(point_ids, DENSE)
        return {point: np.asarray(vector, np.float32) for point, vector in vectors if vector is not None}

    def word_weights(self, point_ids: Sequence[PointId]) -> dict[PointId, dict[int, float]]:
        """Read the weight of each word of the points that exist, by the word's hash."""
        return {
            point: dict(zip(terms.indices, terms.values, strict=True)) if terms is not None else {}
            for point, terms in self._retrieve_vectors(point_ids, LEXICAL)
        }

    def _retrieve_vectors(self, point_ids: Sequence[PointId], side: str) -> Iterator[tuple[PointId, Any]]:
        """Yield the vector of each of the points that exist; None where a point lacks it."""
        for point, record in self._retrieve(point_ids, sides=[side]):
            stored: Any = record.vector or {}
            yield point, stored.get(side)

    def embedding_keys(self, point_ids: Sequence[PointId]) -> dict[PointId, str]:
        """Return the embedding key of each of the points that exist."""
        records = self._retrieve(point_ids, fields=["embedding_key"])
        return {point: str((record.payload or {}).get("embedding_key", "")) for point, record in records}

    def vector_checksums(self, point_ids: Sequence[PointId]) -> dict[PointId, str]:
        """Return the recorded checksum of each vector that has one."""
        return {
            point: str(record.payload[CHECKSUM_FIELD])
            for point, record in self._retrieve(point_ids, fields=[CHECKSUM_FIELD])
            if record.payload and CHECKSUM_FIELD in record.payload
        }

    def _retrieve(
        self, point_ids: Sequence[PointId], *, fields: bool | list[str] = False, sides: Sequence[str] = ()
    ) -> Iterator[tuple[PointId, models.Record]]:
        """Yield the points that exist, with these fields of the payload and the vectors of these sides."""

        def read(peer: Peer, names: list[str | int]) -> list[models.Record]:
            return peer.reading.retrieve(
                self._collection, names, with_payload=fields, with_vectors=list(sides)
            )

        for start in range(0, len(point_ids), PAGE_SIZE):
            names = [format_point_id(point) for point in point_ids[start : start + PAGE_SIZE]]
            for record in self._server.read(read, names):
                yield parse_point_id(record.id), record

    def put(self, entries: Sequence[Entry], vectors: Sequence[Vector]) -> None:
        """Insert or replace the points of the entries, several batches at a time."""
        self._claim()
        points = [_point(entry, vector, self._bm25) for entry, vector in zip(entries, vectors, strict=True)]
        batches = [points[start : start + BATCH] for start in range(0, len(points), BATCH)]
        if len(batches) == 1:
            self._put(batches[0])
        elif batches:
            with ThreadPoolExecutor(WRITERS) as pool:
                list(pool.map(self._put, batches))

    def _claim(self) -> None:
        """Claim the collection for the catalog before the first write; reading claims nothing."""
        if not self._claimed:
            claim_collection(self._server, self._collection, self._made_with, self._catalog)
            self._claimed = True

    def _put(self, points: list[models.PointStruct]) -> None:
        self._server.write(
            lambda peer: peer.writing.upsert(self._collection, points, wait=True, ordering=_IN_ORDER)
        )

    def describe(self, entries: Sequence[Entry]) -> None:
        """Write the payloads of existing points and keep their vectors, with the vectors' checksums."""
        self._claim()
        for start in range(0, len(entries), BATCH):
            changes: list[models.UpdateOperation] = [
                models.SetPayloadOperation(
                    set_payload=models.SetPayload(
                        payload=to_payload(entry), points=[str(point_id(entry.chunk.chunk_id))]
                    )
                )
                for entry in entries[start : start + BATCH]
            ]
            self._server.write(self._change, changes)

    def _change(self, peer: Peer, changes: list[models.UpdateOperation]) -> None:
        peer.writing.batch_update_points(self._collection, changes, wait=True, ordering=_IN_ORDER)

    def delete_stale_points(self, document_id: str, *, keep: Sequence[PointId]) -> None:
        """Delete the document's points that are not in `keep`, after removing their words from the counts.

        Qdrant counts the words of a deleted point until it rewrites the segment. Each edit of a page would
        make the words of that page more common, and its lexical scores lower.
        """
        self._claim()
        current = models.HasIdCondition(has_id=[format_point_id(point) for point in keep])
        stale = models.Filter(must=[match_field("document_id", document_id)], must_not=[current])
        offset: Any = None
        while True:
            records, offset = self._server.read(self._scroll_ids, stale, offset)
            if records:
                self._server.write(self._clear_points, [record.id for record in records], document_id)
            if offset is None:
                break
        self._server.write(
            lambda peer: peer.writing.delete(
                self._collection, models.FilterSelector(filter=stale), wait=True, ordering=_IN_ORDER
            )
        )

    def _scroll_ids(
        self, peer: Peer, condition: models.Filter, offset: Any
    ) -> tuple[list[models.Record], Any]:
        return peer.reading.scroll(
            self._collection, scroll_filter=condition, limit=PAGE_SIZE, offset=offset, with_payload=False
        )

    def _clear_points(self, peer: Peer, points: Sequence[Any], document_id: str) -> None:
        # Also a point that only a replica that is behind has named is found by its document then.
        empty = [
            models.PointStruct(id=point, vector={}, payload={"document_id": document_id}) for point in points
        ]
        peer.writing.upsert(self._collection, empty, wait=True, ordering=_IN_ORDER)

    def scan(self) -> Iterator[StoredPoint]:
        """Yield every point."""
        offset: Any = None
        while True:
            records, offset = self._server.read(self._scroll, offset)
            yield from (to_chunk(record.payload or {}, parse_point_id(record.id)) for record in records)
            if offset is None:
                return

    def _scroll(self, peer: Peer, offset: Any) -> tuple[list[models.Record], Any]:
        return peer.reading.scroll(self._collection, limit=PAGE_SIZE, offset=offset)

    def count(self) -> int:
        """Count the points."""
        return self._server.read(lambda peer: peer.reading.count(self._collection, exact=True)).count

    def find_damaged_filters(self, chunks: Sequence[Chunk]) -> list[str]:
        """Return the names of the filters that miss some of these chunks."""
        return find_damaged_filters(chunks, self._count_values)

    def _count_values(self, field: str, limit: int) -> dict[str, int]:
        counts = self._server.read(
            lambda peer: peer.reading.facet(self._collection, field, limit=limit, exact=True)
        )
        return {str(hit.value): hit.count for hit in counts.hits}

    def commits(self) -> tuple[str, ...]:
        """Return the ids of the catalog's commits that were recorded last."""
        return read_commits(self._server, self._collection)

    def record_commits(self, commit_ids: Sequence[str]) -> None:
        """Record the ids of the catalog's commits in the metadata of the collection."""
        self._claim()
        write_commits(self._server, self._collection, self._made_with, self._catalog, commit_ids)

    def flush(self) -> None:
        """Do nothing: the server writes its log to the disk before it acknowledges a write."""

    def finish(self) -> None:
        """Wait until the server has built its indexes; after a time limit it continues by itself."""
        deadline = time.monotonic() + FINISH_SECONDS
        pause = 0.02
        while (status := self._status()) != models.CollectionStatus.GREEN and time.monotonic() < deadline:
            if status == models.CollectionStatus.GREY:
                # After a restart the server resumes pending optimisations only at the next change.
                self._server.write(self._resume_optimization)
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    def _status(self) -> models.CollectionStatus:
        info = self._server.read(lambda peer: peer.reading.get_collection(self._collection))
        if isinstance(info.optimizer_status, models.OptimizersStatusOneOf1):
            raise IndexFailure(
                f"the Qdrant server at {self._server.url} can't index the collection {self._collection}: "
                f"{info.optimizer_status.error}"
            )
        return info.status

    def _resume_optimization(self, peer: Peer) -> None:
        peer.writing.update_collection(self._collection, optimizers_config=models.OptimizersConfigDiff())

    def close(self) -> None:
        """Close the connections to the server."""
        self._server.close()


def _point(entry: Entry, vector: Vector, bm25: Bm25) -> models.PointStruct:
    dense = normalize_vector(vector)
    return models.PointStruct(
        id=str(point_id(entry.chunk.chunk_id)),
        vector={DENSE: dense.tolist(), LEXICAL: _sparse(bm25.document(entry.embedded_text))},
        payload={**to_payload(entry), CHECKSUM_FIELD: compute_checksum(dense)},
    )


def _sparse(terms: SparseWeights) -> models.SparseVector:
    return models.SparseVector(indices=terms.indices, values=terms.values)
