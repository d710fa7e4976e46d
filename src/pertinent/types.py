"""The values that the parts of Pertinent pass to each other: pages, chunks, hits, answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple
from uuid import UUID

Ranking = Literal["hybrid", "dense", "lexical"]
BlockKind = Literal["prose", "item", "code", "table"]

FRONT_MATTER_MAX = 500
"""How many characters of a page's front matter can be searched for."""


@dataclass(frozen=True, slots=True)
class Block:
    """A range of a page's text: a paragraph, a list item, a code fence or a table."""

    kind: BlockKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks under one heading of a page, up to the next heading."""

    path: tuple[str, ...]
    anchor: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the author says about a page beside its text; empty where nothing is said."""

    description: str = ""
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sidebar_label: str = ""

    def text_above(self, position: int) -> str:
        """Return the fields in one line, cut if long, for the first chunk of the page; "" for all others."""
        if position:
            return ""
        fields = (self.sidebar_label, self.description, ", ".join(self.keywords), ", ".join(self.tags))
        return " · ".join(filter(None, fields))[:FRONT_MATTER_MAX]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a source: its normalised text, and its structure as ranges of that text."""

    document_id: str
    url: str
    title: str
    source_path: str
    slug: str
    source_type: str
    text: str
    sections: tuple[Section, ...]
    front_matter: FrontMatter = FrontMatter()


@dataclass(frozen=True, slots=True)
class LazyPage:
    """A page that is parsed only if the index does not have it by this hash."""

    document_id: str
    page_hash: str
    page: Callable[[], Page] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Pages that a source left out on purpose, with the reason; reported at the end of a sync."""

    reason: str
    pages: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A page that a source could not read; what is indexed of it stays."""

    source_path: str
    reason: str
    path_identifies_page: bool = True
    """Whether the path names the page. If not, it may be any missing page, and none may be removed."""
    url: str = ""
    """The page's address if known: another kind of source may have used another path for it."""


SECTION_SEPARATOR = " › "
"""Joins the headings above a passage to its section."""


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
        """The nearest heading above the passage; the introduction of a page stands under its title."""
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


CJK_LANGUAGES = ("chinese", "japanese", "korean")
"""Languages that are split into pairs of characters; nothing in them is stemmed."""

NO_LANGUAGE = "none"
"""The language without stemming and stop words."""

LANGUAGES = (
    NO_LANGUAGE,
    *CJK_LANGUAGES,
    "arabic",
    "armenian",
    "basque",
    "catalan",
    "czech",
    "danish",
    "dutch",
    "english",
    "esperanto",
    "estonian",
    "finnish",
    "french",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "lithuanian",
    "nepali",
    "norwegian",
    "persian",
    "polish",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "sesotho",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
    "yiddish",
)
"""The languages of a book; those with a stemmer are Snowball's."""


class WordCounts(NamedTuple):
    """How often a word occurs in a book."""

    titles: int
    """Pages with the word in their title."""
    headings: int
    """Sections with the word in their heading."""
    texts: int
    """Chunks with the word in their text or above it."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a book, as `search.terms.words` folds and splits them."""

    words: Mapping[str, WordCounts]
    chunks: int
    """How many chunks the book has."""


class SectionName(NamedTuple):
    """A page or one of its sections, as a reader may look for it by name."""

    document_id: str
    url: str
    anchor: str
    title: str
    section: str
    """The headings above the text, joined by ` › `; empty for the page itself."""

    @property
    def heading(self) -> str:
        """The last heading of a section, or the title of a page."""
        return last_heading(self.title, self.section)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A page or section whose name fits what a reader has typed so far."""

    title: str
    """The title of the page."""
    section: str
    """The headings down to this section, joined by ` › `; empty for a page."""
    url: str
    """The address, with the anchor of the section."""
    document_id: str
    is_page: bool

    @property
    def breadcrumb(self) -> str:
        """Title and section, as in `Joints › Limits`; without a title, the address."""
        page = self.title or self.url
        return f"{page} › {self.section}" if self.section else page


class Candidates(NamedTuple):
    """Points found by the index with their raw scores; None for a side that was not searched."""

    point_ids: list[PointId]
    cosine: list[float] | None
    bm25: list[float] | None


class Scores(NamedTuple):
    """The features of a score, each in [0, 1]; a feature that could not be computed is None."""

    cosine: float | None
    lexical: float | None
    title: float | None = None
    """How well the query matches the title of the page."""
    heading: float | None = None
    """How well the query matches the nearest heading."""
    page: float | None = None
    """How well the best passages of the page match."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that answers a query, with its score."""

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
    """The options of a search.

    The values must be within the engine's limits: check values from users with `limits.check_options`
    or the limits of the API.
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
    """Whether a text that is on several pages is listed once."""
    fallback: Literal["lexical"] | None = None
    """The ranking to use while the embedder does not answer; None raises its error."""
    correct: bool = True
    """Whether words that the book does not have are completed or corrected."""
    bypass_cache: bool = field(default=False, compare=False)
    """Search even if the answer is cached."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a search: the hits in order, and details about the search."""

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
    """Which stores or models did not answer; empty if all did."""
    damaged: tuple[DamagedPoint, ...] = ()
    """Points that were left out because they can't be read."""
    searched_for: str = ""
    """The text that was searched for: the query, with unknown words completed or corrected."""
    corrected: bool = False
    """Whether the text that was searched for has other words than the query."""
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
