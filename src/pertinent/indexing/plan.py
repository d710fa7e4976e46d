"""Planning a sync: which pages of a source are new, changed, unchanged or removed.

Planning reads the source, the catalog and the index, and writes nothing. A page whose change did not
end in an earlier run (it is pending in the catalog) is planned as changed, whatever its hash says.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

from .. import identity
from .._internal.clock import StageTimer, utc_now
from .._internal.progress import NoProgress, Progress
from ..errors import SyncRefused
from ..ports import Catalog, Embedder, Entry, PageRecord, Source, VectorIndex
from ..types import Chunk, FrontMatter, LazyPage, Page, Skipped, Unreadable
from .chunking import chunk_page, embedded_text

SHRINK_LIMIT = 0.25
"""The share of a source's pages that a sync may remove without `allow_shrink`."""

LOST_TEXT_LIMIT = 0.5
"""The share of a source's pages that may lose most of their text without `allow_shrink`."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page to write: its chunks, and which of them must be embedded."""

    page: Page
    page_hash: str
    entries: tuple[Entry, ...]
    to_embed: frozenset[str]
    """Ids of the chunks that have no vector yet."""
    exists: bool
    """Whether an earlier version of the page is indexed."""
    chunks_changed: int
    """How many chunks to embed are indexed already, under another title or heading."""
    chunks_removed: int
    """How many indexed chunks of the page are no longer on it."""
    lost_text: bool
    """Whether most words of the indexed page are no longer on it."""


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync will do."""

    source: str
    location: str
    changes: tuple[PageChange, ...]
    removed: tuple[PageRecord, ...]
    unchanged: tuple[PageRecord, ...]
    unreadable: tuple[Unreadable, ...]
    skipped: tuple[Skipped, ...]
    indexed_pages: int
    """How many pages of the source are indexed now."""
    leftovers: tuple[str, ...] = ()
    """Documents that an interrupted run left in the index and that no source has."""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    """What the user should know, such as another language than that of the index."""

    @property
    def chunks_to_embed(self) -> int:
        """How many chunks need a new vector."""
        return sum(len(change.to_embed) for change in self.changes)

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

    def plan(self, source: Source) -> SyncPlan:
        """Return what a sync of the source would do; write nothing.

        Raises:
            SyncRefused: Another folder is indexed under the name of the source.
        """
        timer = StageTimer()
        check_source_name(source, self.catalog.sources().get(source.name))
        records = self.catalog.pages()
        indexed = {record.document_id: record for record in records if record.source == source.name}
        other_owners = {r.document_id: r.source for r in records if r.source != source.name}
        pending = set(self.catalog.pending())
        changes: list[PageChange] = []
        unchanged: list[PageRecord] = []
        unreadable: list[Unreadable] = []
        skipped: list[Skipped] = []
        seen: set[str] = set()
        self.progress.stage("Reading pages", source.total)
        for result in source.read():
            if isinstance(result, Skipped):
                skipped.append(result)
                continue
            self.progress.advance()
            if isinstance(result, Unreadable):
                unreadable.append(result)
                continue
            lazy_page = _make_lazy(result) if isinstance(result, Page) else result
            document_id = lazy_page.document_id
            record = indexed.get(document_id)
            same_hash = record is not None and record.page_hash == lazy_page.page_hash
            if record and same_hash and document_id not in pending and document_id not in seen:
                seen.add(document_id)
                unchanged.append(record)
                continue
            page = lazy_page.page()
            if problem := _find_problem(page, seen, other_owners):
                unreadable.append(Unreadable(page.source_path, problem))
                continue
            seen.add(page.document_id)
            changes.append(self.plan_page(page, lazy_page.page_hash, source.name, exists=record is not None))
        return SyncPlan(
            source=source.name,
            location=source.location,
            changes=tuple(changes),
            removed=tuple(_find_removed(indexed.values(), seen, unreadable)),
            unchanged=tuple(unchanged),
            unreadable=tuple(unreadable),
            skipped=tuple(skipped),
            indexed_pages=len(indexed),
            leftovers=tuple(sorted(pending - seen - indexed.keys() - other_owners.keys())),
            seconds=timer.seconds(),
            notes=tuple(self._compare_language(source)),
        )

    def _compare_language(self, source: Source) -> Iterator[str]:
        if self.language and (language := source.language) not in (None, self.language):
            yield (
                f"the language of {source.name} is {language}, that of the index is {self.language}; "
                f'to change it, set language = "{language}" and run `pertinent reindex`'
            )

    def plan_page(self, page: Page, page_hash: str, source: str, *, exists: bool) -> PageChange:
        """Chunk the page, and find which chunks have no vector in the index yet.

        Vectors are found by their embedding key, so those that an interrupted run wrote are not made again.
        """
        embedder = self.embedder()
        chunks = chunk_page(page, embedder.count_tokens, target=self.chunk_tokens, most=embedder.max_tokens)
        chunk_ids = {chunk.chunk_id for chunk in chunks}
        indexed_chunks = self.catalog.chunks(page.document_id)
        created_at = {chunk.chunk_id: chunk.created_at for chunk in indexed_chunks}
        now = utc_now()
        dated = [replace(chunk, created_at=created_at.get(chunk.chunk_id, now)) for chunk in chunks]
        entries = [make_entry(page, chunk, source, embedder.name) for chunk in dated]
        by_point = {identity.point_id(entry.chunk.chunk_id): entry for entry in entries}
        stored_keys = self.index.embedding_keys(list(by_point))
        to_embed = frozenset(
            entry.chunk.chunk_id
            for point_id, entry in by_point.items()
            if stored_keys.get(point_id) != entry.embedding_key
        )
        return PageChange(
            page,
            page_hash,
            tuple(entries),
            to_embed,
            exists,
            chunks_changed=len(created_at.keys() & to_embed),
            chunks_removed=len(created_at.keys() - chunk_ids),
            lost_text=not created_at.keys() <= chunk_ids and _has_lost_text(indexed_chunks, chunks),
        )


def make_entry(page: Page, chunk: Chunk, source: str, embedder: str) -> Entry:
    """Return a chunk of the page as it is put into the index."""
    text = embedded_text(chunk, page.front_matter)
    return Entry(chunk, source, text, identity.embedding_key(embedder, text))


def _has_lost_text(indexed: Sequence[Chunk], chunks: Sequence[Chunk]) -> bool:
    """Whether more than half of a page's words are gone, though its length may be as before."""
    words = _count_words(indexed)
    return (words - _count_words(chunks)).total() > words.total() / 2


def _count_words(chunks: Sequence[Chunk]) -> Counter[str]:
    return Counter(word for chunk in chunks for word in _WORD.findall(chunk.text))


def _make_lazy(page: Page) -> LazyPage:
    return LazyPage(page.document_id, hash_page(page), lambda: page)


def hash_page(page: Page) -> str:
    """Return a hash of all that is stored of a page; it changes with the page."""
    sections = [
        (section.path, section.anchor, [(block.kind, block.start, block.end) for block in section.blocks])
        for section in page.sections
    ]
    fields: tuple[object, ...] = (
        page.document_id,
        page.url,
        page.title,
        page.source_path,
        page.slug,
        page.source_type,
        page.text,
    )
    if page.front_matter != FrontMatter():
        fields = (*fields, *astuple(page.front_matter))
    # Half a surrogate pair has no bytes in UTF-8; `_find_problem` reports such a page.
    content = json.dumps((*fields, sections), ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()


def _find_problem(page: Page, seen: Set[str], other_owners: Mapping[str, str]) -> str:
    """Return why a page can't be indexed, or nothing; a bad page does not stop the sync."""
    headings = [text for section in page.sections for text in (section.anchor, *section.path)]
    about = page.front_matter
    description = (about.description, about.sidebar_label, *about.keywords, *about.tags)
    if not all(map(identity.is_storable, (page.url, page.title, page.text, *headings, *description))):
        return "it has a NUL character or half a surrogate pair in it"
    if page.document_id in seen:
        return f"another page of the source has its address too: {page.url}"
    if owner := other_owners.get(page.document_id):
        return f"the source {owner} has a page with its address {page.url}"
    return ""


def _find_removed(
    indexed: Iterable[PageRecord], seen: Set[str], unreadable: Sequence[Unreadable]
) -> list[PageRecord]:
    """Return the indexed pages that the source no longer has.

    There are none if an unreadable page might be any of them.
    """
    if not all(problem.path_identifies_page for problem in unreadable):
        return []
    unread = {name for problem in unreadable for name in (problem.source_path, problem.url) if name}
    return [
        record
        for record in indexed
        if record.document_id not in seen and not {record.source_path, record.url} & unread
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
    removed = len(plan.removed)
    if removed > plan.indexed_pages * SHRINK_LIMIT:
        raise SyncRefused(
            f"{removed} of the {plan.indexed_pages} indexed pages of {plan.source} are missing, more than a "
            "quarter. Nothing was changed. If that is right, run again with --allow-shrink"
        )
    lost = removed + sum(change.lost_text for change in plan.changes)
    if lost > max(1, plan.indexed_pages * LOST_TEXT_LIMIT):
        raise SyncRefused(
            f"{lost} of the {plan.indexed_pages} indexed pages of {plan.source} have lost most of their "
            'text, as if each were a "not found" page. Nothing was changed. If that is right, run again with '
            "--allow-shrink"
        )
