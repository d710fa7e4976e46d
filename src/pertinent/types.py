"""The plain, frozen things that the rest of Pertinent passes around."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple
from uuid import UUID

Ranking = Literal["hybrid", "dense", "lexical"]
BlockKind = Literal["prose", "item", "code", "table"]


@dataclass(frozen=True, slots=True)
class Block:
    """A span of a page's text that reads as one piece: a paragraph, a list item, a fence, a table."""

    kind: BlockKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading of a page, up to the next heading."""

    path: tuple[str, ...]
    anchor: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a source, with its text in normal form and its structure as spans of that text."""

    document_id: str
    url: str
    title: str
    source_path: str
    slug: str
    source_type: str
    text: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class LazyPage:
    """A page that is unpacked only where it is needed: where the index has it by this hash, it is not."""

    document_id: str
    page_hash: str
    page: Callable[[], Page] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Skipped:
    """What a source has, and leaves out on purpose: told at its end, since nobody may have meant it."""

    reason: str
    pages: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A page that a source has but can't read now; whatever was indexed for it stays."""

    source_path: str
    reason: str
    path_identifies_page: bool = True
    """Whether the path is that of the page; if not, it may be any page that is missing."""
    url: str = ""
    """The page's address, where it is known: another kind of source may have called its path otherwise."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: an exact slice `[start:end]` of its page's text, with all that cites it.

    A point of another pipeline does not say where its slice begins, and may not say which passage of its
    page it is, or when it was written: `start`, `end` and `position` are then -1, and `created_at` is None.
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
        """Where it begins and ends in its page's text, as answers say it: None where that is not known."""
        return (self.start, self.end) if self.start >= 0 else (None, None)

    @property
    def citation(self) -> str:
        """The address of the passage on its page."""
        return f"{self.url}#{self.anchor}" if self.anchor else self.url

    @property
    def breadcrumb(self) -> str:
        """Title and section, as a reader would say where the passage stands; without a title, the path."""
        page = self.title or self.source_path or self.url
        return f"{page} › {self.section}" if self.section else page


@dataclass(frozen=True, slots=True)
class Filters:
    """Which chunks a search may return; an empty field admits all.

    A section is asked for by any heading above the chunk, or by its whole path. A url admits its page
    and all pages below it.
    """

    document_id: str | None = None
    section: str | None = None
    url: str | None = None
    source_type: str | None = None


PointId = UUID | int
"""What Qdrant knows a point by."""


@dataclass(frozen=True, slots=True)
class DamagedPoint:
    """A stored point that can't be read as a chunk, and what is wrong with each of its damaged fields."""

    point_id: PointId
    chunk_id: str
    """Empty where even that can't be read."""
    problems: tuple[str, ...]
    """Each begins with the name of the field."""

    def __str__(self) -> str:
        chunk = f" (chunk {self.chunk_id})" if self.chunk_id else ""
        return f"point {self.point_id}{chunk}: {'; '.join(self.problems)}"


StoredPoint = Chunk | DamagedPoint
"""What a point of the index is read as."""


def readable_chunks(points: Iterable[StoredPoint]) -> Iterator[Chunk]:
    """The points that can be read."""
    return (point for point in points if isinstance(point, Chunk))


def damaged_points(points: Iterable[StoredPoint]) -> Iterator[DamagedPoint]:
    """The points that can't be read."""
    return (point for point in points if isinstance(point, DamagedPoint))


class Candidates(NamedTuple):
    """Points that the index proposes, with their raw scores by column; a side without a query is None."""

    point_ids: list[PointId]
    cosine: list[float] | None
    bm25: list[float] | None


class Scores(NamedTuple):
    """The parts of a score, each in [0, 1]; a part that could not be computed is None."""

    cosine: float | None
    lexical: float | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that answers a query, and how well."""

    chunk: Chunk
    score: float
    scores: Scores
    point_id: PointId


@dataclass(frozen=True, slots=True)
class Excluded:
    """A candidate that is not among the hits, and the reason."""

    hit: Hit
    reason: str


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What a caller wants of the list of hits.

    The values are within the engine's limits: whoever takes them from a user checks them first, with
    `limits.check_options` or the limits of its own seed.
    """

    top_k: int = 5
    threshold: float = 0.0
    """The lowest score of a hit."""
    ranking: Ranking | None = None
    """None is the ranking of the settings."""
    filters: Filters = Filters()
    per_page: int | None = None
    """The most hits of one page; None sets no limit."""
    distinct: bool = True
    """List a text that stands on several pages once."""
    fallback: Literal["lexical"] | None = None
    """The ranking to use while the embedder does not answer; None raises its error."""
    bypass_cache: bool = field(default=False, compare=False)
    """Search even if the answer is cached."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search returns: the hits in order, and how they came about."""

    query: str
    ranking: Ranking
    hits: tuple[Hit, ...]
    top_k: int
    threshold: float
    created_at: str
    timings: Mapping[str, float] = field(default_factory=dict)
    excluded: tuple[Excluded, ...] = ()
    """The best candidates that are not among the hits, a few of them."""
    notes: tuple[str, ...] = ()
    """What was missing or down while the answer was made; empty where every part answered."""
    damaged: tuple[DamagedPoint, ...] = ()
    """Points that belong in the list and were left out."""
    cached: bool = False
    """Whether the answer came from the cache."""

    @property
    def algorithm(self) -> str:
        """The name of the score that the hits are ordered by."""
        return ALGORITHMS[self.ranking]


ALGORITHMS: Mapping[Ranking, str] = {
    "hybrid": "hybrid-similarity",
    "dense": "cosine-similarity",
    "lexical": "lexical-similarity",
}
