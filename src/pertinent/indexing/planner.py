"""Planning a sync: which pages of a source are new, changed, unchanged or removed.

Planning reads the source, the catalog and the index, and changes none of them. A page whose change was
interrupted in an earlier run (it is pending in the catalog) is planned as changed, whatever its hash says.
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
from ..errors import DamagedPage
from ..ports import Catalog, Embedder, PageRecord, Source, VectorIndex
from ..types import Gone, LazyPage, Page, Skipped, Unreadable
from .chunking import embedded_text, iterate_chunks
from .page_hash import hash_page
from .plan import PageChange, SyncPlan, check_source_name
from .spool import PageSpool, PlannedChunk

PLAN_BATCH = 256
"""How many chunks of a page are planned at a time."""

_WORD = re.compile(r"\w+")
PageKey = tuple[str, str]
"""What identifies a page even if its id changes (`identity.page_key`)."""


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
        spool = None if dry_run else PageSpool(self.spool_folder)
        comparison = _SourceComparison(self, source.name, spool)
        self.progress.stage("Reading pages", source.total)
        for result in source.read():
            if not isinstance(result, Skipped | Gone):
                self.progress.advance()
            comparison.add(result)
        replaced, missing = comparison.split_replaced_and_missing()
        leftovers = self.find_leftovers(source.name)
        return SyncPlan(
            source=source.name,
            location=source.location,
            changes=tuple(comparison.changes),
            removed=(*replaced, *_find_removed(missing, comparison.gone, comparison.unreadable)),
            pages_replaced=len(replaced),
            pages_unchanged=comparison.pages_unchanged,
            chunks_unchanged=comparison.chunks_unchanged,
            unreadable=tuple(comparison.unreadable),
            skipped=tuple(comparison.skipped),
            indexed_pages=len(comparison.indexed),
            leftovers=tuple(name for name in leftovers if name not in comparison.seen_ids),
            seconds=timer.seconds(),
            notes=(*self._compare_language(source), *self._note_other_source_names(source), *source.notes),
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

    def _note_other_source_names(self, source: Source) -> Iterator[str]:
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
            lost_text=present < len(created_at) and self.has_lost_text(page.document_id, page),
            position=position,
        )

    def has_lost_text(self, document_id: str, page: Page) -> bool:
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


class _SourceComparison:
    """Compares the pages of a source with the indexed ones, one after the other.

    No two pages of an index have the same id or the same key.
    """

    def __init__(self, planner: Planner, source: str, spool: PageSpool | None) -> None:
        self._planner = planner
        self._source = source
        self._spool = spool
        records = planner.catalog.pages()
        self.indexed = {record.document_id: record for record in records if record.source == source}
        self._indexed_by_key = {_page_key(record): record for record in self.indexed.values()}
        self._indexed_urls = {record.url for record in self.indexed.values()}
        other_records = [record for record in records if record.source != source]
        self._other_sources_by_id = {record.document_id: record.source for record in other_records}
        self._other_sources_by_key = {_page_key(record): record.source for record in other_records}
        self._pending = set(planner.catalog.pending())
        self.changes: list[PageChange] = []
        self.pages_unchanged = self.chunks_unchanged = 0
        self.unreadable: list[Unreadable] = []
        self.skipped: list[Skipped] = []
        self.gone: set[str] = set()
        self.seen_ids: set[str] = set()
        self._seen_keys: set[PageKey] = set()

    def add(self, result: Page | LazyPage | Skipped | Gone | Unreadable) -> None:
        """Plan a page that was read, or note why there is none."""
        if isinstance(result, Skipped):
            self.skipped.append(result)
        elif isinstance(result, Gone):
            self.gone.add(result.url)
        elif isinstance(result, Unreadable):
            if result.is_page or result.url in self._indexed_urls:
                self.unreadable.append(result)
        else:
            self._add_page(_make_lazy(result) if isinstance(result, Page) else result)

    def _add_page(self, lazy_page: LazyPage) -> None:
        document_id = lazy_page.document_id
        record = self.indexed.get(document_id)
        same_hash = record is not None and record.page_hash == lazy_page.page_hash
        if record and same_hash and document_id not in self._pending and document_id not in self.seen_ids:
            self._mark_seen(record)
            self.pages_unchanged += 1
            self.chunks_unchanged += record.chunks
            return
        page = lazy_page.page()
        if problem := self._find_problem(page):
            self.unreadable.append(Unreadable(page.source_path, problem))
            return
        self._mark_seen(page)
        exists = record is not None
        change = self._planner.plan_page(
            page, lazy_page.page_hash, self._source, exists=exists, spool=self._spool
        )
        predecessor = self._indexed_by_key.get(_page_key(page))
        if predecessor and not exists:
            change = replace(change, lost_text=self._planner.has_lost_text(predecessor.document_id, page))
        self.changes.append(change)

    def _mark_seen(self, page: Page | PageRecord) -> None:
        self.seen_ids.add(page.document_id)
        self._seen_keys.add(_page_key(page))

    def _find_problem(self, page: Page) -> str:
        """Return why a page can't be indexed, or nothing; a bad page does not stop the sync."""
        headings = [text for section in page.sections for text in (section.anchor, *section.path)]
        front_matter = page.front_matter
        labels = (front_matter.sidebar_label, *front_matter.keywords, *front_matter.tags)
        description = (front_matter.description, *labels)
        if not all(map(identity.is_storable, (page.url, page.title, page.text, *headings, *description))):
            return "it contains a NUL character or half of a surrogate pair"
        key = _page_key(page)
        if page.document_id in self.seen_ids or key in self._seen_keys:
            return f"another page of the source has the same address: {page.url}"
        owner = self._other_sources_by_id.get(page.document_id) or self._other_sources_by_key.get(key)
        return f"a page of the source {owner} has the same address: {page.url}" if owner else ""

    def split_replaced_and_missing(self) -> tuple[list[PageRecord], list[PageRecord]]:
        """Return the indexed pages that were read under another id, and those that were not read at all."""
        unseen = [record for record in self.indexed.values() if record.document_id not in self.seen_ids]
        replaced = [record for record in unseen if _page_key(record) in self._seen_keys]
        return replaced, [record for record in unseen if _page_key(record) not in self._seen_keys]


def _count_words(text: str) -> Counter[str]:
    return Counter(match.group() for match in _WORD.finditer(text))


def _make_lazy(page: Page) -> LazyPage:
    return LazyPage(page.document_id, hash_page(page), lambda: page)


def _page_key(page: Page | PageRecord) -> PageKey:
    return identity.page_key(page.url, page.document_id)


def _find_removed(
    missing: Iterable[PageRecord], gone: Set[str], unreadable: Sequence[Unreadable]
) -> list[PageRecord]:
    """Return the pages that the source no longer has, of the indexed ones that were not read.

    If an unreadable page might be any of them, only those that are known to be `gone`.
    """
    is_complete = all(problem.path_identifies_page for problem in unreadable)
    unread = {name for problem in unreadable for name in (problem.source_path, problem.url) if name}
    return [
        record
        for record in missing
        if (is_complete or record.url in gone) and not {record.source_path, record.url} & unread
    ]
