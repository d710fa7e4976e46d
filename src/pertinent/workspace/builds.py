"""Which build of an index follows which: one is in use, one before it is kept, one may be being made.

The catalog says which is which, so that a process that dies leaves nothing undecided.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..errors import IndexFailure, IndexLocked
from ..ports import Builds, Catalog, Fingerprint, PageWrite, VectorIndex
from ..types import Chunk, Page, readable_chunks


@dataclass(slots=True)
class Succession:
    """The builds of one index, and those that were in use and are still open."""

    builds: Builds
    catalog: Callable[[], Catalog]
    remote: bool
    """Whether they are on a server, which may only be slow; a folder that fails is damaged."""
    retired: dict[int, VectorIndex] = field(default_factory=dict)

    def open(self, made_with: Fingerprint) -> VectorIndex:
        """The build that the fingerprint names."""
        return self.retired.pop(made_with.build, None) or self.builds.open(made_with)

    def begin(self, wanted: Fingerprint) -> tuple[Fingerprint, VectorIndex]:
        """A build to fill: the one with the same settings that broke off, or a new one."""
        begun, numbers = self.catalog().building(), self.builds.numbers()
        known = self._known()
        if begun is not None and begun.build in set(numbers) - known:
            if replace(wanted, build=begun.build) == begun and (left := self._left_over(begun)):
                return begun, left
            self.builds.remove(begun.build)
        new = replace(wanted, build=1 + max([*known, *numbers]))
        self.catalog().begin_build(new)
        return new, self.builds.open(new)

    def _left_over(self, begun: Fingerprint) -> VectorIndex | None:
        """The build that broke off; None where that damaged it."""
        try:
            return self.builds.open(begun)
        except IndexLocked:
            raise
        except IndexFailure:
            if self.remote:
                raise
            return None

    def recorded(self, index: VectorIndex) -> list[tuple[str, PageWrite]]:
        """The catalog's pages with their chunks as a build has them; what it has of others is removed.

        Nothing where it has none of them.
        """
        found: dict[str, list[Chunk]] = {}
        for chunk in readable_chunks(index.scan()):
            found.setdefault(chunk.document_id, []).append(chunk)
        records = self.catalog().pages()
        kept: list[tuple[str, PageWrite]] = []
        if found.keys().isdisjoint(record.document_id for record in records):
            return kept
        for record in records:
            page = self.catalog().page(record.document_id)
            chunks = sorted(found.pop(record.document_id, []), key=lambda chunk: chunk.position)
            if page is not None:
                chunks = [_of(page, chunk) for chunk in chunks]
                kept.append((record.source, PageWrite(page, record.page_hash, chunks)))
        for gone in found:
            index.delete_stale_points(gone, keep=())
        return kept

    def remove(self, number: int) -> None:
        """Remove a build, whether it is open or not."""
        if number in self.retired:
            self.retired.pop(number).close()
        self.builds.remove(number)

    def sweep(self) -> None:
        """Remove all builds but the one in use and the one before it."""
        for number in set(self.builds.numbers()) - self._known():
            self.remove(number)

    def _known(self) -> set[int]:
        known = (self.catalog().fingerprint(), self.catalog().previous())
        return {one.build for one in known if one is not None}

    def close(self) -> None:
        for index in self.retired.values():
            index.close()
        self.retired.clear()


def _of(page: Page, chunk: Chunk) -> Chunk:
    """The chunk with all that it shares with its page, which may have got another title since."""
    return replace(
        chunk,
        url=page.url,
        title=page.title,
        source_path=page.source_path,
        slug=page.slug,
        source_type=page.source_type,
    )
