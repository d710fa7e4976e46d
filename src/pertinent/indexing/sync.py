"""Sync: make an index match its source with the least work, and survive being killed.

    read → plan (new, changed, removed) → embed what changed → index → catalog

A page's change is recorded in the catalog as pending before the index is written, and ends in the same
transaction that records the page. A page that is pending when a sync starts was interrupted, and the plan
treats it as changed. A sync checks the write lock before each write, and stops with an error if it has lost
the lock: another process may have it now. A last write may have come after that process's own, so the pages
are marked as pending again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from .. import identity
from .._internal.clock import StageTimer
from .._internal.free_memory import release_free_memory
from ..errors import CatalogFailure, EmbedderError, PertinentError
from ..ports import Entry, PageWrite
from ..types import Chunk, PointId, Skipped, Unreadable
from .chunking import embedded_text
from .model_check import check_model
from .plan import PageChange, SyncPlan, check_removals
from .planner import Planner
from .spool import PageSpool, PlannedChunk

COMMIT_CHUNKS = 4096
"""About how many chunks are written between two commits.

Each commit flushes the index, which takes longer the larger the index is, and adds the counts of the same
common words again.
"""

EMBED_BATCH = 1024
"""How many chunks are read from the spool, and passed to the embedder, at a time."""

WRITE_BATCH = 32
"""How many vectors are made before they are written: a kill loses at most these."""


@dataclass(frozen=True, slots=True)
class SpooledWrites:
    """The writes of changed pages for the catalog, each with its source; read from the spool each time."""

    spool: PageSpool
    changes: Sequence[PageChange]

    def __iter__(self) -> Iterator[tuple[str, PageWrite]]:
        for change in self.changes:
            page = self.spool.read_page(change.position)
            yield change.source, PageWrite(page, change.page_hash, _SpooledChunks(self.spool, change))


@dataclass(frozen=True, slots=True)
class _SpooledChunks:
    """The chunks of a page, read from the spool each time."""

    spool: PageSpool
    change: PageChange

    def __iter__(self) -> Iterator[Chunk]:
        batches = self.spool.read_chunks(self.change.position)
        return (planned.chunk for planned in chain.from_iterable(batches))


@dataclass(frozen=True, slots=True)
class SyncSummary:
    """What a sync did, in numbers."""

    pages_added: int
    pages_changed: int
    pages_unchanged: int
    pages_removed: int
    chunks_added: int
    chunks_changed: int
    chunks_kept: int
    chunks_removed: int
    unreadable: tuple[Unreadable, ...]
    skipped: tuple[Skipped, ...]
    seconds: float
    notes: tuple[str, ...] = ()
    """What the user should know, such as another language than that of the index."""

    @property
    def chunks_per_second(self) -> float:
        """How many chunks were embedded per second."""
        embedded = self.chunks_added + self.chunks_changed
        return embedded / self.seconds if self.seconds else 0.0


class Indexer(Planner):
    """Plans syncs of sources, and applies the plans to an index and its catalog.

    Examples:
        >>> indexer = Indexer(lambda: embedder, index, catalog, chunk_tokens=200)
        >>> summary = indexer.apply(indexer.plan(source))
    """

    def apply(self, plan: SyncPlan, *, allow_shrink: bool = False) -> SyncSummary:
        """Carry out the plan. If the run is killed, the next sync completes it.

        Raises:
            SyncRefused: The plan removes too many pages, and `allow_shrink` is not set.
            FingerprintMismatch: The model was replaced under its name since the index was made.
        """
        if plan.spool is None:
            raise ValueError("the plan was made for a dry run, and can't be applied")
        timer = StageTimer()
        check_removals(plan, allow_shrink=allow_shrink)
        release_free_memory()  # of the pages that were parsed
        if plan.chunks_to_embed:
            check_model(self.embedder(), self.index, self.catalog)
        self.catalog.register(plan.source, plan.location)
        self.progress.stage("Embedding", plan.chunks_to_embed)
        for group in _group_changes(plan.changes):
            document_ids = [change.document_id for change in group]
            self.catalog.begin(document_ids, plan.source)
            with self._mark_pages_if_lock_is_lost(document_ids):
                self._write_to_index(plan.spool, group)
                self._commit(plan.source, [write for _, write in SpooledWrites(plan.spool, group)])
        plan.spool.close()
        self._delete(plan.source, [*(record.document_id for record in plan.removed), *plan.leftovers])
        if not plan.nothing_to_do:
            self.progress.stage("Optimising the index", None)
        # Also with nothing to do, where it costs little: the run before may have been killed here.
        self.index.finish()
        return summarize(plan, plan.seconds + timer.seconds())

    def remove(self, source: str) -> int:
        """Delete a source and all its pages; return how many pages it had."""
        document_ids = [record.document_id for record in self.catalog.pages(source)]
        self._delete(source, [*document_ids, *self.find_leftovers(source)])
        self.catalog.forget(source)
        return len(document_ids)

    def rebuild(self) -> SpooledWrites:
        """Fill a new index with all pages of the catalog, without reading their sources.

        An interrupted rebuild is resumed.

        Returns:
            What the catalog has to record when the new index is activated.

        Raises:
            FingerprintMismatch: The model was replaced under its name since the rebuild was begun.
        """
        self.progress.stage("Chunking pages", None)
        spool = PageSpool(self.spool_folder)
        changes: list[PageChange] = []
        for record in self.catalog.pages():
            page = self.catalog.page(record.document_id)
            if page is not None:
                changes.append(
                    self.plan_page(page, record.page_hash, record.source, exists=True, spool=spool)
                )
                self.progress.advance()
        release_free_memory()
        # Pages are embedded in this order, so the first one was embedded before the model was replaced.
        check_model(self.embedder(), self.index, self.catalog, _read_embedded_chunks(spool, changes))
        self.progress.stage("Embedding", sum(change.chunks_to_embed for change in changes))
        for group in _group_changes(changes):
            with self._mark_pages_if_lock_is_lost([change.document_id for change in group]):
                self._write_to_index(spool, group)
        if self.index.count() != sum(change.chunks for change in changes):
            # The interrupted rebuild may have written pages that have been removed since, or emptied them.
            indexed = {point.document_id for point in self.index.scan() if point.document_id}
            for document_id in indexed - {change.document_id for change in changes}:
                self.index.delete_stale_points(document_id, keep=[])
        self.progress.stage("Optimising the index", None)
        self.index.finish()
        return SpooledWrites(spool, changes)

    def _write_to_index(self, spool: PageSpool, group: Sequence[PageChange]) -> None:
        """Write the chunks of these pages, and delete points that they no longer have."""
        points: dict[str, list[PointId]] = {change.document_id: [] for change in group}

        def read_batches(change: PageChange) -> Iterator[PlannedChunk]:
            for planned in chain.from_iterable(spool.read_chunks(change.position)):
                points[change.document_id].append(identity.point_id(planned.chunk.chunk_id))
                yield planned

        planned_chunks = chain.from_iterable(map(read_batches, group))
        sources = {change.document_id: change.source for change in group}
        while batch := list(islice(planned_chunks, EMBED_BATCH)):
            entries = [
                Entry(chunk, sources[chunk.document_id], embedded_text(chunk, front_matter), key)
                for chunk, front_matter, key, _ in batch
            ]
            self._embed([entry for entry, planned in zip(entries, batch, strict=True) if planned.to_embed])
            self.catalog.check_write_lock()
            self.index.describe(
                [entry for entry, planned in zip(entries, batch, strict=True) if not planned.to_embed]
            )
        for document_id, point_ids in points.items():
            self.catalog.check_write_lock()
            self.index.delete_stale_points(document_id, keep=point_ids)
        self.index.flush()
        self.catalog.check_write_lock()  # also after the last write, which a rebuild does not commit

    def _embed(self, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        vectors = self.embedder().embed_documents([entry.embedded_text for entry in entries])
        for start in range(0, len(entries), WRITE_BATCH):
            batch = entries[start : start + WRITE_BATCH]
            batch_vectors = []
            for vector in islice(vectors, len(batch)):
                if not np.isfinite(vector).all():
                    raise EmbedderError(
                        f"the model {self.embedder().name} returned NaN or infinity in a vector"
                    )
                batch_vectors.append(vector)
                self.progress.advance()
            if len(batch_vectors) < len(batch):
                raise EmbedderError(f"the model {self.embedder().name} returned fewer vectors than texts")
            self.catalog.check_write_lock()
            self.index.put(batch, batch_vectors)

    def _delete(self, source: str, document_ids: Sequence[str]) -> None:
        if not document_ids:
            return
        self.catalog.begin(document_ids, source)
        with self._mark_pages_if_lock_is_lost(document_ids):
            for document_id in document_ids:
                self.catalog.check_write_lock()
                self.index.delete_stale_points(document_id, keep=[])
            self.index.flush()
            self._commit(source, [], document_ids)

    def _commit(self, source: str, writes: Sequence[PageWrite], removed: Sequence[str] = ()) -> None:
        """Commit to the catalog, and record in the index that it has this commit."""
        self.index.record_commits(self.catalog.announce_commit())
        self.catalog.commit(source, writes, removed)

    @contextmanager
    def _mark_pages_if_lock_is_lost(self, document_ids: Collection[str]) -> Iterator[None]:
        """Mark pages as pending if writing them fails and the lock is lost.

        The process that has the lock now may have committed them before a last write of this one.
        """
        try:
            yield
        except PertinentError:
            try:
                self.catalog.check_write_lock()
            except CatalogFailure:
                self.catalog.begin(document_ids)
                raise
            raise


def summarize(plan: SyncPlan, seconds: float) -> SyncSummary:
    """Return the plan in numbers."""
    added = sum(not change.exists for change in plan.changes)
    changed = sum(change.chunks_changed for change in plan.changes)
    reused = sum(change.chunks - change.chunks_to_embed for change in plan.changes)
    return SyncSummary(
        pages_added=added,
        pages_changed=len(plan.changes) - added,
        pages_unchanged=plan.pages_unchanged,
        pages_removed=len(plan.removed),
        chunks_added=plan.chunks_to_embed - changed,
        chunks_changed=changed,
        chunks_kept=reused + plan.chunks_unchanged,
        chunks_removed=plan.chunks_removed,
        unreadable=plan.unreadable,
        skipped=plan.skipped,
        seconds=seconds,
        notes=plan.notes,
    )


def _read_embedded_chunks(spool: PageSpool, changes: Iterable[PageChange]) -> Iterator[Chunk]:
    """Yield the chunks that the index has a vector for, in the order of the pages."""
    for change in changes:
        for planned in chain.from_iterable(spool.read_chunks(change.position)):
            if not planned.to_embed:
                yield planned.chunk


def _group_changes(changes: Sequence[PageChange]) -> Iterator[list[PageChange]]:
    """Yield pages in groups of about COMMIT_CHUNKS chunks."""
    group: list[PageChange] = []
    chunks = 0
    for change in changes:
        group.append(change)
        chunks += change.chunks + 1
        if chunks >= COMMIT_CHUNKS:
            yield group
            group, chunks = [], 0
    if group:
        yield group
