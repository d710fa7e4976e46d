"""Chunks as the index stores them, and what one can filter them by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

SECTION_SEPARATOR = " › "
"""Joins the headings above a passage to its section."""

NAME_MAX = 1000
"""The longest title, heading or anchor, in characters. Every chunk carries those that are above it."""


def last_heading(title: str, section: str) -> str:
    """Return the last heading of a section; the title where there is none."""
    return section.rpartition(SECTION_SEPARATOR)[2] or title


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: the exact slice `[start:end]` of its page's text, with what is needed to cite it.

    A point of an external collection has no span, and may have no position or time: `start`, `end` and
    `position` are then -1, and `created_at` is None.
    """

    chunk_id: str
    document_id: str
    url: str
    anchor: str
    title: str
    section: str
    position: int
    start: int
    end: int
    text: str
    content_hash: str
    source_path: str
    slug: str
    source_type: str
    created_at: str | None = None

    @property
    def span(self) -> tuple[int, int] | tuple[None, None]:
        """Start and end in the page's text; None if unknown."""
        return (self.start, self.end) if self.start >= 0 else (None, None)

    def is_slice_of(self, page_text: str) -> bool:
        """Return whether the chunk's text is what the page's text has at its span."""
        # Slicing would accept an end beyond the text, and a negative start.
        fits = self.start >= 0 and self.end - self.start == len(self.text)
        return fits and page_text.startswith(self.text, self.start)

    @property
    def citation(self) -> str:
        """The address of the passage on its page."""
        return f"{self.url}#{self.anchor}" if self.anchor else self.url

    @property
    def breadcrumb(self) -> str:
        """Title and section, as in `Joints › Limits`; without a title, the path."""
        page = self.title or self.source_path or self.url
        return f"{page}{SECTION_SEPARATOR}{self.section}" if self.section else page

    @property
    def heading(self) -> str:
        """The nearest heading above the passage; for the introduction of a page, its title."""
        return last_heading(self.title, self.section)


@dataclass(frozen=True, slots=True)
class Filters:
    """Which chunks a search may return; None does not restrict.

    A section matches by any heading above the chunk, or by its full path. A url matches its page and all
    pages below it.
    """

    document_id: str | None = None
    section: str | None = None
    url: str | None = None
    source_type: str | None = None


PointId = UUID | int
"""The id of a point in Qdrant."""


@dataclass(frozen=True, slots=True)
class DamagedPoint:
    """A stored point that can't be read as a chunk, with the problem of each damaged field."""

    point_id: PointId
    chunk_id: str
    """Empty if it can't be read either."""
    document_id: str
    """Empty if it can't be read either."""
    problems: tuple[str, ...]
    """Each begins with the name of the field."""

    def __str__(self) -> str:
        chunk = f" (chunk {self.chunk_id})" if self.chunk_id else ""
        return f"point {self.point_id}{chunk}: {'; '.join(self.problems)}"


StoredPoint = Chunk | DamagedPoint
"""A point of the index as read."""


def readable_chunks(points: Iterable[StoredPoint]) -> Iterator[Chunk]:
    """Return the points that can be read."""
    return (point for point in points if isinstance(point, Chunk))


def damaged_points(points: Iterable[StoredPoint]) -> Iterator[DamagedPoint]:
    """Return the points that can't be read."""
    return (point for point in points if isinstance(point, DamagedPoint))


def find_shared_ids(chunks: Iterable[Chunk]) -> list[str]:
    """Return the ids that several texts share: labels and results can't be told apart by them."""
    texts: dict[str, str] = {}
    return sorted(
        {chunk.chunk_id for chunk in chunks if texts.setdefault(chunk.chunk_id, chunk.text) != chunk.text}
    )
