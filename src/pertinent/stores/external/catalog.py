"""The pages of a collection that another pipeline filled, assembled from their chunks.

The collection has no page texts. A page's text is its chunks in order, joined; where consecutive chunks
overlap, the common text occurs once. So every chunk is a slice of its page.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from ...identity import content_hash
from ...ports import Description, PageRecord
from ...search.word_counts import count_words
from ...types import (
    SECTION_SEPARATOR,
    Block,
    Chunk,
    DamagedPoint,
    Page,
    PointId,
    Section,
    SectionName,
    Vocabulary,
)
from ..catalog.catalog import SqlCatalog
from .index import ExternalIndex
from .payload import read_start, to_chunk

CACHE_SECONDS = 60.0
"""How long the assembled pages are cached; the pipeline may change the collection at any time."""

VOCABULARY_SECONDS = 600.0
"""How long words and names are cached; a search that finds them older reads all points again."""

MAX_VOCABULARY_POINTS = 20_000
"""The largest collection whose words and names are read; larger ones take too long to read for a search."""

MIN_OVERLAP = 20
"""The shortest common text, in characters, that counts as an overlap of two chunks."""

SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """All pages and chunks of the collection at one time."""

    read_at: float
    pages: Mapping[str, Page]
    chunks: Mapping[str, list[Chunk]]
    chunks_by_id: Mapping[str, Chunk]
    point_ids: Mapping[str, PointId]


@dataclass(frozen=True, slots=True)
class _Words:
    """The words, pages and sections of the collection at one time."""

    read_at: float
    version: int
    vocabulary: Vocabulary
    section_names: list[SectionName]


class ExternalCatalog:
    """`ports.CatalogReader` over an external collection; it reads all points when a page is first needed."""

    def __init__(self, index: ExternalIndex, embedder: str = "", documents: SqlCatalog | None = None) -> None:
        """Take the index, and the name of the embedder that is configured for its vectors.

        `documents` is the database of the same pipeline with seed 003's table; it is only read.
        """
        self._index = index
        self._embedder = embedder
        self._documents = documents
        self._lock = threading.Lock()
        self._snapshot: _Snapshot | None = None
        self._words_lock = threading.Lock()
        self._words: _Words | None = None

    def is_empty(self) -> bool:
        """Whether the collection has no points."""
        return not self._index.count()

    def has_chunks(self) -> bool:
        """Whether the collection has points."""
        return not self.is_empty()

    def pages(self, source: str | None = None) -> list[PageRecord]:
        """List all pages by path and address; the collection is their only source."""
        if source not in (None, self._index.name):
            return []
        snapshot = self._read()
        records = [self._record(page, snapshot) for page in snapshot.pages.values()]
        return sorted(records, key=lambda record: (record.source_path, record.url, record.document_id))

    def page_record(self, document_id: str) -> PageRecord | None:
        """Look up one page without its text."""
        snapshot = self._read()
        page = snapshot.pages.get(document_id)
        return None if page is None else self._record(page, snapshot)

    def _record(self, page: Page, snapshot: _Snapshot) -> PageRecord:
        return PageRecord(
            page.document_id,
            page.url,
            page.title,
            self._index.name,
            page.source_path,
            content_hash(page.text),
            len(snapshot.chunks[page.document_id]),
        )

    def page(self, document_id: str) -> Page | None:
        """Return one assembled page."""
        return self._read().pages.get(document_id)

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return a page's chunks with their spans, ordered by position."""
        return list(self._read().chunks.get(document_id, ()))

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return one chunk with its span."""
        return self._read().chunks_by_id.get(chunk_id)

    def describe(self, chunk_ids: Sequence[str]) -> dict[str, Description]:
        """Read path, slug and title of each chunk in the table `documents`; empty without a database."""
        return {} if self._documents is None else self._documents.describe(chunk_ids)

    def find_points(self, chunk_ids: Sequence[str]) -> dict[str, PointId]:
        """Return the id of the point from which each chunk was read."""
        point_ids = self._read().point_ids
        return {chunk_id: point_ids[chunk_id] for chunk_id in chunk_ids if chunk_id in point_ids}

    def sources(self) -> Mapping[str, str]:
        """Return the collection and the address of its server."""
        return {self._index.name: self._index.url}

    def fingerprint(self) -> None:
        """Return None: Pertinent did not make this index."""

    def provenance(self) -> Mapping[str, str]:
        """Return the configured embedder, and the dimension and the payload format of the points."""
        return {
            "embedder": self._embedder,
            "dimension": str(self._index.dense.dimension),
            "chunker": f"another pipeline's ({self._index.payload_format.name})",
            "lexical": "none",
        }

    def vocabulary_version(self) -> int:
        """Return a number that changes when other words or names have been read."""
        return self._read_words().version

    def vocabulary(self) -> Vocabulary:
        """Return the words of all chunks; none if there are more than `MAX_VOCABULARY_POINTS` points."""
        return self._read_words().vocabulary

    def section_names(self) -> list[SectionName]:
        """List every page, each followed by its sections; none if there are too many points."""
        return list(self._read_words().section_names)

    def ping(self) -> None:
        """Run the statement that a search uses, where there is a database."""
        if self._documents is not None:
            self._documents.ping()

    def close(self) -> None:
        """Close the database; the index closes the connection to the points."""
        if self._documents is not None:
            self._documents.close()

    def _read(self) -> _Snapshot:
        with self._lock:
            snapshot = self._snapshot
            if snapshot is None or time.monotonic() - snapshot.read_at > CACHE_SECONDS:
                snapshot = self._snapshot = self._read_all()
            return snapshot

    def _read_words(self) -> _Words:
        with self._words_lock:
            cached = self._words
            if cached is not None and time.monotonic() - cached.read_at <= VOCABULARY_SECONDS:
                return cached
            if self._index.count() > MAX_VOCABULARY_POINTS:
                vocabulary, names = Vocabulary({}, 0), []
            else:
                snapshot = self._read()
                vocabulary, names = _count_words(snapshot), _list_names(snapshot)
            version = cached.version if cached is not None else 0
            if cached is None or (cached.vocabulary, cached.section_names) != (vocabulary, names):
                version += 1
            self._words = _Words(time.monotonic(), version, vocabulary, names)
            return self._words

    def _read_all(self) -> _Snapshot:
        payload_format = self._index.payload_format
        by_page: dict[str, list[tuple[int, int, Chunk]]] = {}
        point_ids = {}
        for point_id, payload in self._index.points():
            chunk = to_chunk(payload, point_id, payload_format)
            if isinstance(chunk, DamagedPoint):
                continue
            point_ids[chunk.chunk_id] = point_id
            by_page.setdefault(chunk.document_id, []).append(
                (chunk.position, read_start(payload, payload_format), chunk)
            )
        pages, chunks = {}, {}
        for document_id, positioned in by_page.items():
            # The sort is stable: chunks without position and start stay in the order of their point ids.
            positioned.sort(key=lambda entry: entry[:2])
            pages[document_id], chunks[document_id] = assemble_page([chunk for *_, chunk in positioned])
        by_id = {chunk.chunk_id: chunk for page_chunks in chunks.values() for chunk in page_chunks}
        return _Snapshot(time.monotonic(), pages, chunks, by_id, point_ids)


def _count_words(snapshot: _Snapshot) -> Vocabulary:
    titles = {page.document_id: page.title for page in snapshot.pages.values()}
    chunks = list(chain.from_iterable(snapshot.chunks.values()))
    passages = ((chunk.document_id, chunk.section, chunk.text) for chunk in chunks)
    return Vocabulary(count_words(titles, passages), len(chunks))


def _list_names(snapshot: _Snapshot) -> list[SectionName]:
    names: list[SectionName] = []
    for page in sorted(snapshot.pages.values(), key=lambda page: (page.source_path, page.url)):
        names.append(SectionName(page.document_id, page.url, "", page.title, ""))
        names.extend(
            SectionName(page.document_id, page.url, chunk.anchor, page.title, chunk.section)
            for chunk in snapshot.chunks[page.document_id]
        )
    return list(dict.fromkeys(names))


def assemble_page(chunks: Sequence[Chunk]) -> tuple[Page, list[Chunk]]:
    """Join a page's chunks, in order, to its text.

    Args:
        chunks: The chunks of one page; at least one.

    Returns:
        The page, and the chunks with their spans in its text. Chunks without a position are numbered.
    """
    unnumbered = all(chunk.position < 0 for chunk in chunks)
    text = ""
    placed = []
    for number, chunk in enumerate(chunks):
        overlap = _overlap(text, chunk.text)
        if text and not overlap:
            text += SEPARATOR
        start = len(text) - overlap
        text += chunk.text[overlap:]
        position = number if unnumbered else chunk.position
        placed.append(replace(chunk, position=position, start=start, end=start + len(chunk.text)))
    first = chunks[0]
    page = Page(
        document_id=first.document_id,
        url=first.url,
        title=next((chunk.title for chunk in chunks if chunk.title), ""),
        source_path=first.source_path,
        slug=first.slug,
        source_type=first.source_type,
        text=text,
        sections=tuple(_sections(placed)),
    )
    return page, placed


def _overlap(text: str, following: str) -> int:
    """Count the characters at the end of the text that are also the beginning of the following text."""
    beginning = following[:MIN_OVERLAP]
    if len(beginning) < MIN_OVERLAP:
        return 0
    start = text.find(beginning, max(0, len(text) - len(following)))
    while start >= 0:
        if following.startswith(text[start:]):
            return len(text) - start
        start = text.find(beginning, start + 1)
    return 0


def _sections(chunks: Sequence[Chunk]) -> Iterable[Section]:
    for (section, anchor), run in groupby(chunks, key=lambda chunk: (chunk.section, chunk.anchor)):
        blocks = tuple(Block("prose", chunk.start, chunk.end) for chunk in run)
        yield Section(tuple(section.split(SECTION_SEPARATOR)) if section else (), anchor, blocks)
