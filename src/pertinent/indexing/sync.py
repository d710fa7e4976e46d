"""Sync: make an index say what its source says, with the least work, and survive being killed.

    read → plan (what is new, changed, gone) → embed what changed → index → catalog

A page's change is noted in the catalog as pending before the index is touched, and ends in the same
transaction that records the page. Whatever is still pending when a sync starts was broken off: such
a page is planned as changed, whatever its hash says. Vectors that the broken run had already written
are found again by their embedding key and are not made again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from .. import identity
from .._internal.clock import StageTimer, utc_now
from .._internal.progress import Progress, Silent
from ..errors import SyncRefused
from ..ports import Catalog, Embedder, Entry, PageRecord, PageWrite, Source, VectorIndex
from ..types import Chunk, Offer, Page, PassedOver, Unreadable, readable_chunks
from .chunking import chunk_page, embedded_text

SHRINK_LIMIT = 0.25
"""The share of a source's known pages that may go at once without being asked for."""

GROUP = 128
"""How many chunks are embedded between two commits."""

BATCH = 32
"""How many vectors are made before they are written: the most that a kill can cost."""


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page to write: its chunks, and which of them must be embedded."""

    page: Page
    page_hash: str
    entries: tuple[Entry, ...]
    to_embed: frozenset[str]
    known: bool
    changed: int
    """How many of those to embed were there before, under another title or heading."""
    superseded: int
    """How many chunks of the page go."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sync will do."""

    source: str
    location: str
    changes: tuple[PageChange, ...]
    removed: tuple[PageRecord, ...]
    unchanged: int
    unchanged_chunks: int
    unreadable: tuple[Unreadable, ...]
    passed_over: tuple[PassedOver, ...]
    known: int
    strays: tuple[str, ...] = ()
    chunks_removed: int = 0
    seconds: float = 0.0

    @property
    def chunks_to_embed(self) -> int:
        return sum(len(change.to_embed) for change in self.changes)

    @property
    def nothing_to_do(self) -> bool:
        return not (self.changes or self.removed or self.strays)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a sync did."""

    pages_added: int
    pages_changed: int
    pages_unchanged: int
    pages_removed: int
    chunks_added: int
    chunks_changed: int
    chunks_kept: int
    chunks_removed: int
    unreadable: tuple[Unreadable, ...]
    passed_over: tuple[PassedOver, ...]
    seconds: float

    @property
    def chunks_per_second(self) -> float:
        embedded = self.chunks_added + self.chunks_changed
        return embedded / self.seconds if self.seconds else 0.0


@dataclass(slots=True)
class Indexer:
    """Plans and applies syncs of sources into one index and its catalog.

    The embedder is asked for when there is something to embed: a run without changes loads no model.
    """

    embedder: Callable[[], Embedder]
    index: VectorIndex
    catalog: Catalog
    chunk_tokens: int
    progress: Progress = field(default_factory=Silent)

    def plan(self, source: Source) -> Plan:
        """What a sync of the source would do; reads, writes nothing."""
        watch = StageTimer()
        refuse_homonym(source, self.catalog.sources().get(source.name))
        everything = self.catalog.pages()
        known = {record.document_id: record for record in everything if record.source == source.name}
        elsewhere = {r.document_id: r.source for r in everything if r.source != source.name}
        pending = set(self.catalog.pending())
        changes: list[PageChange] = []
        unreadable: list[Unreadable] = []
        passed_over: list[PassedOver] = []
        seen: set[str] = set()
        unchanged: list[PageRecord] = []
        self.progress.stage("Reading pages", source.total)
        for found in source.read():
            if isinstance(found, PassedOver):
                passed_over.append(found)
                continue
            self.progress.advance()
            if isinstance(found, Unreadable):
                unreadable.append(found)
                continue
            offer = _offered(found) if isinstance(found, Page) else found
            record = known.get(offer.document_id)
            settled = offer.document_id not in pending and offer.document_id not in seen
            if record and record.page_hash == offer.page_hash and settled:
                seen.add(record.document_id)
                unchanged.append(record)
                continue
            page = _fit(offer.page(), seen, elsewhere)
            if isinstance(page, Unreadable):
                unreadable.append(page)
                continue
            seen.add(page.document_id)
            changes.append(self._change(page, offer.page_hash, source.name, known=record is not None))
        removed = _gone(known.values(), seen, unreadable)
        chunks_removed = sum(r.chunks for r in removed) + sum(change.superseded for change in changes)
        return Plan(
            source=source.name,
            location=source.location,
            changes=tuple(changes),
            removed=tuple(removed),
            unchanged=len(unchanged),
            unchanged_chunks=sum(record.chunks for record in unchanged),
            unreadable=tuple(unreadable),
            passed_over=tuple(passed_over),
            known=len(known),
            strays=tuple(sorted(pending - seen - known.keys() - elsewhere.keys())),
            chunks_removed=chunks_removed,
            seconds=watch.seconds(),
        )

    def _change(self, page: Page, page_hash: str, source: str, *, known: bool) -> PageChange:
        embedder = self.embedder()
        chunks = chunk_page(page, embedder.count_tokens, target=self.chunk_tokens, most=embedder.max_tokens)
        since = {chunk.chunk_id: chunk.created_at for chunk in self.catalog.chunks(page.document_id)}
        superseded = len(since.keys() - {chunk.chunk_id for chunk in chunks})
        known_chunks = since.keys() & {chunk.chunk_id for chunk in chunks}
        now = utc_now()
        entries = [
            self._entry(replace(chunk, created_at=since.get(chunk.chunk_id, now)), source) for chunk in chunks
        ]
        points = {identity.point_id(entry.chunk.chunk_id): entry for entry in entries}
        present = self.index.embedding_keys(list(points))
        to_embed = frozenset(
            entry.chunk.chunk_id
            for point, entry in points.items()
            if present.get(point) != entry.embedding_key
        )
        changed = len(known_chunks & to_embed)
        return PageChange(page, page_hash, tuple(entries), to_embed, known, changed, superseded)

    def _entry(self, chunk: Chunk, source: str) -> Entry:
        text = embedded_text(chunk)
        return Entry(chunk, source, text, identity.embedding_key(self.embedder().name, text))

    def apply(self, plan: Plan, *, allow_shrink: bool = False) -> Summary:
        """Carry the plan out; killed anywhere, the next sync ends as this one would have."""
        watch = StageTimer()
        guard(plan, allow_shrink=allow_shrink)
        self.catalog.register(plan.source, plan.location)
        self.progress.stage("Embedding", plan.chunks_to_embed)
        for group in _groups(plan.changes):
            self._write(plan.source, group)
        self._drop(plan.source, [*(record.document_id for record in plan.removed), *plan.strays])
        if not plan.nothing_to_do:
            self.progress.stage("Optimising the index", None)
        # Also with nothing to do: the run before may have been killed here. There it costs next to nothing.
        self.index.finish()
        return summarise(plan, plan.seconds + watch.seconds())

    def remove(self, source: str) -> int:
        """Take a source and all its pages out; how many pages that were."""
        gone = [record.document_id for record in self.catalog.pages(source)]
        self._drop(source, gone)
        self.catalog.forget(source)
        return len(gone)

    def rebuild(self) -> list[tuple[str, PageWrite]]:
        """Fill the index, a new one, with every page of the catalog, without the pages' sources.

        What a rebuild that broke off has left there is gone on with. Gives back what the catalog has to
        record once the new index takes the old one's place.
        """
        self.progress.stage("Chunking pages", None)
        rebuilt = []
        for record in self.catalog.pages():
            page = self.catalog.page(record.document_id)
            if page is not None:
                change = self._change(page, record.page_hash, record.source, known=True)
                rebuilt.append((record.source, change))
                self.progress.advance()
        self.progress.stage("Embedding", sum(len(change.to_embed) for _, change in rebuilt))
        for group in _groups([change for _, change in rebuilt]):
            self._fill(group)
        if self.index.count() != sum(len(change.entries) for _, change in rebuilt):
            # The rebuild that broke off may have written pages that are no longer there.
            kept = {change.page.document_id for _, change in rebuilt}
            for gone in {chunk.document_id for chunk in readable_chunks(self.index.scan())} - kept:
                self.index.delete_stale_points(gone, keep=[])
        self.progress.stage("Optimising the index", None)
        self.index.finish()
        return [(source, _page_write(change)) for source, change in rebuilt]

    def _fill(self, group: Sequence[PageChange]) -> None:
        """Have the index hold these pages as they are now."""
        entries = [(entry, entry.chunk.chunk_id in c.to_embed) for c in group for entry in c.entries]
        self._embed([entry for entry, new in entries if new])
        self.index.describe([entry for entry, new in entries if not new])
        for change in group:
            points = [identity.point_id(entry.chunk.chunk_id) for entry in change.entries]
            self.index.delete_stale_points(change.page.document_id, keep=points)
        self.index.flush()

    def _write(self, source: str, group: Sequence[PageChange]) -> None:
        self.catalog.begin([change.page.document_id for change in group])
        self._fill(group)
        self.catalog.commit(source, [_page_write(change) for change in group])

    def _embed(self, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        vectors = self.embedder().embed_documents([entry.embedded_text for entry in entries])
        for start in range(0, len(entries), BATCH):
            batch = entries[start : start + BATCH]
            made = []
            for vector in islice(vectors, len(batch)):
                made.append(vector)
                self.progress.advance()
            self.index.put(batch, made)

    def _drop(self, source: str, gone: Sequence[str]) -> None:
        if not gone:
            return
        self.catalog.begin(gone)
        for document in gone:
            self.index.delete_stale_points(document, keep=[])
        self.index.flush()
        self.catalog.commit(source, [], removed=gone)


def _page_write(change: PageChange) -> PageWrite:
    return PageWrite(change.page, change.page_hash, [entry.chunk for entry in change.entries])


def guard(plan: Plan, *, allow_shrink: bool) -> None:
    """Refuse a plan that would empty much of the index, which is seldom what was meant."""
    gone = len(plan.removed)
    if not allow_shrink and plan.known and gone > plan.known * SHRINK_LIMIT:
        raise SyncRefused(
            f"{gone} of the {plan.known} pages known from {plan.source} are no longer there, more than "
            "a quarter. Nothing was changed. If that is right, run again with --allow-shrink"
        )


def hash_of(page: Page) -> str:
    """Tells whether a page is as it was: all that is stored of it, and nothing else."""
    sections = [
        (one.path, one.anchor, [(block.kind, block.start, block.end) for block in one.blocks])
        for one in page.sections
    ]
    fields = (
        page.document_id,
        page.url,
        page.title,
        page.source_path,
        page.slug,
        page.source_type,
        page.text,
    )
    # Half a surrogate pair has no bytes in UTF-8; that such a page can't be kept is told later.
    told = json.dumps((*fields, sections), ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.sha256(told).hexdigest()


def _offered(page: Page) -> Offer:
    return Offer(page.document_id, hash_of(page), lambda: page)


def _fit(page: Page, seen: Set[str], elsewhere: Mapping[str, str]) -> Page | Unreadable:
    """The page, or why it can't be kept: one bad page must not stop all the others."""
    texts = (page.url, page.title, page.text, *(one for s in page.sections for one in (s.anchor, *s.path)))
    if not all(map(identity.storable, texts)):
        return Unreadable(page.source_path, "it has a NUL character or half a surrogate pair in it")
    if page.document_id in seen:
        return Unreadable(page.source_path, f"another page of the source has its address too: {page.url}")
    if owner := elsewhere.get(page.document_id):
        return Unreadable(page.source_path, f"the source {owner} has a page with its address {page.url}")
    return page


def _gone(known: Iterable[PageRecord], seen: Set[str], unreadable: Sequence[Unreadable]) -> list[PageRecord]:
    """The pages that are no longer in the source; none, where one that can't be read may be any of them."""
    if not all(one.named for one in unreadable):
        return []
    unread = {name for one in unreadable for name in (one.source_path, one.url) if name}
    return [
        record
        for record in known
        if record.document_id not in seen and not {record.source_path, record.url} & unread
    ]


def refuse_homonym(source: Source, known_at: str | None) -> None:
    """Refuse a folder that goes by the name of another that is still there: it would replace its pages."""
    if known_at in (None, source.location) or "://" in source.name or not Path(known_at or "").exists():
        return
    raise SyncRefused(
        f"{known_at} is indexed under the name {source.name!r} already, and {source.location} would take its "
        "place. Nothing was changed. Give this one a name of its own with --name"
    )


def summarise(plan: Plan, seconds: float) -> Summary:
    """The plan in numbers."""
    added = sum(not change.known for change in plan.changes)
    changed = sum(change.changed for change in plan.changes)
    kept = sum(len(change.entries) - len(change.to_embed) for change in plan.changes)
    return Summary(
        pages_added=added,
        pages_changed=len(plan.changes) - added,
        pages_unchanged=plan.unchanged,
        pages_removed=len(plan.removed),
        chunks_added=plan.chunks_to_embed - changed,
        chunks_changed=changed,
        chunks_kept=kept + plan.unchanged_chunks,
        chunks_removed=plan.chunks_removed,
        unreadable=plan.unreadable,
        passed_over=plan.passed_over,
        seconds=seconds,
    )


def _groups(changes: Sequence[PageChange]) -> Iterator[list[PageChange]]:
    """Pages together until they hold a group's worth of chunks."""
    group: list[PageChange] = []
    chunks = 0
    for change in changes:
        group.append(change)
        chunks += len(change.entries) + 1
        if chunks >= GROUP:
            yield group
            group, chunks = [], 0
    if group:
        yield group
