"""The four protocols between the core and the world: Embedder, VectorIndex, Catalog, Source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .types import Candidates, Chunk, Filters, LazyPage, Page, PointId, Skipped, StoredPoint, Unreadable

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What an index was made with; one made with other things can't answer the same queries."""

    embedder: str
    dimension: int
    chunker: str
    lexical: str
    build: int = 1
    """Which build of the index it speaks of; a new one is made beside the one in use."""


class Embedder(Protocol):
    """Text to vectors of unit length; a query and a document are told apart."""

    @property
    def name(self) -> str:
        """`provider:model`, as in the settings."""

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """The longest document that it reads whole."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text takes, the special ones included."""

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text, in order; those that come together may cost less than each alone."""

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        """A vector for each text, in order, as they are made."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk on its way into the index: what is embedded is `embedded_text`, never the text alone."""

    chunk: Chunk
    source: str
    embedded_text: str
    embedding_key: str


class VectorIndex(Protocol):
    """Dense and lexical search over chunks."""

    @property
    def sides(self) -> Sequence[str]:
        """`dense`, and `lexical` where the index has it: another pipeline's may not."""

    def candidates(
        self,
        vector: Vector | None,
        text: str | None,
        *,
        by: Sequence[str],
        limit: int,
        filters: Filters,
    ) -> Candidates:
        """The best `limit` points of each side named in `by`, with both raw scores where they exist."""

    def chunks(self, point_ids: Sequence[PointId]) -> dict[PointId, StoredPoint]:
        """The chunks behind the points, as the index has them."""

    def embedding_keys(self, point_ids: Sequence[PointId]) -> dict[PointId, str]:
        """Which of the points exist, and from what each was embedded."""

    def put(self, entries: Sequence[Entry], vectors: Sequence[Vector]) -> None: ...

    def describe(self, entries: Sequence[Entry]) -> None:
        """Write the chunks' fields anew and leave their vectors."""

    def keep_only(self, document_id: str, point_ids: Sequence[PointId]) -> None:
        """Remove the document's other points; with no ids, all of them."""

    def scan(self) -> Iterator[StoredPoint]:
        """Every point in the index, in no set order."""

    def count(self) -> int: ...

    def flush(self) -> None:
        """Return when all that was written would survive a failure of the power."""

    def finish(self) -> None:
        """Make searching fast after many writes."""

    @property
    def version(self) -> int | None:
        """Another number after each change; None where others may change it unseen."""

    def close(self) -> None: ...


class Builds(Protocol):
    """Where the builds of an index are kept, side by side, each under its number."""

    def open(self, made_with: Fingerprint) -> VectorIndex:
        """The build that the fingerprint names, made where there is none."""

    def use(self, number: int) -> None:
        """Have this build be the one in use from now on."""

    def numbers(self) -> list[int]: ...

    def remove(self, number: int) -> None: ...


@dataclass(frozen=True, slots=True)
class PageRecord:
    """What the catalog knows of a page without reading it."""

    document_id: str
    url: str
    title: str
    source: str
    source_path: str
    page_hash: str
    chunks: int


@dataclass(frozen=True, slots=True)
class Description:
    """What the catalog says of a chunk in an answer (seed 003's join)."""

    source_path: str
    slug: str
    title: str | None


Written = tuple[Page, str, Sequence[Chunk]]
"""A page, its hash and its chunks, as the catalog records them."""


class Catalog(Protocol):
    """The truth about pages: what is known, from where, and its text."""

    def pages(self, source: str | None = None) -> list[PageRecord]: ...

    def page(self, document_id: str) -> Page | None: ...

    def chunks(self, document_id: str) -> list[Chunk]:
        """A page's chunks by position."""

    def chunk(self, chunk_id: str) -> Chunk | None: ...

    def describe(self, chunk_ids: Sequence[str]) -> dict[str, Description]:
        """Path, slug and title of each chunk, in one statement."""

    def alone(self, waiting: Callable[[], None]) -> AbstractContextManager[None]:
        """Let nobody else write meanwhile; `waiting` is called again and again while another does."""

    def begin(self, document_ids: Iterable[str]) -> None:
        """Note that these pages are about to change, so that a broken run can be mended."""

    def pending(self) -> list[str]:
        """Pages whose change began and did not end."""

    def commit(
        self,
        source: str,
        written: Sequence[Written],
        removed: Sequence[str] = (),
    ) -> None:
        """Record pages (with their hash and chunks) and removals, and end their change: all or nothing."""

    def sources(self) -> Mapping[str, str]:
        """Name and location of each source."""

    def register(self, source: str, location: str) -> None: ...

    def forget(self, source: str) -> None:
        """No longer know the source; its pages were removed before."""

    def fingerprint(self) -> Fingerprint | None: ...

    def set_fingerprint(self, fingerprint: Fingerprint) -> None: ...

    def previous(self) -> Fingerprint | None:
        """What the build was made with that the one in use took the place of, while it is kept."""

    def forget_previous(self) -> None: ...

    def building(self) -> Fingerprint | None:
        """What a build is made with that was begun and has not come into use."""

    def begin_build(self, fingerprint: Fingerprint) -> None:
        """Note that a build is being made, so that a broken one can be gone on with."""

    def catalog_id(self) -> str:
        """Tells this catalog from every other: a server's collection belongs to one."""

    def swap(self, fingerprint: Fingerprint, pages: Iterable[tuple[str, Written]]) -> None:
        """Record every page, with its source, as a new build has it, and that build as the one in use."""

    def ping(self) -> None:
        """Run the statement that a search uses; raise CatalogFailure if it fails."""

    def close(self) -> None: ...


class Source(Protocol):
    """Where pages come from."""

    @property
    def name(self) -> str:
        """What identifies it in an index: the same source has the same name on every machine."""

    @property
    def location(self) -> str:
        """Where it was read from this time."""

    @property
    def total(self) -> int | None:
        """How many pages it will give, where that is known beforehand."""

    def read(self) -> Iterator[Page | LazyPage | Skipped | Unreadable]:
        """Every page; one that can't be read is named by the `source_path` it had when it could."""
