"""The protocols between the core and its adapters: embedders, rerankers, indexes, catalogs and sources.

The stores of a collection that another pipeline filled implement only `IndexReader` and `CatalogReader`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .types import (
    Candidates,
    Chunk,
    CommitIds,
    Filters,
    Gone,
    LazyPage,
    Page,
    PointId,
    SectionName,
    Skipped,
    StoredPoint,
    Unreadable,
    Vocabulary,
)

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The settings that an index was made with. With other settings, its scores would be wrong."""

    embedder: str
    dimension: int
    chunker: str
    lexical: str
    build: int = 1
    """The number of the build; a new build is made beside the one in use."""
    model_revision: int = 1
    """Which implementation of the model made the vectors, for models that Pertinent installs."""


class Embedder(Protocol):
    """Turns text into vectors of unit length; queries and documents may be embedded differently."""

    @property
    def name(self) -> str:
        """`provider:model`, as in the settings."""

    @property
    def model(self) -> str:
        """The model without its provider."""

    @property
    def dimension(self) -> int:
        """How many elements a vector has."""

    @property
    def max_tokens(self) -> int:
        """How many tokens of a document are embedded; the model ignores what follows."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, special tokens included."""

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed queries in one batch, and return their vectors in the same order."""

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        """Yield a vector for each document, in order, as they are computed."""


class Reranker(Protocol):
    """Judges how relevant passages are to a query, by reading both together."""

    @property
    def name(self) -> str:
        """`provider:model`, as in the settings."""

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return the relevance of each passage, in [0, 1]; raise RerankerError if that fails."""

    def close(self) -> None:
        """Release connections."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk to be indexed, with the text that is embedded for it (headings, front matter, chunk text)."""

    chunk: Chunk
    source: str
    embedded_text: str
    embedding_key: str
    """A hash of the embedder and the embedded text: a point with the same key need not be embedded again."""


class IndexReader(Protocol):
    """Searches chunks by vector and, where the index supports it, by words."""

    @property
    def sides(self) -> Sequence[str]:
        """`dense`, and `lexical` where the index can be searched by words."""

    def candidates(
        self,
        vector: Vector | None,
        text: str | None,
        *,
        by: Sequence[str],
        limit: int,
        filters: Filters,
    ) -> Candidates:
        """Return the best points of each side in `by`, with the raw scores of both sides.

        Args:
            vector: The query's vector, for dense scores.
            text: The query's text, for lexical scores.
            by: The sides that propose points; the others only score them.
            limit: How many points each side proposes.
            filters: Which points may be proposed.
        """

    def chunks(self, point_ids: Sequence[PointId]) -> dict[PointId, StoredPoint]:
        """Read the chunks of the points that exist."""

    def vectors(self, point_ids: Sequence[PointId]) -> dict[PointId, Vector]:
        """Read the dense vectors of the points that exist."""

    def scan(self) -> Iterator[StoredPoint]:
        """Yield every point of the index, in no particular order."""

    def count(self) -> int:
        """Count the points."""

    @property
    def version(self) -> int | None:
        """A number that changes with every write; None where other processes may write too."""

    def close(self) -> None:
        """Release files and connections."""


class IndexWriter(Protocol):
    """Writes points, and tells which of them need not be embedded again."""

    def embedding_keys(self, point_ids: Sequence[PointId]) -> dict[PointId, str]:
        """Return the embedding key of each of the points that exist."""

    def vector_checksums(self, point_ids: Sequence[PointId]) -> dict[PointId, str]:
        """Return the recorded checksum of each vector; vectors of earlier versions have none."""

    def word_weights(self, point_ids: Sequence[PointId]) -> dict[PointId, dict[int, float]]:
        """Read the weight of each word of the points that exist, by the word's hash."""

    def find_damaged_filters(self, chunks: Sequence[Chunk]) -> list[str]:
        """Return the names of the filters that miss some of these chunks; a sync needs one of them."""

    def search_exactly(self, vector: Vector, limit: int) -> dict[PointId, float]:
        """Return the nearest points with their cosines, found by comparing the vector with every point's."""

    def put(self, entries: Sequence[Entry], vectors: Sequence[Vector]) -> None:
        """Insert or replace the points of the entries."""

    def describe(self, entries: Sequence[Entry]) -> None:
        """Write the payloads of existing points and keep their vectors, with the vectors' checksums."""

    def delete_stale_points(self, document_id: str, *, keep: Sequence[PointId]) -> None:
        """Delete the document's points that are not in `keep`; with nothing to keep, all of them."""

    def commits(self) -> Sequence[str]:
        """Return the ids that `record_commits` recorded last; none in an index of an earlier version."""

    def record_commits(self, commit_ids: Sequence[str]) -> None:
        """Record the ids of the catalog's last commit and of the next one on the disk, before each commit."""

    def flush(self) -> None:
        """Return when everything written so far would survive a power failure."""

    def finish(self) -> None:
        """Optimise the index for searching after many writes."""


class VectorIndex(IndexReader, IndexWriter, Protocol):
    """An index that Pertinent makes: it can be read and written."""


class Builds(Protocol):
    """The builds of an index, side by side, each under its number."""

    def open(self, made_with: Fingerprint) -> VectorIndex:
        """Open the build that the fingerprint names; create it where it does not exist."""

    def use(self, number: int) -> None:
        """Make this build the one in use; it may be that already."""

    def exists(self, number: int) -> bool:
        """Whether there is a build of this number."""

    def numbers(self) -> list[int]:
        """List the builds that exist."""

    def is_empty(self) -> bool:
        """Whether there is no build, also none of another catalog."""

    def remove(self, number: int) -> None:
        """Delete a build."""

    def disk_use(self, number: int) -> int:
        """Return how many bytes a build takes on this machine; 0 for one on a server."""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """What the catalog knows of a page, without its text."""

    document_id: str
    url: str
    title: str
    source: str
    source_path: str
    page_hash: str
    chunks: int


@dataclass(frozen=True, slots=True)
class Description:
    """Path, slug and title of a chunk, as seed 003's join returns them."""

    source_path: str
    slug: str
    title: str | None


@dataclass(frozen=True, slots=True)
class PageWrite:
    """A page with its hash and its chunks, as the catalog records them."""

    page: Page
    page_hash: str
    chunks: Iterable[Chunk]
    """The chunks in order, which may be read from the disk each time."""


class CatalogReader(Protocol):
    """The pages that are indexed: where each comes from, its text and its chunks."""

    def is_empty(self) -> bool:
        """Whether there are no pages."""

    def has_chunks(self) -> bool:
        """Whether any page has chunks."""

    def pages(self, source: str | None = None) -> list[PageRecord]:
        """List all pages, or those of one source, ordered by source and path."""

    def page_record(self, document_id: str) -> PageRecord | None:
        """Look up one page without its text."""

    def page(self, document_id: str) -> Page | None:
        """Read one page."""

    def chunks(self, document_id: str) -> list[Chunk]:
        """Read a page's chunks, ordered by position."""

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Read one chunk."""

    def describe(self, chunk_ids: Sequence[str]) -> dict[str, Description]:
        """Read path, slug and title of the chunks that exist, in one statement."""

    def find_points(self, chunk_ids: Sequence[str]) -> dict[str, PointId]:
        """Return the id of the point that holds each chunk in the index."""

    def sources(self) -> Mapping[str, str]:
        """Return name and location of each source."""

    def fingerprint(self) -> Fingerprint | None:
        """Return what Pertinent made the index with; None where it did not make one."""

    def provenance(self) -> Mapping[str, str]:
        """Return what is known of how chunks and vectors were made, for reports."""

    def vocabulary_version(self) -> int:
        """Return a number that changes whenever vocabulary or section names may have changed."""

    def vocabulary(self) -> Vocabulary:
        """Read the words of all pages, with their frequencies."""

    def section_names(self) -> list[SectionName]:
        """List every page, each followed by its sections, in the order of the book."""

    def ping(self) -> None:
        """Run the statement that a search uses; raise CatalogFailure if it fails."""

    def close(self) -> None:
        """Release files and connections."""


class CatalogWriter(Protocol):
    """Records pages, the changes in progress, and the builds of the index."""

    def write_lock(self, waiting: Callable[[], None]) -> AbstractContextManager[None]:
        """Keep other processes from writing; `waiting` is called repeatedly while another one writes."""

    def check_file(self) -> None:
        """Raise CatalogFailure if the file of the catalog is damaged."""

    def check_write_lock(self) -> None:
        """Raise CatalogFailure if the write lock was taken and is lost."""

    def describe_lock_holder(self) -> str:
        """Say which process holds the write lock, and what to do if it is dead."""

    def begin(self, document_ids: Iterable[str], source: str = "") -> None:
        """Mark pages of a source as pending: its next sync repairs them if this one is interrupted."""

    def recount_vocabulary(self) -> None:
        """Count the words of all pages again."""

    def creation_times(self, document_id: str) -> dict[str, str]:
        """Return when each chunk of a page was first indexed, by chunk id."""

    def pending(self, source: str | None = None) -> list[str]:
        """List the pages whose change began and was not committed: all, or those of a source or of none."""

    def commit(self, source: str, writes: Sequence[PageWrite], removed: Sequence[str] = ()) -> None:
        """Record pages and removals in one transaction; clear the pending marks that this process has set."""

    def register(self, source: str, location: str) -> None:
        """Record a source, and where it was read from this time."""

    def forget(self, source: str) -> None:
        """Delete a source that has no pages left."""

    def set_fingerprint(self, fingerprint: Fingerprint) -> None:
        """Record what the index is made with."""

    def previous(self) -> Fingerprint | None:
        """Return the fingerprint of the build that was in use before, while it is kept."""

    def forget_previous(self) -> None:
        """Forget the build that was in use before."""

    def last_begun_build(self) -> Fingerprint | None:
        """Return the fingerprint of the build that was begun last, even if it was deleted since."""

    def begin_build(self, fingerprint: Fingerprint) -> None:
        """Record that a build is being filled, so that an interrupted one can be resumed."""

    def activate_build(self, fingerprint: Fingerprint, pages: Iterable[tuple[str, PageWrite]]) -> None:
        """Record every page, with its source, as a new build has it, and make that build the one in use."""

    def commits(self) -> CommitIds:
        """Return the id of the last commit, and those that were announced since."""

    def announce_commit(self) -> tuple[str, str]:
        """Return the ids of the last commit and of the next one, for `IndexWriter.record_commits`."""

    def catalog_id(self) -> str:
        """Return the id of this catalog; the collections on a server belong to one catalog each."""


class Catalog(CatalogReader, CatalogWriter, Protocol):
    """A catalog that Pertinent makes: it can be read and written."""


class Source(Protocol):
    """Yields the pages of a folder, a site or a data set."""

    @property
    def name(self) -> str:
        """Identifies the source in an index; it is the same on every machine."""

    @property
    def location(self) -> str:
        """Where the source is read from this time."""

    @property
    def total(self) -> int | None:
        """The number of pages, where it is known before reading."""

    @property
    def language(self) -> str | None:
        """The language of the pages, one of `types.LANGUAGES`; None if the source does not say."""

    @property
    def notes(self) -> Sequence[str]:
        """What the user should know about the source, such as that its address is unknown."""

    def read(self) -> Iterator[Page | LazyPage | Skipped | Gone | Unreadable]:
        """Yield every page; an unreadable one is reported with the `source_path` that it had before.

        A source that does not know all its pages also yields those that are known to be gone.
        """
