"""The builds of an index: one is in use, the previous one is kept, and one may be under construction.

The catalog records which build is which, so a process that is killed leaves no doubt about it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..errors import IndexFailure, IndexLocked
from ..ports import Builds, Catalog, Fingerprint, PageWrite, VectorIndex
from ..types import Chunk, Page, readable_chunks


@dataclass(slots=True)
class IndexBuilds:
    """The builds of one index, and the replaced ones that are still open."""

    builds: Builds
    catalog: Callable[[], Catalog]
    remote: bool
    """Whether the builds are on a server, which may just be slow; a local folder that fails is damaged."""
    previous: dict[int, VectorIndex] = field(default_factory=dict)
    """Builds that were replaced while open, by number."""

    def has_build(self, number: int) -> bool:
        """Whether a build of this number exists."""
        return number in self.builds.numbers()

    def open(self, fingerprint: Fingerprint) -> VectorIndex:
        """Open the build of the fingerprint."""
        return self.previous.pop(fingerprint.build, None) or self.builds.open(fingerprint)

    def begin(self, settings: Fingerprint) -> tuple[Fingerprint, VectorIndex]:
        """Return a build to fill: an interrupted one with the same settings, or a new one."""
        begun, numbers = self.catalog().building(), self.builds.numbers()
        recorded = self._recorded_numbers()
        if begun is not None and begun.build in set(numbers) - recorded:
            if replace(settings, build=begun.build) == begun and (index := self._reopen(begun)):
                return begun, index
            self.builds.remove(begun.build)
        new = replace(settings, build=1 + max([*recorded, *numbers]))
        self.catalog().begin_build(new)
        return new, self.builds.open(new)

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

    def read_pages(self, index: VectorIndex) -> list[tuple[str, PageWrite]]:
        """Return the catalog's pages with their chunks from a build, each with its source.

        Chunks of pages that the catalog does not have are deleted from the build. If the build has none of
        the catalog's pages, nothing is deleted and the list is empty.
        """
        by_page: dict[str, list[Chunk]] = {}
        for chunk in readable_chunks(index.scan()):
            by_page.setdefault(chunk.document_id, []).append(chunk)
        records = self.catalog().pages()
        pages: list[tuple[str, PageWrite]] = []
        if by_page.keys().isdisjoint(record.document_id for record in records):
            return pages
        for record in records:
            page = self.catalog().page(record.document_id)
            chunks = sorted(by_page.pop(record.document_id, []), key=lambda chunk: chunk.position)
            if page is not None:
                updated = [_copy_page_fields(page, chunk) for chunk in chunks]
                pages.append((record.source, PageWrite(page, record.page_hash, updated)))
        for document_id in by_page:
            index.delete_stale_points(document_id, keep=())
        return pages

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
