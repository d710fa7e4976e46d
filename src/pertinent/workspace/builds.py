"""The builds of an index: one is in use, the previous one is kept, and one may be under construction.

The catalog records which build is which, so this is known even after a process was killed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from ..errors import IndexFailure, IndexLocked
from ..identity import embedding_key, point_id
from ..indexing.chunking import embedded_text
from ..indexing.page_coverage import covers_page
from ..ports import Builds, Catalog, Fingerprint, PageRecord, PageWrite, VectorIndex
from ..types import Chunk, Page, PointId, readable_chunks


@dataclass(slots=True)
class IndexBuilds:
    """The builds of one index, and the replaced ones that are still open."""

    builds: Builds
    catalog: Callable[[], Catalog]
    remote: bool
    """Whether the builds are on a server, which may just be slow; a local folder that fails is damaged."""
    previous: dict[int, VectorIndex] = field(default_factory=dict)
    """Builds that were replaced while open, by number."""
    service_advice: Callable[[], str | None] = lambda: None
    """Says which service has the embedded index open, and what to do; None without one."""
    wait: Callable[[IndexLocked], None] | None = None
    """Called repeatedly while another process has the embedded index open; set while this one writes."""

    def has_build(self, number: int) -> bool:
        """Whether a build of this number exists."""
        return self.builds.exists(number)

    def use_current(self) -> None:
        """Make the build that the catalog names the one in use, for other clients too."""
        current = self.catalog().fingerprint()
        if current is not None and self.builds.exists(current.build):
            self.builds.use(current.build)

    def open(self, fingerprint: Fingerprint) -> VectorIndex:
        """Open the build of the fingerprint; a writer waits until no other process has it open."""
        opened = self.previous.pop(fingerprint.build, None)
        while opened is None:
            try:
                opened = self.builds.open(fingerprint)
            except IndexLocked as error:
                if advice := self.service_advice():
                    raise IndexLocked(advice, error.holder) from error
                if self.wait is None:
                    raise
                self.wait(error)
        return opened

    def begin(self, settings: Fingerprint) -> tuple[Fingerprint, VectorIndex]:
        """Return a build to fill: an interrupted one with the same settings, or a new one."""
        begun, new = self.catalog().last_begun_build(), self.assign_number(settings)
        if begun is not None and begun.build in set(self.builds.numbers()) - self._recorded_numbers():
            if replace(settings, build=begun.build) == begun and (index := self._reopen(begun)):
                return begun, index
            self.builds.remove(begun.build)
        self.catalog().begin_build(new)
        return new, self.builds.open(new)

    def assign_number(self, settings: Fingerprint) -> Fingerprint:
        """Return the fingerprint of a new build, with a number that no build has or had.

        Another process may still search a deleted build, and must not find a new one in its place. A catalog
        may be new and the index not: what is in that index is unknown.
        """
        begun = self.catalog().last_begun_build()
        numbers = {*self._recorded_numbers(), *self.builds.numbers(), begun.build if begun else 0}
        return replace(settings, build=1 + max(numbers))

    def _reopen(self, begun: Fingerprint) -> VectorIndex | None:
        """Open an interrupted build; return None if the interruption damaged it."""
        try:
            return self.builds.open(begun)
        except IndexLocked:
            raise
        except IndexFailure:
            if self.remote:
                raise
            return None

    def read_pages(self, index: VectorIndex) -> BuildPages:
        """Return the catalog's pages with their chunks from a build.

        Points of pages that the catalog does not have are deleted from the build, also damaged ones: an
        interrupted deletion leaves points without a text. If the build has none of the catalog's pages,
        nothing is deleted and there are no pages.
        """
        points: dict[str, list[PointId]] = {}
        damaged: set[str] = set()
        for point in index.scan():
            if isinstance(point, Chunk):
                points.setdefault(point.document_id, []).append(point_id(point.chunk_id))
            elif point.document_id:
                damaged.add(point.document_id)
        records = self.catalog().pages()
        if points.keys().isdisjoint(record.document_id for record in records):
            return BuildPages(index, self.catalog(), (), {}, damaged)
        for document_id in (points.keys() | damaged) - {record.document_id for record in records}:
            index.delete_stale_points(document_id, keep=())
        return BuildPages(index, self.catalog(), records, points, damaged)

    def remove(self, number: int) -> None:
        """Delete a build, and close it if it is open."""
        if number in self.previous:
            self.previous.pop(number).close()
        self.builds.remove(number)

    def disk_use(self, number: int) -> int:
        """Return how many bytes a build takes on this machine."""
        return self.builds.disk_use(number)

    def remove_unused(self) -> None:
        """Delete all builds but the one in use and the previous one."""
        for number in set(self.builds.numbers()) - self._recorded_numbers():
            self.remove(number)

    def _recorded_numbers(self) -> set[int]:
        """Return the numbers of the build in use and the previous one."""
        recorded = (self.catalog().fingerprint(), self.catalog().previous())
        return {fingerprint.build for fingerprint in recorded if fingerprint is not None}

    def close(self) -> None:
        """Close the replaced builds that are still open."""
        for index in self.previous.values():
            index.close()
        self.previous.clear()


@dataclass(frozen=True, slots=True)
class BuildPages:
    """The catalog's pages with their chunks as a build has them; a page is read when its turn comes."""

    index: VectorIndex
    catalog: Catalog
    records: Sequence[PageRecord]
    points: Mapping[str, Sequence[PointId]]
    """The ids of each page's points that can be read."""
    damaged: Set[str]
    """The documents with points that can't be read."""

    def __len__(self) -> int:
        return len(self.records)

    @property
    def document_ids(self) -> list[str]:
        """The ids of the pages."""
        return [record.document_id for record in self.records]

    def __iter__(self) -> Iterator[tuple[str, PageWrite]]:
        """Yield each page with its source."""
        for record, page, chunks in self._read():
            yield record.source, PageWrite(page, record.page_hash, chunks)

    def find_incomplete(self, embedder: str) -> list[str]:
        """Return the ids of the pages whose chunks are missing, damaged, or embedded from another text.

        Args:
            embedder: The name of the model of the build.
        """
        return [
            page.document_id
            for _, page, chunks in self._read()
            if page.document_id in self.damaged
            or not (covers_page(page, chunks) and self._has_embedded(page, chunks, embedder))
        ]

    def _has_embedded(self, page: Page, chunks: Sequence[Chunk], embedder: str) -> bool:
        """Whether the build has the embeddings of the chunks as they are."""
        keys = {
            point_id(chunk.chunk_id): embedding_key(embedder, embedded_text(chunk, page.front_matter))
            for chunk in chunks
        }
        return self.index.embedding_keys(list(keys)) == keys

    def _read(self) -> Iterator[tuple[PageRecord, Page, list[Chunk]]]:
        """Yield each page with its chunks, in order."""
        for record in self.records:
            page = self.catalog.page(record.document_id)
            if page is not None:
                stored = self.index.chunks(self.points.get(record.document_id, ())).values()
                chunks = sorted(readable_chunks(stored), key=lambda chunk: chunk.position)
                yield record, page, [_copy_page_fields(page, chunk) for chunk in chunks]


def _copy_page_fields(page: Page, chunk: Chunk) -> Chunk:
    """Return the chunk with the current fields of its page, such as a new title."""
    return replace(
        chunk,
        url=page.url,
        title=page.title,
        source_path=page.source_path,
        slug=page.slug,
        source_type=page.source_type,
    )
