"""The input and the output of a search: options, scores, hits, suggestions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from .chunks import Chunk, DamagedPoint, Filters, PointId, last_heading

Ranking = Literal["hybrid", "dense", "lexical"]


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
    numbers: float | None = None
    """How much weight moves from cosine to words, the same for all hits; None for a query without numbers."""
    base: float | None = None
    """The score before reranking; None if the list was not reranked."""
    rerank: float | None = None
    """The relevance that the reranker gave; None for a passage that it did not read."""


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
    """The minimum score of a hit."""
    ranking: Ranking | None = None
    """None is the ranking of the settings."""
    filters: Filters = field(default_factory=Filters)
    per_page: int | None = None
    """The maximum number of hits from one page; None sets no limit."""
    distinct: bool = True
    """Whether a text that is on several pages is listed once."""
    fallback: Literal["lexical"] | None = None
    """The ranking to use while the embedder does not answer; None raises its error."""
    correct: bool = True
    """Whether words that the book does not have are completed or corrected."""
    rerank: bool | None = None
    """Whether the best hits are reranked; None reranks the ranking `hybrid`, if a reranker is set."""
    bypass_cache: bool = field(default=False, compare=False)
    """Search even if the answer is cached."""


NO_RERANKER = "the reranker did not answer; results are ranked without it"
"""The note of an answer that should have been reranked."""


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
    rerank_share: float = 0.0
    """The weight of the reranker in the scores; 0 if the list was not reranked."""

    @property
    def algorithm(self) -> str:
        """The name of the score that the hits are ordered by."""
        return ALGORITHMS[self.ranking]


ALGORITHMS: Mapping[Ranking, str] = {
    "hybrid": "hybrid-similarity",
    "dense": "cosine-similarity",
    "lexical": "lexical-similarity",
}
