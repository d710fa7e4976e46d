"""The pages behind a collection that another pipeline filled: put together from their chunks.

Nobody kept the pages, so a page's text is its chunks in order, each where the one before it ends; what
two of them share, as overlapping chunks do, stands there once. So every chunk is a slice of its page.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import groupby

from ...identity import content_hash
from ...ports import Description, Fingerprint, PageRecord, Written
from ...types import Block, Chunk, DamagedPoint, Page, Section
from ..catalog.catalog import SqlCatalog
from .index import ForeignIndex
from .payload import start_of, to_chunk

KEPT_SECONDS = 60.0
"""How long what was read counts: the pipeline may write at any time, and nobody tells us."""

OVERLAP = 20
"""From how many characters on an end that is also the next beginning counts as the same text."""

BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class _Read:
    """All that the collection held at a time."""

    at: float
    pages: Mapping[str, Page]
    chunks: Mapping[str, list[Chunk]]
    by_id: Mapping[str, Chunk]


class ForeignCatalog:
    """`ports.Catalog` made from the points; it reads all of them when the first page is asked for."""

    def __init__(self, index: ForeignIndex, embedder: str = "", documents: SqlCatalog | None = None) -> None:
        """Take the index, and the name of the embedder that its vectors are said to be made by.

        `documents` is the database of the same pipeline with seed 003's table; it is only read.
        """
        self._index = index
        self._embedder = embedder
        self._documents = documents
        self._reading = threading.Lock()
        self._kept: _Read | None = None

    def pages(self, source: str | None = None) -> list[PageRecord]:
        """Every page by path and address; they all have one source, the collection."""
        if source not in (None, self._index.name):
            return []
        read = self._read()
        records = [
            _record(page, self._index.name, len(read.chunks[name])) for name, page in read.pages.items()
        ]
        return sorted(records, key=lambda one: (one.source_path, one.url, one.document_id))

    def page(self, document_id: str) -> Page | None:
        return self._read().pages.get(document_id)

    def chunks(self, document_id: str) -> list[Chunk]:
        return list(self._read().chunks.get(document_id, ()))

    def chunk(self, chunk_id: str) -> Chunk | None:
        return self._read().by_id.get(chunk_id)

    def describe(self, chunk_ids: Sequence[str]) -> dict[str, Description]:
        """Path, slug and title of each chunk in the table `documents`; nothing where there is no database."""
        return {} if self._documents is None else self._documents.describe(chunk_ids)

    def begin(self, document_ids: Iterable[str]) -> None:  # noqa: ARG002
        self._index.refuse()

    def pending(self) -> list[str]:
        return []

    def commit(
        self,
        source: str,  # noqa: ARG002
        written: Sequence[Written],  # noqa: ARG002
        removed: Sequence[str] = (),  # noqa: ARG002
    ) -> None:
        self._index.refuse()

    def alone(self, waiting: Callable[[], None]) -> AbstractContextManager[None]:  # noqa: ARG002
        self._index.refuse()

    def sources(self) -> Mapping[str, str]:
        return {self._index.name: self._index.url}

    def register(self, source: str, location: str) -> None:  # noqa: ARG002
        self._index.refuse()

    def forget(self, source: str) -> None:  # noqa: ARG002
        self._index.refuse()

    def fingerprint(self) -> Fingerprint | None:
        """What is known of how it was made: not who cut the chunks."""
        chunker = f"another pipeline's ({self._index.shape.name})"
        return Fingerprint(self._embedder, self._index.dense.dimension, chunker, "none")

    def set_fingerprint(self, fingerprint: Fingerprint) -> None:  # noqa: ARG002
        self._index.refuse()

    def previous(self) -> Fingerprint | None:
        return None

    def forget_previous(self) -> None:
        self._index.refuse()

    def building(self) -> Fingerprint | None:
        return None

    def begin_build(self, fingerprint: Fingerprint) -> None:  # noqa: ARG002
        self._index.refuse()

    def catalog_id(self) -> str:
        """None: its collection belongs to no catalog."""
        return ""

    def swap(self, fingerprint: Fingerprint, pages: Iterable[tuple[str, Written]]) -> None:  # noqa: ARG002
        self._index.refuse()

    def ping(self) -> None:
        """Run the statement that a search uses, where there is a database."""
        if self._documents is not None:
            self._documents.ping()

    def close(self) -> None:
        """Close the database; the connection to the points is the index's."""
        if self._documents is not None:
            self._documents.close()

    def _read(self) -> _Read:
        with self._reading:
            if self._kept is None or time.monotonic() - self._kept.at > KEPT_SECONDS:
                self._kept = self._all()
            return self._kept

    def _all(self) -> _Read:
        shape = self._index.shape
        by_page: dict[str, list[tuple[int, int, Chunk]]] = {}
        for point, payload in self._index.points():
            chunk = to_chunk(payload, point, shape)
            if isinstance(chunk, DamagedPoint):
                continue
            by_page.setdefault(chunk.document_id, []).append(
                (chunk.position, start_of(payload, shape), chunk)
            )
        pages, chunks = {}, {}
        for name, found in by_page.items():
            # A chunk that does not tell its place stays where the ids put it.
            found.sort(key=lambda one: one[:2])
            pages[name], chunks[name] = put_together([chunk for *_, chunk in found])
        every = {chunk.chunk_id: chunk for some in chunks.values() for chunk in some}
        return _Read(time.monotonic(), pages, chunks, every)


def put_together(chunks: Sequence[Chunk]) -> tuple[Page, list[Chunk]]:
    """The page that the chunks are of, in their order, and the chunks as slices of its text."""
    counted = all(chunk.position < 0 for chunk in chunks)
    text = ""
    placed = []
    for number, chunk in enumerate(chunks):
        shared = _shared(text, chunk.text)
        if text and not shared:
            text += BETWEEN
        start = len(text) - shared
        text += chunk.text[shared:]
        place = number if counted else chunk.position
        placed.append(replace(chunk, position=place, start=start, end=start + len(chunk.text)))
    first = chunks[0]
    title = next((chunk.title for chunk in chunks if chunk.title), "")
    page = Page(
        document_id=first.document_id,
        url=first.url,
        title=title,
        source_path=first.source_path,
        slug=first.slug,
        source_type=first.source_type,
        text=text,
        sections=tuple(_sections(placed)),
    )
    return page, placed


def _shared(text: str, following: str) -> int:
    """How many characters at the end of the text are the beginning of what follows."""
    beginning = following[:OVERLAP]
    if len(beginning) < OVERLAP:
        return 0
    at = text.find(beginning, max(0, len(text) - len(following)))
    while at >= 0:
        if following.startswith(text[at:]):
            return len(text) - at
        at = text.find(beginning, at + 1)
    return 0


def _sections(chunks: Sequence[Chunk]) -> Iterable[Section]:
    for (section, anchor), run in groupby(chunks, key=lambda chunk: (chunk.section, chunk.anchor)):
        blocks = tuple(Block("prose", chunk.start, chunk.end) for chunk in run)
        yield Section(tuple(section.split(" › ")) if section else (), anchor, blocks)


def _record(page: Page, source: str, chunks: int) -> PageRecord:
    return PageRecord(
        page.document_id,
        page.url,
        page.title,
        source,
        page.source_path,
        content_hash(page.text),
        chunks,
    )
