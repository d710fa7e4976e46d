"""Sync: make an index match its source with the least work, and survive being killed.

    read → plan (new, changed, removed) → embed what changed → index → catalog

A page's change is recorded in the catalog as pending before the index is written, and ends in the same
transaction that records the page. Whatever is pending when a sync starts was interrupted, and the plan
treats it as changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from .. import identity
from .._internal.clock import StageTimer
from ..ports import Entry, PageWrite
from ..types import Skipped, Unreadable, readable_chunks
from .plan import PageChange, Planner, SyncPlan, check_removals

COMMIT_CHUNKS = 128
"""About how many chunks are written between two commits."""

WRITE_BATCH = 32
"""How many vectors are made before they are written: a kill loses at most these."""


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
        """
        timer = StageTimer()
        check_removals(plan, allow_shrink=allow_shrink)
        self.catalog.register(plan.source, plan.location)
        self.progress.stage("Embedding", plan.chunks_to_embed)
        for group in _group_changes(plan.changes):
            self.catalog.begin([change.page.document_id for change in group])
            self._write_to_index(group)
            self.catalog.commit(plan.source, [_page_write(change) for change in group])
        self._delete(plan.source, [*(record.document_id for record in plan.removed), *plan.leftovers])
        if not plan.nothing_to_do:
            self.progress.stage("Optimising the index", None)
        # Also with nothing to do, where it costs little: the run before may have been killed here.
        self.index.finish()
        return summarize(plan, plan.seconds + timer.seconds())

    def remove(self, source: str) -> int:
        """Delete a source and all its pages; return how many pages it had."""
        document_ids = [record.document_id for record in self.catalog.pages(source)]
        self._delete(source, document_ids)
        self.catalog.forget(source)
        return len(document_ids)

    def rebuild(self) -> list[tuple[str, PageWrite]]:
        """Fill a new index with all pages of the catalog, without reading their sources.

        An interrupted rebuild is resumed.

        Returns:
            What the catalog has to record when the new index is activated.
        """
        self.progress.stage("Chunking pages", None)
        rebuilt: list[tuple[str, PageChange]] = []
        for record in self.catalog.pages():
            page = self.catalog.page(record.document_id)
            if page is not None:
                change = self.plan_page(page, record.page_hash, record.source, exists=True)
                rebuilt.append((record.source, change))
                self.progress.advance()
        self.progress.stage("Embedding", sum(len(change.to_embed) for _, change in rebuilt))
        for group in _group_changes([change for _, change in rebuilt]):
            self._write_to_index(group)
        if self.index.count() != sum(len(change.entries) for _, change in rebuilt):
            # The interrupted rebuild may have written pages that have been removed since.
            indexed = {chunk.document_id for chunk in readable_chunks(self.index.scan())}
            for document_id in indexed - {change.page.document_id for _, change in rebuilt}:
                self.index.delete_stale_points(document_id, keep=[])
        self.progress.stage("Optimising the index", None)
        self.index.finish()
        return [(source, _page_write(change)) for source, change in rebuilt]

    def _write_to_index(self, group: Sequence[PageChange]) -> None:
        """Write the chunks of these pages, and delete points that they no longer have."""
        new: list[Entry] = []
        embedded: list[Entry] = []
        for change in group:
            for entry in change.entries:
                (new if entry.chunk.chunk_id in change.to_embed else embedded).append(entry)
        self._embed(new)
        self.index.describe(embedded)
        for change in group:
            points = [identity.point_id(entry.chunk.chunk_id) for entry in change.entries]
            self.index.delete_stale_points(change.page.document_id, keep=points)
        self.index.flush()

    def _embed(self, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        vectors = self.embedder().embed_documents([entry.embedded_text for entry in entries])
        for start in range(0, len(entries), WRITE_BATCH):
            batch = entries[start : start + WRITE_BATCH]
            batch_vectors = []
            for vector in islice(vectors, len(batch)):
                batch_vectors.append(vector)
                self.progress.advance()
            self.index.put(batch, batch_vectors)

    def _delete(self, source: str, document_ids: Sequence[str]) -> None:
        if not document_ids:
            return
        self.catalog.begin(document_ids)
        for document_id in document_ids:
            self.index.delete_stale_points(document_id, keep=[])
        self.index.flush()
        self.catalog.commit(source, [], removed=document_ids)


def _page_write(change: PageChange) -> PageWrite:
    return PageWrite(change.page, change.page_hash, [entry.chunk for entry in change.entries])


def summarize(plan: SyncPlan, seconds: float) -> SyncSummary:
    """Return the plan in numbers."""
    added = sum(not change.exists for change in plan.changes)
    changed = sum(change.chunks_changed for change in plan.changes)
    reused = sum(len(change.entries) - len(change.to_embed) for change in plan.changes)
    return SyncSummary(
        pages_added=added,
        pages_changed=len(plan.changes) - added,
        pages_unchanged=len(plan.unchanged),
        pages_removed=len(plan.removed),
        chunks_added=plan.chunks_to_embed - changed,
        chunks_changed=changed,
        chunks_kept=reused + sum(record.chunks for record in plan.unchanged),
        chunks_removed=plan.chunks_removed,
        unreadable=plan.unreadable,
        skipped=plan.skipped,
        seconds=seconds,
        notes=plan.notes,
    )


def _group_changes(changes: Sequence[PageChange]) -> Iterator[list[PageChange]]:
    """Yield pages in groups of about COMMIT_CHUNKS chunks."""
    group: list[PageChange] = []
    chunks = 0
    for change in changes:
        group.append(change)
        chunks += len(change.entries) + 1
        if chunks >= COMMIT_CHUNKS:
            yield group
            group, chunks = [], 0
    if group:
        yield group
