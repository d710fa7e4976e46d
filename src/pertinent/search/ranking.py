"""Ranking: pure functions from candidates to a list of hits.

The score of the ranking `hybrid` is computed in three steps (docs/ranking.md):

1. Each passage gets a sum of its features: cosine, BM25, and how well the query matches title and heading.
   Bare lists count less, and in a query with numbers, words count more than the cosine.
2. The best passages of its page add to it: several good passages on a page support each other.
3. One logistic function maps the sum to [0, 1], so that 0.5 is where a hit is about as likely right as
   wrong. A threshold means the same for every query.

The rankings `dense` and `lexical` have one feature, which is their score.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..types import (
    Candidates,
    Chunk,
    DamagedPoint,
    Excluded,
    Hit,
    PointId,
    Ranking,
    Scores,
    SearchOptions,
    StoredPoint,
)
from .bare_lists import measure_discount
from .bm25 import MAX_WEIGHT
from .book_words import BookWords
from .cosine_scale import CosineScale
from .name_matcher import NameMatcher
from .phrases import Phrases, find_verbatim

Column = NDArray[np.float64]
"""A feature of all candidates."""

Value = TypeVar("Value", float, Column)
"""A feature of one candidate, or of all."""

CANDIDATES = 50
"""The least number of candidates that each side proposes."""

COSINE_WEIGHT = 0.5
LEXICAL_WEIGHT = 0.5
TITLE_WEIGHT = 0.4
HEADING_WEIGHT = 0.15
PAGE_WEIGHT = 0.3
"""The weights of the features; all were chosen on several sets of questions (docs/measurements.md)."""

NAME_POWER = 4
"""The power that lets a name count only if the query matches nearly all of it."""

PAGE_PASSAGES = 3
"""How many passages of a page support each other, the best ones."""

NUMBERS_FACTOR = 4.0
"""How fast weight moves from meaning to words with the share of numbers in a query.

Vectors hardly tell numbers apart. Where numbers are a quarter of the query, words alone count.
"""

MIN_DIGITS = 2
"""The fewest digits of a number that counts as one: a single digit is often part of a name, as in ROS 2."""

SCORE_MIDPOINT = 0.35
"""The sum of weighted features, as a share of a full match, that maps to the score 0.5."""

SCORE_SLOPE = 10.0
"""How fast the score rises around its midpoint."""

RAW_DECIMALS = 6
"""To how many decimals raw scores are rounded: those of an embedded index and of a server differ by 1e-7."""

CANDIDATE_SIDES: Mapping[Ranking, tuple[str, ...]] = {
    "hybrid": ("dense", "lexical"),
    "dense": ("dense",),
    "lexical": ("lexical",),
}
"""The sides of the index that propose candidates for each ranking."""

EXCLUDED_LIMIT = 5
"""How many excluded candidates an answer reports."""

FULL_MATCH = COSINE_WEIGHT + LEXICAL_WEIGHT + TITLE_WEIGHT + HEADING_WEIGHT
"""The sum of the weighted features of a passage that matches in every way."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates in order, best first; damaged points are listed separately, with their scores."""

    hits: list[Hit]
    damaged: list[tuple[float, DamagedPoint]]

    def all_reach(self, threshold: float) -> bool:
        """Say whether every candidate has at least this score, so that further ones might too."""
        scores = [*(hit.score for hit in self.hits), *(score for score, _ in self.damaged)]
        return min(scores, default=0.0) >= threshold

    def filter_by_phrases(self, phrases: Phrases) -> Ranked:
        """Return the list without the hits that lack a quoted phrase."""
        if not phrases:
            return self
        return replace(self, hits=[hit for hit in self.hits if phrases.match(hit.chunk)])


class Selection(NamedTuple):
    """The hits to list, the best candidates that are not listed, and the damaged ones that would be."""

    hits: list[Hit]
    excluded: list[Excluded]
    damaged: list[DamagedPoint]


FORMULAS: Mapping[Ranking, str] = {
    "hybrid": (
        f"1 / (1 + exp(-{SCORE_SLOPE:g} × (match - {SCORE_MIDPOINT:g}))), where match = "
        f"({COSINE_WEIGHT:g} × (1 - numbers) × cosine + {LEXICAL_WEIGHT:g} × (1 + numbers) × lexical "
        f"+ {TITLE_WEIGHT:g} × title^{NAME_POWER} + {HEADING_WEIGHT:g} × heading^{NAME_POWER}) "
        f"/ {FULL_MATCH:g} + {PAGE_WEIGHT:g} × page"
    ),
    "dense": "cosine",
    "lexical": "lexical",
}
"""How the score of each ranking is computed from its features."""


class Features(NamedTuple):
    """A table of the features of all candidates; None for those that the ranking does not use."""

    cosine: Column | None
    lexical: Column | None
    title: Column | None = None
    heading: Column | None = None
    page: Column | None = None
    numbers: float | None = None

    def rows(self, count: int) -> Iterator[Scores]:
        """Return the features of each of `count` candidates."""
        columns = (
            repeat(None, count) if column is None else column.tolist()
            for column in (self.cosine, self.lexical, self.title, self.heading, self.page)
        )
        return map(Scores, *columns, repeat(self.numbers, count))


def rank(
    candidates: Candidates,
    points: Mapping[PointId, StoredPoint],
    ranking: Ranking,
    query: str,
    book: BookWords,
    scale: CosineScale,
) -> Ranked:
    """Score the candidates and sort them, best first; equal scores are ordered by chunk id.

    A candidate without a stored point was deleted since the index proposed it, and is dropped.

    Args:
        candidates: The points with their raw scores.
        points: The stored points.
        ranking: Which features count.
        query: The text that was searched for.
        book: The words of the book, for rarity.
        scale: Spreads the cosines of the model.
    """
    rows = [row for row, point_id in enumerate(candidates.point_ids) if point_id in points]
    point_ids = [candidates.point_ids[row] for row in rows]
    passages = [points[point_id] for point_id in point_ids]
    cosine = lexical = None
    if candidates.cosine is not None:
        cosine = scale.apply(np.round(candidates.cosine, RAW_DECIMALS)[rows])
    if candidates.bm25 is not None:
        shares = np.round(candidates.bm25, RAW_DECIMALS)[rows] / _compute_highest_bm25(query, book)
        lexical = np.sqrt(np.clip(shares, 0.0, 1.0))
    if ranking == "hybrid":
        evidence_ids = _best_of_each_side(candidates)
        is_evidence = [point_id in evidence_ids for point_id in point_ids]
        features, scores = _score_hybrid(cosine, lexical, passages, is_evidence, query, book)
    else:
        features = Features(cosine, lexical)
        column = cosine if ranking == "dense" else lexical
        scores = np.zeros(len(rows)) if column is None else column
    hits: list[Hit] = []
    damaged: list[tuple[float, DamagedPoint]] = []
    columns = zip(point_ids, passages, scores.tolist(), features.rows(len(rows)), strict=True)
    for point_id, passage, score, hit_features in columns:
        if isinstance(passage, DamagedPoint):
            damaged.append((score, passage))
        else:
            hits.append(Hit(passage, score, hit_features, point_id))
    return Ranked(
        sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id)),
        sorted(damaged, key=lambda scored: (-scored[0], scored[1].chunk_id)),
    )


def weigh_features(scores: Scores) -> dict[str, float]:
    """Return what each feature adds to the match that the score of `hybrid` is computed from."""
    contributions = _weigh_passage(
        scores.cosine or 0.0,
        scores.lexical or 0.0,
        scores.title or 0.0,
        scores.heading or 0.0,
        scores.numbers or 0.0,
    )
    return contributions | {"page": PAGE_WEIGHT * (scores.page or 0.0)}


def _weigh_passage(
    cosine: Value, lexical: Value, title: Value, heading: Value, numbers: float
) -> dict[str, Value]:
    """Return what each feature of a passage adds to its match, without its page."""
    return {
        "cosine": COSINE_WEIGHT * (1.0 - numbers) / FULL_MATCH * cosine,
        "lexical": LEXICAL_WEIGHT * (1.0 + numbers) / FULL_MATCH * lexical,
        "title": TITLE_WEIGHT / FULL_MATCH * title**NAME_POWER,
        "heading": HEADING_WEIGHT / FULL_MATCH * heading**NAME_POWER,
    }


def _score_hybrid(
    cosine: Column | None,
    lexical: Column | None,
    passages: Sequence[StoredPoint],
    is_evidence: Sequence[bool],
    query: str,
    book: BookWords,
) -> tuple[Features, Column]:
    """Compute the features and scores of all candidates.

    A damaged passage has no text and no name here, and is the only one of its page.

    Args:
        cosine: The cosines on the common scale.
        lexical: The lexical feature.
        passages: The stored points.
        is_evidence: Which of them are evidence of their page.
        query: The text that was searched for.
        book: The words of the book.
    """
    chunks = [passage if isinstance(passage, Chunk) else None for passage in passages]
    remaining = np.array([1.0 - measure_discount(chunk.text) if chunk else 1.0 for chunk in chunks])
    cosine = None if cosine is None else remaining * cosine
    if lexical is not None:
        # A bare list that has the query only names another passage.
        prose = [chunk if share == 1.0 else None for chunk, share in zip(chunks, remaining, strict=True)]
        verbatim = list(find_verbatim(query, prose, lexical.tolist()))
        lexical = remaining * lexical
        lexical[verbatim] = 1.0
    matcher = NameMatcher(query, book)
    title = np.array([matcher.match(chunk.title) if chunk else 0.0 for chunk in chunks])
    heading = np.array([_match_heading(matcher, chunk) if chunk else 0.0 for chunk in chunks])
    numbers = _measure_numbers(query, book)
    zero = np.zeros(len(chunks))
    contributions = _weigh_passage(
        zero if cosine is None else cosine,
        zero if lexical is None else lexical,
        title,
        heading,
        numbers or 0.0,
    )
    matches = sum(contributions.values(), zero)
    pages = [chunk.document_id if chunk else None for chunk in chunks]
    page = _average_pages(pages, matches, is_evidence)
    # 0.5 is where a hit is about as likely right as wrong.
    scores = 1.0 / (1.0 + np.exp(-SCORE_SLOPE * (matches + PAGE_WEIGHT * page - SCORE_MIDPOINT)))
    return Features(cosine, lexical, title, heading, page, numbers), scores


def _match_heading(matcher: NameMatcher, chunk: Chunk) -> float:
    """Return how well the query matches the heading, alone or behind the title: `createStore Arguments`."""
    match = matcher.match(chunk.heading)
    if not chunk.section or not match or not matcher.match(chunk.title):
        return match
    return max(match, matcher.match(f"{chunk.title} {chunk.heading}"))


def _measure_numbers(query: str, book: BookWords) -> float | None:
    """Return how much weight moves from the cosine to the words, in (0, 1]; None without numbers."""
    terms = dict.fromkeys(book.analyzer.terms(query))
    # A number that the book does not have can't be found by words.
    numbers = [term for term in terms if term.isdecimal() and len(term) >= MIN_DIGITS and book.has_form(term)]
    if not numbers:
        return None
    return min(NUMBERS_FACTOR * book.weigh_terms(numbers) / book.weigh_terms(terms), 1.0)


def _best_of_each_side(candidates: Candidates) -> set[PointId]:
    """Return the points that a search for a short list proposes.

    Only they are evidence of a page, so that a score does not depend on the length of the list.
    """
    best: set[PointId] = set()
    for scores in (candidates.cosine, candidates.bm25):
        scored = zip(scores or (), candidates.point_ids, strict=False)
        positive = [(-score, int(point_id), point_id) for score, point_id in scored if score > 0]
        best.update(point_id for _, _, point_id in sorted(positive)[:CANDIDATES])
    return best


def _average_pages(pages: Sequence[str | None], matches: Column, is_evidence: Sequence[bool]) -> Column:
    """Return how well the page of each passage matches: the mean of its best passages, at most three."""
    by_page: dict[str | None, list[float]] = {}
    for page, match, counted in zip(pages, matches.tolist(), is_evidence, strict=True):
        if counted and page is not None:
            by_page.setdefault(page, []).append(match)
    evidence = {page: _average(sorted(best)[-PAGE_PASSAGES:]) for page, best in by_page.items()}
    column = [evidence.get(page, match) for page, match in zip(pages, matches.tolist(), strict=True)]
    return np.minimum(column, 1.0)


def _average(matches: Sequence[float]) -> float:
    return math.fsum(matches) / len(matches)


def _compute_highest_bm25(query: str, book: BookWords) -> float:
    """Return the upper limit of BM25 for a query, which a passage that repeats all its words approaches."""
    terms = dict.fromkeys(book.analyzer.terms(query))
    return MAX_WEIGHT * book.weigh_terms(terms) or MAX_WEIGHT


def select(ranked: Ranked, options: SearchOptions) -> Selection:
    """Choose the hits to list, and give the reason for each of the best candidates that are not listed.

    A passage that several pages share (a partial, a licence) is listed once, from its best page.
    """
    hits: list[Hit] = []
    excluded: list[Excluded] = []
    hits_of_page: Counter[str] = Counter()
    texts: set[str] = set()
    for hit in ranked.hits:
        page = hit.chunk.document_id
        if hit.score < options.threshold:
            reason = f"score {hit.score:.3f} is below the threshold {options.threshold:g}"
        elif options.distinct and hit.chunk.text in texts:
            reason = "its text is that of a better hit, word for word"
        elif options.per_page is not None and hits_of_page[page] >= options.per_page:
            reason = f"its page has {options.per_page} better hits already"
        elif len(hits) >= options.top_k:
            reason = f"the list is full: top_k is {options.top_k}"
        else:
            hits_of_page[page] += 1
            texts.add(hit.chunk.text)
            hits.append(hit)
            continue
        if len(excluded) < EXCLUDED_LIMIT:
            excluded.append(Excluded(hit, reason))
    lowest = hits[-1].score if len(hits) >= options.top_k else options.threshold
    damaged = [point for score, point in ranked.damaged if score >= max(lowest, options.threshold)]
    return Selection(hits, excluded, damaged)
