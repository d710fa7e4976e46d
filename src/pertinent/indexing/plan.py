"""Planning a sync: which pages of a source are new, changed, unchanged or removed.

Planning reads the source, the catalog and the index, and changes none of them. A plan holds names and
numbers; the changed pages wait in a spool on disk. A page whose change was interrupted in an earlier run (it
is pending in the catalog) is planned as changed, whatever its hash says.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from .. import identity
from .._internal.clock import StageTimer, utc_now
from .._internal.progress import NoProgress, Progress
from ..errors import DamagedPage, SyncRefused
from ..ports import Catalog, Embedder, PageRecord, Source, VectorIndex
from ..types import Gone, LazyPage, Page, Skipped, Unreadable
from .chunking import embedded_text, iterate_chunks
from .page_hash import hash_page
from .spool import PageSpool, PlannedChunk

SHRINK_LIMIT = 0.25
"""The share of a source's pages that a sync may remove without `allow_shrink`."""

PLAN_BATCH = 256
"""How many chunks of a page are planned at a time."""

LOST_TEXT_LIMIT = 0.5
"""The share of a source's pages that may lose most of their text without `allow_shrink`."""

_WORD = re.compile(r"\w+")
_Identity = str | tuple[str, str]


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page to write: its id and counts. The page itself is in the spool of the plan."""

    document_id: str
    source: str
    source_path: str
    page_hash: str
    chunks: int
    chunks_to_embed: int
    """How many chunks have no vector yet."""
    exists: bool
    """Whether an earlier version of the page is indexed."""
    chunks_changed: int
    """How many chunks to embed are indexed already, under another title or heading."""
    chunks_removed: int
    """How many indexed chunks of the page are no longer on it."""
    lost_text: bool
    """Whether most words of the indexed page are no longer on it."""
    position: int
    """Where the page begins in the spool."""


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync will do."""

    source: str
    location: str
    changes: tuple[PageChange, ...]
    removed: tuple[PageRecord, ...]
    pages_unchanged: int
    chunks_unchanged: int
    """How many chunks the unchanged pages have."""
    unreadable: tuple[Unreadable, ...]
    skipped: tuple[Skipped, ...]
    indexed_pages: int
    """How many pages of the source are indexed now."""
    pages_replaced: int = 0
    """How many of the removed pages were read under another id: their slug has changed."""
    leftovers: tuple[str, ...] = ()
    """Documents that an interrupted run left in the index and that the source no longer has."""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    """What the user should know, such as another language than that of the index."""
    spool: PageSpool | None = field(default=None, compare=False, repr=False)
    """The changed pages; None in the plan of a dry run."""

    @property
    def chunks_to_embed(self) -> int:
        """How many chunks need a new vector."""
        return sum(change.chunks_to_embed for change in self.changes)

    @property
    def chunks_removed(self) -> int:
        """How many chunks are deleted."""
        of_pages = sum(record.chunks for record in self.removed)
        return of_pages + sum(change.chunks_removed for change in self.changes)

    @property
    def nothing_to_do(self) -> bool:
        """Whether the index matches the source already."""
        return not (self.changes or self.removed or self.leftovers)


@dataclass(slots=True)
class Planner:
    """Compares sources with an index and its catalog.

    `embedder` is a function so that a run without changes loads no model.
    """

    embedder: Callable[[], Embedder]
    index: VectorIndex
    catalog: Catalog
    chunk_tokens: int
    progress: Progress = field(default_factory=NoProgress)
    language: str | None = None
    """The language of the index, to be compared with that of a source; None if the user chose it."""
    spool_folder: Path | None = None
    """Where changed pages wait between planning and writing; None is the system's temporary folder."""

    def plan(self, source: Source, *, dry_run: bool = False) -> SyncPlan:
        """Return what a sync of the source would do; change neither index nor catalog.

        Args:
            source: The source to read.
            dry_run: Spool no pages: the plan says what a sync would do, and can't be applied.

        Raises:
            SyncRefused: Another folder is indexed under the name of the source.
        """
        timer = StageTimer()
        check_source_name(source, self.catalog.sources().get(source.name))
        records = self.catalog.pages()
        indexed = {record.document_id: record for record in records if record.source == source.name}
        indexed_urls = {record.url for record in indexed.values()}
        predecessors = {_page_key(record): record for record in indexed.values()}
        other_records = (record for record in records if record.source != source.name)
        other_owners = {name: record.source for record in other_records for name in _identities(record)}
        pending = set(self.catalog.pending())
        spool = None if dry_run else PageSpool(self.spool_folder)
        changes: list[PageChange] = []
        pages_unchanged = chunks_unchanged = 0
        unreadable: list[Unreadable] = []
        skipped: list[Skipped] = []
        seen: set[_Identity] = set()
        gone: set[str] = set()
        self.progress.stage("Reading pages", source.total)
        for result in source.read():
            if isinstance(result, Skipped):
                skipped.append(result)
                continue
            if isinstance(result, Gone):
                gone.add(result.url)
                continue
            self.progress.advance()
            if isinstance(result, Unreadable):
                if result.is_page or result.url in indexed_urls:
                    unreadable.append(result)
                continue
            lazy_page = _make_lazy(result) if isinstance(result, Page) else result
            document_id = lazy_page.document_id
            record = indexed.get(document_id)
            same_hash = record is not None and record.page_hash == lazy_page.page_hash
            if record and same_hash and document_id not in pending and document_id not in seen:
                seen.update(_identities(record))
                pages_unchanged += 1
                chunks_unchanged += record.chunks
                continue
            page = lazy_page.page()
            if problem := _find_problem(page, seen, other_owners):
                unreadable.append(Unreadable(page.source_path, problem))
                continue
            seen.update(_identities(page))
            exists = record is not None
            change = self.plan_page(page, lazy_page.page_hash, source.name, exists=exists, spool=spool)
            predecessor = predecessors.get(_page_key(page))
            if predecessor and not exists:
                change = replace(change, lost_text=self._has_lost_text(predecessor.document_id, page))
            changes.append(change)
        replaced, missing = _find_unseen(indexed.values(), seen)
        return SyncPlan(
            source=source.name,
            location=source.location,
            changes=tuple(changes),
            removed=(*replaced, *_find_removed(missing, gone, unreadable)),
            pages_replaced=len(replaced),
            pages_unchanged=pages_unchanged,
            chunks_unchanged=chunks_unchanged,
            unreadable=tuple(unreadable),
            skipped=tuple(skipped),
            indexed_pages=len(indexed),
            leftovers=tuple(
                document_id for document_id in self.find_leftovers(source.name) if document_id not in seen
            ),
            seconds=timer.seconds(),
            notes=(*self._compare_language(source), *self._find_other_names(source), *source.notes),
            spool=spool,
        )

    def find_leftovers(self, source: str) -> list[str]:
        """Return the documents without a page in the catalog that an interrupted sync of the source left."""
        pending = self.catalog.pending(source)
        recorded = {record.document_id for record in self.catalog.pages()} if pending else frozenset()
        return [document_id for document_id in pending if document_id not in recorded]

    def _compare_language(self, source: Source) -> Iterator[str]:
        if self.language and (language := source.language) not in (None, self.language):
            yield (
                f"the language of {source.name} is {language}, that of the index is {self.language}; "
                f'to change it, set language = "{language}" and run `pertinent reindex`'
            )

    def _find_other_names(self, source: Source) -> Iterator[str]:
        for name, location in self.catalog.sources().items():
            if location == source.location and name != source.name:
                yield (
                    f"{location} is also indexed as {name}: if pages are found twice, "
                    f"`pertinent remove {shlex.quote(name)}` removes that source"
                )

    def plan_page(
        self, page: Page, page_hash: str, source: str, *, exists: bool, spool: PageSpool | None
    ) -> PageChange:
        """Chunk the page, find which chunks have no vector in the index yet, and spool it.

        Vectors are found by their embedding key, so those that an interrupted run wrote are not made again.
        """
        created_at = self.catalog.creation_times(page.document_id) if exists else {}
        chunks = to_embed = changed = present = 0

        def count_batches() -> Iterator[list[PlannedChunk]]:
            nonlocal chunks, to_embed, changed, present
            for batch in self._plan_chunks(page, created_at):
                chunks += len(batch)
                to_embed += sum(planned.to_embed for planned in batch)
                indexed = [planned for planned in batch if planned.chunk.chunk_id in created_at]
                present += len(indexed)
                changed += sum(planned.to_embed for planned in indexed)
                yield batch

        position = 0
        if spool is not None:
            position = spool.write(page, count_batches())
        else:
            for _ in count_batches():
                pass
        return PageChange(
            page.document_id,
            source,
            page.source_path,
            page_hash,
            chunks,
            to_embed,
            exists,
            chunks_changed=changed,
            chunks_removed=len(created_at) - present,
            lost_text=present < len(created_at) and self._has_lost_text(page.document_id, page),
            position=position,
        )

    def _has_lost_text(self, document_id: str, page: Page) -> bool:
        """Whether a page has lost more than half of the words that are indexed under an id.

        Its length may be the same.
        """
        try:
            indexed = self.catalog.page(document_id)
        except DamagedPage:
            return False
        words = _count_words(indexed.text) if indexed is not None else Counter()
        return (words - _count_words(page.text)).total() > words.total() / 2

    def _plan_chunks(self, page: Page, created_at: Mapping[str, str]) -> Iterator[list[PlannedChunk]]:
        """Yield the chunks of a page in batches, each with its time and whether it must be embedded."""
        embedder = self.embedder()
        now = utc_now()
        remaining = iterate_chunks(
            page, embedder.count_tokens, target=self.chunk_tokens, most=embedder.max_tokens
        )
        while batch := list(islice(remaining, PLAN_BATCH)):
            point_ids = [identity.point_id(chunk.chunk_id) for chunk in batch]
            stored_keys = self.index.embedding_keys(point_ids)
            planned = []
            for chunk, point_id in zip(batch, point_ids, strict=True):
                key = identity.embedding_key(embedder.name, embedded_text(chunk, page.front_matter))
                timed = replace(chunk, created_at=created_at.get(chunk.chunk_id) or now)
                planned.append(PlannedChunk(timed, page.front_matter, key, stored_keys.get(point_id) != key))
            yield planned


def _count_words(text: str) -> Counter[str]:
    return Counter(match.group() for match in _WORD.finditer(text))


def _make_lazy(page: Page) -> LazyPage:
    return LazyPage(page.document_id, hash_page(page), lambda: page)


def _page_key(page: Page | PageRecord) -> tuple[str, str]:
    return identity.page_key(page.url, page.document_id)


def _identities(page: Page | PageRecord) -> tuple[_Identity, ...]:
    """Return the id and the key of a page; no two pages of an index share either of them."""
    return page.document_id, _page_key(page)


def _find_problem(page: Page, seen: Set[_Identity], other_owners: Mapping[_Identity, str]) -> str:
    """Return why a page can't be indexed, or nothing; a bad page does not stop the sync."""
    headings = [text for section in page.sections for text in (section.anchor, *section.path)]
    front_matter = page.front_matter
    labels = (front_matter.sidebar_label, *front_matter.keywords, *front_matter.tags)
    description = (front_matter.description, *labels)
    if not all(map(identity.is_storable, (page.url, page.title, page.text, *headings, *description))):
        return "it contains a NUL character or half of a surrogate pair"
    if not seen.isdisjoint(_identities(page)):
        return f"another page of the source has the same address: {page.url}"
    if owner := next(filter(None, map(other_owners.get, _identities(page))), None):
        return f"a page of the source {owner} has the same address: {page.url}"
    return ""


def _find_unseen(
    indexed: Iterable[PageRecord], seen: Set[_Identity]
) -> tuple[list[PageRecord], list[PageRecord]]:
    """Return the indexed pages that were read under another id, and those that were not read at all."""
    unseen = [record for record in indexed if record.document_id not in seen]
    replaced = [record for record in unseen if _page_key(record) in seen]
    return replaced, [record for record in unseen if _page_key(record) not in seen]


def _find_removed(
    missing: Iterable[PageRecord], gone: Set[str], unreadable: Sequence[Unreadable]
) -> list[PageRecord]:
    """Return which of the indexed pages that were not read the source no longer has.

    If an unreadable page might be any of them, only those that are known to be `gone`.
    """
    is_complete = all(problem.path_identifies_page for problem in unreadable)
    unread = {name for problem in unreadable for name in (problem.source_path, problem.url) if name}
    return [
        record
        for record in missing
        if (is_complete or record.url in gone) and not {record.source_path, record.url} & unread
    ]


def check_source_name(source: Source, indexed_location: str | None) -> None:
    """Refuse a folder with the name of another indexed folder that still exists.

    Its pages would replace those of the other folder.
    """
    if indexed_location in (None, source.location) or "://" in source.name:
        return
    if Path(indexed_location or "").exists():
        raise SyncRefused(
            f"{indexed_location} is already indexed under the name {source.name!r}, and {source.location} "
            "would replace it. Nothing was changed. Give this folder its own name with --name"
        )


def check_removals(plan: SyncPlan, *, allow_shrink: bool) -> None:
    """Refuse a plan that loses too much of a source, unless that is allowed.

    That is more than a quarter of its pages, or most of the text of more than half of them, as when a site
    answers every address with a "not found" page and status 200. A single rewritten page is an edit.
    """
    if allow_shrink:
        return
    removed = len(plan.removed) - plan.pages_replaced
    if removed > plan.indexed_pages * SHRINK_LIMIT:
        raise SyncRefused(
            f"{removed} of the {plan.indexed_pages} indexed pages of {plan.source} are missing, more than a "
            "quarter. Nothing was changed. If you want this, run again with --allow-shrink"
        )
    lost = removed + sum(change.lost_text for change in plan.changes)
    if lost > max(1, plan.indexed_pages * LOST_TEXT_LIMIT):
        raise SyncRefused(
            f"{lost} of the {plan.indexed_pages} indexed pages of {plan.source} have lost most of their "
            'text, as if each were a "not found" page. Nothing was changed. If you want this, run again with '
            "--allow-shrink"
        )
