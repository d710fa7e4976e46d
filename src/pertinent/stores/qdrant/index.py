"""The vector index on a Qdrant server or cluster: the same points and scores as the embedded one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from qdrant_client import models

from ...errors import DimensionMismatch, IndexFailure
from ...identity import point_id
from ...ports import Entry, Fingerprint, Vector
from ...types import Candidates, Filters, PointId, StoredPoint
from .. import bm25 as lexical
from ..candidates import DENSE, LEXICAL, Scored, SideQuery, gather_candidates
from ..payload import conditions, to_chunk, to_payload
from .collection import OVERSAMPLING, claim
from .points import format_point_id, match_field, parse_point_id
from .server import Peer, Server

if TYPE_CHECKING:
    from qdrant_edge import SparseVector

PAGE = 512
"""How many points are read at once."""

BATCH = 64
"""How many points are written at once, and by how many writers."""
WRITERS = 4

FINISH_SECONDS = 600.0
"""How long the server may take to make its indexes before we no longer wait for it."""

_IN_ORDER = models.WriteOrdering.MEDIUM
"""Writes of a cluster go through one replica of a shard: a put that was late can't undo a removal."""


class QdrantIndex:
    """One build of an index, in a collection of its own. Safe to use from many threads.

    A write is acknowledged when it can be found and the server has it on its disk. Closing the index
    closes the connection that it was given.
    """

    version = None
    """Others may write to the server too."""

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

    @property
    def sides(self) -> tuple[str, ...]:
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
        queries = self._queries(vector, text)
        allowed: list[models.Condition] = [
            match_field(field, value) for field, value in conditions(filters).items()
        ]

        def ask(side_queries: Sequence[SideQuery]) -> list[Scored]:
            requests = [self._request(query, queries[query.side], allowed) for query in side_queries]
            responses = self._server.read(
                lambda peer: peer.reading.query_batch_points(self._collection, requests)
            )
            return [
                {parse_point_id(point.id): point.score for point in response.points} for response in responses
            ]

        return gather_candidates(ask, queries, by, limit)

    def _queries(self, vector: Vector | None, text: str | None) -> dict[str, models.NearestQuery | None]:
        """Return the query for each side; a text of stop words alone has none."""
        queries: dict[str, models.NearestQuery | None] = {}
        if vector is not None:
            if len(vector) != self._made_with.dimension:
                raise DimensionMismatch(len(vector), self._made_with.dimension)
            queries[DENSE] = models.NearestQuery(nearest=vector.tolist())
        if text is not None:
            terms = lexical.query(text)
            queries[LEXICAL] = models.NearestQuery(nearest=_sparse(terms)) if terms.indices else None
        return queries

    def _request(
        self, query: SideQuery, nearest: models.NearestQuery | None, allowed: list[models.Condition]
    ) -> models.QueryRequest:
        # With quantised vectors the best are scored again with the exact ones: a score stays a cosine.
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
        return {point: to_chunk(payload, point) for point, payload in self._retrieve(point_ids, fields=True)}

    def embedding_keys(self, point_ids: Sequence[PointId]) -> dict[PointId, str]:
        found = self._retrieve(point_ids, fields=["embedding_key"])
        return {point: str(payload.get("embedding_key", "")) for point, payload in found}

    def _retrieve(
        self, point_ids: Sequence[PointId], *, fields: bool | list[str]
    ) -> Iterator[tuple[PointId, dict[str, Any]]]:
        for start in range(0, len(point_ids), PAGE):
            names = [format_point_id(point) for point in point_ids[start : start + PAGE]]
            for record in self._server.read(self._records, names, fields):
                yield parse_point_id(record.id), record.payload or {}

    def _records(
        self,
        peer: Peer,
        names: list[str | int],
        fields: bool | list[str],  # noqa: FBT001 - Qdrant's own type
    ) -> list[models.Record]:
        return peer.reading.retrieve(self._collection, names, with_payload=fields)

    def put(self, entries: Sequence[Entry], vectors: Sequence[Vector]) -> None:
        self._claim()
        points = [_point(entry, vector) for entry, vector in zip(entries, vectors, strict=True)]
        batches = [points[start : start + BATCH] for start in range(0, len(points), BATCH)]
        if len(batches) == 1:
            self._put(batches[0])
        elif batches:
            with ThreadPoolExecutor(WRITERS) as pool:
                list(pool.map(self._put, batches))

    def _claim(self) -> None:
        """Before anything is written: whoever only looks claims nothing."""
        if not self._claimed:
            claim(self._server, self._collection, self._made_with, self._catalog)
            self._claimed = True

    def _put(self, points: list[models.PointStruct]) -> None:
        self._server.write(
            lambda peer: peer.writing.upsert(self._collection, points, wait=True, ordering=_IN_ORDER)
        )

    def describe(self, entries: Sequence[Entry]) -> None:
        self._claim()
        for start in range(0, len(entries), BATCH):
            changes: list[models.UpdateOperation] = [
                models.OverwritePayloadOperation(
                    overwrite_payload=models.SetPayload(
                        payload=to_payload(entry), points=[str(point_id(entry.chunk.chunk_id))]
                    )
                )
                for entry in entries[start : start + BATCH]
            ]
            self._server.write(self._change, changes)

    def _change(self, peer: Peer, changes: list[models.UpdateOperation]) -> None:
        peer.writing.batch_update_points(self._collection, changes, wait=True, ordering=_IN_ORDER)

    def delete_stale_points(self, document_id: str, *, keep: Sequence[PointId]) -> None:
        self._claim()
        current = models.HasIdCondition(has_id=[format_point_id(point) for point in keep])
        stale = models.Filter(must=[match_field("document_id", document_id)], must_not=[current])
        self._server.write(
            lambda peer: peer.writing.delete(
                self._collection, models.FilterSelector(filter=stale), wait=True, ordering=_IN_ORDER
            )
        )

    def scan(self) -> Iterator[StoredPoint]:
        offset: Any = None
        while True:
            records, offset = self._server.read(self._scroll, offset)
            yield from (to_chunk(record.payload or {}, parse_point_id(record.id)) for record in records)
            if offset is None:
                return

    def _scroll(self, peer: Peer, offset: Any) -> tuple[list[models.Record], Any]:
        return peer.reading.scroll(self._collection, limit=PAGE, offset=offset)

    def count(self) -> int:
        return self._server.read(lambda peer: peer.reading.count(self._collection, exact=True)).count

    def flush(self) -> None:
        """Nothing: a server writes its log to the disk before it acknowledges a write that it waited for."""

    def finish(self) -> None:
        """Wait until the server has made its indexes; it goes on by itself where that takes very long."""
        until = time.monotonic() + FINISH_SECONDS
        pause = 0.02
        while (status := self._status()) != models.CollectionStatus.GREEN and time.monotonic() < until:
            if status == models.CollectionStatus.GREY:
                # It has work to do from before it was started, and begins at the next change.
                self._server.write(self._wake)
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

    def _wake(self, peer: Peer) -> None:
        peer.writing.update_collection(self._collection, optimizers_config=models.OptimizersConfigDiff())

    def close(self) -> None:
        self._server.close()


def _point(entry: Entry, vector: Vector) -> models.PointStruct:
    return models.PointStruct(
        id=str(point_id(entry.chunk.chunk_id)),
        vector={DENSE: vector.tolist(), LEXICAL: _sparse(lexical.document(entry.embedded_text))},
        payload=to_payload(entry),
    )


def _sparse(terms: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(terms.indices), values=list(terms.values))
