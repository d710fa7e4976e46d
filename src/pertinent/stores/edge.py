"""The embedded vector index: Qdrant's own engine in this process, in a folder."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, cast
from uuid import UUID

import numpy as np
import qdrant_edge as qdrant

from ..errors import DimensionMismatch, IndexFailure, IndexLocked
from ..identity import point_id
from ..ports import Entry, Fingerprint, Vector
from ..types import Candidates, Filters, PointId, StoredPoint
from . import bm25 as lexical
from .candidates import DENSE, LEXICAL, Scored, SideQuery, gather_candidates
from .payload import KEYWORDS, conditions, to_chunk, to_payload

_PAGE = 512


class EdgeIndex:
    """A folder with a Qdrant shard; one process at a time may have it open."""

    def __init__(self, shard: qdrant.EdgeShard, folder: Path, dimension: int) -> None:
        self._shard = shard
        self._folder = folder
        self._dimension = dimension
        self._closing = threading.Lock()
        self._closed = False
        self._version = 0

    @classmethod
    def open(cls, folder: Path, dimension: int) -> Self:
        """The index in the folder, made where there is none."""
        with _translated(folder):
            if (folder / "edge_config.json").exists():
                shard = qdrant.EdgeShard.load(str(folder), _config(dimension))
            else:
                folder.mkdir(parents=True, exist_ok=True)
                shard = qdrant.EdgeShard.create(str(folder), _config(dimension))
            # Also on opening: the run that made the shard may have been killed before this.
            present = shard.info().payload_schema
            for field in KEYWORDS:
                if field not in present:
                    keyword = qdrant.KeywordIndexParams()
                    shard.update(qdrant.UpdateOperation.create_field_index(field, keyword))
        return cls(shard, folder, dimension)

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
        allowed = _filter(filters)

        def ask(side_queries: Sequence[SideQuery]) -> list[Scored]:
            requests = [
                qdrant.QueryRequest(
                    limit=query.limit,
                    query=queries[query.side],
                    filter=_only(query.among) if query.among else allowed,
                    with_payload=False,
                )
                for query in side_queries
            ]
            with _translated(self._folder):
                responses = self._shard.query_batch(qdrant.QueryBatchRequest(requests))
            return [{_uuid(point): point.score for point in response} for response in responses]

        return gather_candidates(ask, queries, by, limit)

    def _queries(self, vector: Vector | None, text: str | None) -> dict[str, qdrant.Query | None]:
        """Return the query for each side; a text of stop words alone has none."""
        queries: dict[str, qdrant.Query | None] = {}
        if vector is not None:
            if len(vector) != self._dimension:
                raise DimensionMismatch(len(vector), self._dimension)
            queries[DENSE] = qdrant.Query.Nearest(vector.tolist(), using=DENSE)
        if text is not None:
            terms = lexical.query(text)
            queries[LEXICAL] = qdrant.Query.Nearest(terms, using=LEXICAL) if terms.indices else None
        return queries

    def chunks(self, point_ids: Sequence[PointId]) -> dict[PointId, StoredPoint]:
        return {_uuid(record): _stored(record) for record in self._retrieve(point_ids, fields=True)}

    def embedding_keys(self, point_ids: Sequence[PointId]) -> dict[PointId, str]:
        records = self._retrieve(point_ids, fields=["embedding_key"])
        return {_uuid(record): str((record.payload or {}).get("embedding_key", "")) for record in records}

    def vectors(self, point_ids: Sequence[PointId]) -> dict[PointId, Vector]:
        """The dense vectors of the points, to be taken elsewhere."""
        if not point_ids:
            return {}
        with _translated(self._folder):
            records = self._shard.retrieve(list(point_ids), False, [DENSE])  # noqa: FBT003 - no payload
        return {
            _uuid(record): np.asarray(cast("Any", record.vector)[DENSE], np.float32) for record in records
        }

    def _retrieve(self, point_ids: Sequence[PointId], fields: bool | list[str]) -> list[qdrant.Record]:  # noqa: FBT001 - Qdrant's own type
        if not point_ids:
            return []
        with _translated(self._folder):
            return self._shard.retrieve(list(point_ids), fields, False)  # noqa: FBT003 - no vectors

    def put(self, entries: Sequence[Entry], vectors: Sequence[Vector]) -> None:
        points = [_point(entry, vector) for entry, vector in zip(entries, vectors, strict=True)]
        if points:
            self._update(qdrant.UpdateOperation.upsert_points(points))

    def describe(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            ids: list[int | UUID | str] = [point_id(entry.chunk.chunk_id)]
            self._update(qdrant.UpdateOperation.overwrite_payload(ids, to_payload(entry)))

    def delete_stale_points(self, document_id: str, *, keep: Sequence[PointId]) -> None:
        stale = qdrant.Filter(
            must=[_match("document_id", document_id)], must_not=[qdrant.HasIdCondition(set(keep))]
        )
        self._update(qdrant.UpdateOperation.delete_points_by_filter(stale))

    @property
    def version(self) -> int:
        # No other process can have the folder open.
        return self._version

    def _update(self, operation: qdrant.UpdateOperation) -> None:
        with _translated(self._folder):
            self._shard.update(operation)
        self._version += 1

    def scan(self) -> Iterator[StoredPoint]:
        offset: Any = None
        while True:
            request = qdrant.ScrollRequest(limit=_PAGE, offset=offset, with_payload=True, with_vector=False)
            with _translated(self._folder):
                records, offset = self._shard.scroll(request)
            yield from map(_stored, records)
            if offset is None:
                return

    def count(self) -> int:
        with _translated(self._folder):
            return self._shard.count(qdrant.CountRequest(exact=True))

    def flush(self) -> None:
        with _translated(self._folder):
            self._shard.flush()

    def finish(self) -> None:
        with _translated(self._folder):
            self._shard.optimize()
            self._shard.flush()
        self._version += 1

    def close(self) -> None:
        with self._closing:
            if not self._closed:
                self._closed = True
                self._shard.close()


class EdgeBuilds:
    """The builds of an embedded index, a folder each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, made_with: Fingerprint) -> EdgeIndex:
        return EdgeIndex.open(self._place(made_with.build), made_with.dimension)

    def use(self, number: int) -> None:
        """The catalog says which is in use; nothing else need know."""

    def numbers(self) -> list[int]:
        there = self._folder.iterdir() if self._folder.exists() else ()
        return sorted(int(one.name) for one in there if one.name.isdecimal())

    def remove(self, number: int) -> None:
        """Whoever still reads it has its files open."""
        shutil.rmtree(self._place(number), ignore_errors=True)

    def _place(self, number: int) -> Path:
        return self._folder / f"{number:03}"


def _config(dimension: int) -> qdrant.EdgeConfig:
    return qdrant.EdgeConfig(
        vectors={DENSE: qdrant.EdgeVectorParams(size=dimension, distance=qdrant.Distance.Cosine)},
        sparse_vectors={LEXICAL: qdrant.EdgeSparseVectorParams(modifier=qdrant.Modifier.Idf)},
        # Handing a search to other threads takes as long as the search itself: 0.9 ms against 1.7 ms
        # for a query of the handbook, and no more queries a second at 100,000 chunks.
        max_search_threads=1,
    )


def _point(entry: Entry, vector: Vector) -> qdrant.Point:
    vectors = {DENSE: vector.tolist(), LEXICAL: lexical.document(entry.embedded_text)}
    return qdrant.Point(point_id(entry.chunk.chunk_id), vectors, to_payload(entry))


def _uuid(found: qdrant.ScoredPoint | qdrant.Record) -> UUID:
    # Our points have no other ids; Qdrant's type allows for some.
    return cast("UUID", found.id)


def _stored(record: qdrant.Record) -> StoredPoint:
    return to_chunk(record.payload or {}, _uuid(record))


def _match(field: str, value: str) -> qdrant.FieldCondition:
    return qdrant.FieldCondition(key=field, match=qdrant.MatchValue(value))


def _filter(filters: Filters) -> qdrant.Filter | None:
    wanted = conditions(filters)
    return qdrant.Filter(must=[_match(field, value) for field, value in wanted.items()]) if wanted else None


def _only(points: Sequence[PointId]) -> qdrant.Filter:
    return qdrant.Filter(must=[qdrant.HasIdCondition(set(points))])


@contextmanager
def _translated(folder: Path) -> Iterator[None]:
    """Qdrant Edge raises bare exceptions: they become ours here, and nowhere else."""
    try:
        yield
    except (IndexFailure, DimensionMismatch, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic in Rust is no Exception
        if "WouldBlock" in str(error):
            raise IndexLocked(
                f"another process, or another Pertinent in this one, has the index in {folder} open: wait "
                "for it to end, or close it. "
                "An embedded index serves one process at a time; `pertinent serve` answers many callers"
            ) from error
        raise IndexFailure(
            f"the index in {folder} failed: {error}. `pertinent doctor` tells what is wrong with it"
        ) from error
