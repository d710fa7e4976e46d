"""The embedded vector index: Qdrant's engine in this process, with its files in a folder."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Self, cast
from uuid import UUID

import numpy as np
import qdrant_edge as qdrant

from .._internal.disk import (
    MAKE_SPACE,
    MIN_FREE,
    MIN_FREE_TO_DELETE,
    check_free_space,
    copy_with_holes,
    is_read_only,
)
from .._internal.vector_checksum import CHECKSUM_FIELD
from ..errors import DimensionMismatch, IndexFailure
from ..identity import point_id
from ..ports import Entry, Vector
from ..search.bm25 import Bm25
from ..types import Candidates, Chunk, Filters, PointId, StoredPoint
from .candidates import DENSE, LEXICAL, PointScores, SideQuery, gather_candidates
from .edge_checksums import record_checksums
from .edge_commits import read_commits, write_commits
from .edge_lock import LOCK_NAME, FolderLock, make_lock_error
from .edge_requests import make_filter, make_point, match_field, match_ids, read_id, search_params
from .edge_shard import open_shard
from .payload import find_damaged_filters, to_chunk, to_payload

_PAGE_SIZE = 512


class EdgeIndex:
    """`ports.VectorIndex` in a folder with a Qdrant shard; one process at a time may open it."""

    def __init__(
        self, shard: qdrant.EdgeShard, lock: FolderLock, folder: Path, dimension: int, bm25: Bm25
    ) -> None:
        self._shard = shard
        self._lock = lock
        self._folder = folder
        self._dimension = dimension
        self._bm25 = bm25
        self._calls = threading.Condition()
        self._running_calls = 0
        self._closed = False
        self._version = 0
        self._copy_resources: ExitStack | None = None
        """Deletes the copy that is read instead of a folder that can't be written, and unlocks the folder."""

    @classmethod
    def open(cls, folder: Path, dimension: int, bm25: Bm25 | None = None) -> Self:
        """Open the index in the folder; create it where there is none.

        Qdrant opens all files to write. A folder that can't be written is copied to a temporary one first.

        Raises:
            IndexLocked: If another process has the folder open.
        """
        if is_read_only(folder):
            return cls._open_copy(folder, dimension, bm25)
        with _translate_errors(folder), ExitStack() as stack:
            folder.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(closing(FolderLock(folder)))
            shard = open_shard(folder, dimension)
            stack.pop_all()  # `close` releases the lock
        return cls(shard, lock, folder, dimension, bm25 or Bm25())

    @classmethod
    def _open_copy(cls, folder: Path, dimension: int, bm25: Bm25 | None) -> Self:
        with ExitStack() as stack:
            with _translate_errors(folder):
                if (folder / LOCK_NAME).exists():
                    stack.enter_context(closing(FolderLock(folder, shared=True)))
                copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pertinent-")))
                copy_with_holes(folder, copy)
            index = cls.open(copy, dimension, bm25)
            index._folder, index._copy_resources = folder, stack.pop_all()
        return index

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
        allowed = make_filter(filters)

        def ask(side_queries: Sequence[SideQuery]) -> list[PointScores]:
            requests = [
                qdrant.QueryRequest(
                    limit=query.limit,
                    query=queries[query.side],
                    filter=match_ids(query.among) if query.among else allowed,
                    with_payload=False,
                    params=search_params(query) if query.side == DENSE else None,
                )
                for query in side_queries
            ]
            with self._call_shard():
                responses = self._shard.query_batch(qdrant.QueryBatchRequest(requests))
            return [{read_id(point): point.score for point in response} for response in responses]

        return gather_candidates(ask, queries, by, limit)

    def search_exactly(self, vector: Vector, limit: int) -> dict[PointId, float]:
        """Return the nearest points with their cosines, found by comparing the vector with every point's."""
        request = qdrant.QueryRequest(
            limit=limit,
            query=self._queries(vector, None)[DENSE],
            with_payload=False,
            params=qdrant.SearchParams(exact=True),
        )
        with self._call_shard():
            return {read_id(point): point.score for point in self._shard.query(request)}

    def _queries(self, vector: Vector | None, text: str | None) -> dict[str, qdrant.Query | None]:
        """Return the query for each side; a text of stop words alone has none."""
        queries: dict[str, qdrant.Query | None] = {}
        if vector is not None:
            if len(vector) != self._dimension:
                raise DimensionMismatch(len(vector), self._dimension)
            queries[DENSE] = qdrant.Query.Nearest(vector.tolist(), using=DENSE)
        if text is not None:
            terms = qdrant.SparseVector(*self._bm25.query(text))
            queries[LEXICAL] = qdrant.Query.Nearest(terms, using=LEXICAL) if terms.indices else None
        return queries

    def chunks(self, point_ids: Sequence[PointId]) -> dict[PointId, StoredPoint]:
        """Read the chunks of the points that exist."""
        records = self._retrieve(point_ids, fields=True)
        return {(point := read_id(record)): to_chunk(record.payload or {}, point) for record in records}

    def embedding_keys(self, point_ids: Sequence[PointId]) -> dict[PointId, str]:
        """Return the embedding key of each of the points that exist."""
        records = self._retrieve(point_ids, fields=["embedding_key"])
        return {read_id(record): str((record.payload or {}).get("embedding_key", "")) for record in records}

    def vector_checksums(self, point_ids: Sequence[PointId]) -> dict[PointId, str]:
        """Return the recorded checksum of each vector that has one."""
        records = self._retrieve(point_ids, fields=[CHECKSUM_FIELD])
        checksums = {read_id(record): (record.payload or {}).get(CHECKSUM_FIELD) for record in records}
        return {point: str(checksum) for point, checksum in checksums.items() if checksum is not None}

    def vectors(self, point_ids: Sequence[PointId]) -> dict[PointId, Vector]:
        """Read the dense vectors of the points that exist."""
        if not point_ids:
            return {}
        with self._call_shard():
            records = self._shard.retrieve(list(point_ids), False, [DENSE])  # noqa: FBT003 - no payload
        vectors = {read_id(record): cast("Any", record.vector) or {} for record in records}
        return {
            point: np.asarray(stored[DENSE], np.float32)
            for point, stored in vectors.items()
            if DENSE in stored
        }

    def word_weights(self, point_ids: Sequence[PointId]) -> dict[PointId, dict[int, float]]:
        """Read the weight of each word of the points that exist, by the word's hash."""
        if not point_ids:
            return {}
        with self._call_shard():
            records = self._shard.retrieve(list(point_ids), False, [LEXICAL])  # noqa: FBT003 - no payload
        weights: dict[PointId, dict[int, float]] = {}
        for record in records:
            terms = (cast("Any", record.vector) or {}).get(LEXICAL)
            weights[read_id(record)] = dict(zip(terms.indices, terms.values, strict=True)) if terms else {}
        return weights

    def _retrieve(self, point_ids: Sequence[PointId], fields: bool | list[str]) -> list[qdrant.Record]:  # noqa: FBT001 - Qdrant's own type
        if not point_ids:
            return []
        with self._call_shard():
            return self._shard.retrieve(list(point_ids), fields, False)  # noqa: FBT003 - no vectors

    def put(self, entries: Sequence[Entry], vectors: Sequence[Vector]) -> None:
        """Insert or replace the points of the entries."""
        points = [
            make_point(entry, vector, self._bm25) for entry, vector in zip(entries, vectors, strict=True)
        ]
        if points:
            ids = [point_id(entry.chunk.chunk_id) for entry in entries]
            existing = {read_id(record) for record in self._retrieve(ids, fields=False)}
            self._update(qdrant.UpdateOperation.upsert_points(points))
            self._check_written([entry for entry in entries if point_id(entry.chunk.chunk_id) in existing])

    def describe(self, entries: Sequence[Entry]) -> None:
        """Write the payloads of existing points and keep their vectors, with the vectors' checksums."""
        for entry in entries:
            ids: list[int | UUID | str] = [point_id(entry.chunk.chunk_id)]
            self._update(qdrant.UpdateOperation.set_payload(ids, to_payload(entry)))
        self._check_written(entries)

    def delete_stale_points(self, document_id: str, *, keep: Sequence[PointId]) -> None:
        """Delete the document's points that are not in `keep`, after emptying them.

        Qdrant counts the words of a deleted point as long as its segment is open. Each edit of a page would
        make the words of that page more common, and its lexical scores lower. An empty point has no embedding
        key, so that a sync after an interruption writes it again. Its document id is kept, to find it by.
        """
        stale = qdrant.Filter(
            must=[match_field("document_id", document_id)], must_not=[qdrant.HasIdCondition(set(keep))]
        )
        if points := list(self._find(stale)):
            empty = [qdrant.Point(point, {}, {"document_id": document_id}) for point in points]
            for operation in (
                qdrant.UpdateOperation.upsert_points(empty),
                qdrant.UpdateOperation.delete_points_by_filter(stale),
            ):
                self._update(operation, MIN_FREE_TO_DELETE)
            if any(self._find(stale)):
                raise self._make_ignored_error()

    def _check_written(self, entries: Sequence[Entry]) -> None:
        """Raise IndexFailure if points that existed before do not have the payloads written last.

        Qdrant numbers its operations in its log, and ignores those that are older than the point. If the log
        was damaged, it begins again with lower numbers.
        """
        payloads = {point_id(entry.chunk.chunk_id): to_payload(entry) for entry in entries}
        for record in self._retrieve(list(payloads), fields=True):
            if {**(record.payload or {}), **payloads[read_id(record)]} != record.payload:
                raise self._make_ignored_error()

    def _make_ignored_error(self) -> IndexFailure:
        return IndexFailure(
            f"the index in {self._folder} ignores changes, because its log was damaged. `pertinent reindex` "
            "rebuilds it from the texts in the catalog; then run this again"
        )

    def _find(self, condition: qdrant.Filter) -> Iterator[UUID]:
        """Yield the ids of the points that match."""
        offset: Any = None
        while True:
            request = qdrant.ScrollRequest(
                limit=_PAGE_SIZE, offset=offset, filter=condition, with_payload=False, with_vector=False
            )
            with self._call_shard():
                records, offset = self._shard.scroll(request)
            yield from map(read_id, records)
            if offset is None:
                return

    @property
    def version(self) -> int:
        """A number that changes with every write; no other process can have the folder open."""
        return self._version

    def _update(self, operation: qdrant.UpdateOperation, needed: int = MIN_FREE) -> None:
        self._require_writable()
        check_free_space(self._folder, needed)
        with self._call_shard():
            self._shard.update(operation)
        self._version += 1

    def _require_writable(self) -> None:
        if self._copy_resources is not None:
            raise IndexFailure(f"the index in {self._folder} can't be written: make the folder writable")
        if self._lock.is_inherited:
            raise IndexFailure(
                f"the index in {self._folder} was opened before this process was forked, and only the "
                "process that opened it can write to it: index there, or open it after the fork"
            )

    def scan(self) -> Iterator[StoredPoint]:
        """Yield every point."""
        offset: Any = None
        while True:
            request = qdrant.ScrollRequest(
                limit=_PAGE_SIZE, offset=offset, with_payload=True, with_vector=False
            )
            with self._call_shard():
                records, offset = self._shard.scroll(request)
            yield from (to_chunk(record.payload or {}, read_id(record)) for record in records)
            if offset is None:
                return

    def count(self) -> int:
        """Count the points."""
        with self._call_shard():
            return self._shard.count(qdrant.CountRequest(exact=True))

    def find_damaged_filters(self, chunks: Sequence[Chunk]) -> list[str]:
        """Return the names of the filters that miss some of these chunks."""
        return find_damaged_filters(chunks, self._count_values)

    def _count_values(self, field: str, limit: int) -> dict[str, int]:
        with self._call_shard():
            hits = self._shard.facet(qdrant.FacetRequest(field, limit, exact=True)).hits
        return {str(hit.value): hit.count for hit in hits}

    def commits(self) -> tuple[str, ...]:
        """Return the ids of the catalog's commits that were recorded last."""
        with _translate_errors(self._folder):
            return read_commits(self._folder)

    def record_commits(self, commit_ids: Sequence[str]) -> None:
        """Record the ids of the catalog's commits, on the disk."""
        self._require_writable()
        with self._call_shard():
            write_commits(self._folder, commit_ids)

    def flush(self) -> None:
        """Write everything to the disk."""
        with self._call_shard():
            self._shard.flush()

    def finish(self) -> None:
        """Optimise the shard if enough of it is new, and write it to the disk."""
        with self._call_shard():
            self._shard.optimize()
            self._shard.flush()
            record_checksums(self._folder)
        self._version += 1

    def close(self) -> None:
        """Close the shard after all running calls, so that another process may open the folder."""
        with self._calls:
            if self._closed:
                return
            self._closed = True
            # Qdrant refuses to close a shard that another thread reads.
            self._calls.wait_for(lambda: not self._running_calls)
            self._shard.close()
            self._lock.close()
            if self._copy_resources is not None:
                self._copy_resources.close()

    @contextmanager
    def _call_shard(self) -> Iterator[None]:
        """Keep the shard open during a call, check that its folder is in place, and translate errors."""
        with self._calls:
            if self._closed:
                raise IndexFailure(f"the index in {self._folder} is closed")
            self._running_calls += 1
        try:
            with _translate_errors(self._folder):
                self._lock.check_folder()
                yield
        finally:
            with self._calls:
                self._running_calls -= 1
                self._calls.notify_all()


@contextmanager
def _translate_errors(folder: Path) -> Iterator[None]:
    """Raise the bare exceptions of Qdrant Edge as IndexFailure or IndexLocked."""
    try:
        yield
    except (IndexFailure, DimensionMismatch, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic in Rust is not an Exception
        if "WouldBlock" in str(error):
            raise make_lock_error(folder) from error
        if "Not enough space" in str(error):
            raise IndexFailure(f"the disk of {folder} is nearly full: {error}. {MAKE_SPACE}") from error
        raise IndexFailure(
            f"the index in {folder} failed: {error}. `pertinent doctor` finds out what is wrong"
        ) from error
