"""Ranking: pure functions from candidates to a list of hits.

The score of the ranking `hybrid` is computed in three steps (docs/ranking.md):

1. Each passage gets a sum of its features: cosine, BM25, and how well the query matches title and heading.
2. The best passages of its page add to it: several good passages on a page support each other.
3. One logistic function maps the sum to [0, 1], so that 0.5 is where a hit is about as likely right as
   wrong. A threshold means the same for every query.

The rankings `dense` and `lexical` have one feature, which is their score.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import neg
from typing import NamedTuple

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
from .terms import fold

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

SCORE_MIDPOINT = 0.35
"""The sum of weighted features, as a share of a full match, that maps to the score 0.5."""

SCORE_SLOPE = 10.0
"""How fast the score rises around its midpoint."""

CANDIDATE_SIDES: Mapping[Ranking, tuple[str, ...]] = {
    "hybrid": ("dense", "lexical"),
    "dense": ("dense",),
    "lexical": ("lexical",),
}
"""The sides of the index that propose candidates for each ranking."""

EXCLUDED_LIMIT = 5
"""How many excluded candidates an answer reports."""

FULL_MATCH = COSINE_WEIGHT + LEXICAL_WEIGHT + TITLE_WEIGHT + HEADING_WEIGHT
"""The sum of features of a passage that matches in every way."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates in order, best first; damaged points are listed separately, with their scores."""

    hits: list[Hit]
    damaged: list[tuple[float, DamagedPoint]]

    def all_reach(self, threshold: float) -> bool:
        """Say whether every candidate has at least this score, so that further ones might too."""
        scores = [*(hit.score for hit in self.hits), *(score for score, _ in self.damaged)]
        return min(scores, default=0.0) >= threshold


class Selection(NamedTuple):
    """The hits to list, the best candidates that are not listed, and the damaged ones that would be."""

    hits: list[Hit]
    excluded: list[Excluded]
    damaged: list[DamagedPoint]


FORMULAS: Mapping[Ranking, str] = {
    "hybrid": (
        f"1 / (1 + exp(-{SCORE_SLOPE:g} × (match - {SCORE_MIDPOINT:g}))), where match = "
        f"({COSINE_WEIGHT:g} × cosine + {LEXICAL_WEIGHT:g} × lexical + {TITLE_WEIGHT:g} × title^{NAME_POWER} "
        f"+ {HEADING_WEIGHT:g} × heading^{NAME_POWER}) / {FULL_MATCH:g} + {PAGE_WEIGHT:g} × page"
    ),
    "dense": "cosine",
    "lexical": "lexical",
}
"""How the score of each ranking is computed from its features."""


class ScoredPassage(NamedTuple):
    """A candidate that can be read, with its features."""

    point_id: PointId
    chunk: Chunk
    scores: Scores


class NameMatcher:
    """Measures how well a query matches the name of a page or section."""

    def __init__(self, query: str, book: BookWords) -> None:
        self._book = book
        self._query = book.name(query)
        self._matches: dict[str, float] = {}

    def match(self, name: str) -> float:
        """Return how well the query matches a name, in [0, 1]; the chunks of a page share its title."""
        if name not in self._matches:
            self._matches[name] = self._compare(name)
        return self._matches[name]

    def _compare(self, name: str) -> float:
        """Return the share of words that query and name have in common, weighted by rarity, in [0, 1].

        Stems count half and exact words half. For a name that begins with the query, the share of its
        letters counts; the root is taken because a name is rarely typed to its end.
        """
        query, candidate = self._query, self._book.name(name)
        if not candidate.words or not query.words:
            return 0.0
        overlap = 0.0
        if shared_terms := query.terms & candidate.terms:
            shared_words = query.words & candidate.words
            overlap = self._book.weigh_terms(shared_terms) / (query.term_weight + candidate.term_weight)
            overlap += self._book.weigh_words(shared_words) / (query.word_weight + candidate.word_weight)
        if query.flat and candidate.flat.startswith(query.flat):
            letters = 2 * len(query.flat) / (len(query.flat) + len(candidate.flat))
            overlap = max(overlap, math.sqrt(letters))
        return min(overlap, 1.0)


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
    highest = _compute_highest_bm25(query, book)
    count = len(candidates.point_ids)
    cosines: Sequence[float | None] = candidates.cosine or [None] * count
    weights: Sequence[float | None] = candidates.bm25 or [None] * count
    matcher = NameMatcher(query, book) if ranking == "hybrid" else None
    passages: list[ScoredPassage] = []
    damaged: list[tuple[float, DamagedPoint]] = []
    for point_id, raw_cosine, bm25 in zip(candidates.point_ids, cosines, weights, strict=True):
        point = points.get(point_id)
        if point is None:
            continue
        cosine = None if raw_cosine is None else scale.apply(raw_cosine)
        lexical = None if bm25 is None else min(math.sqrt(max(bm25, 0.0) / highest), 1.0)
        if isinstance(point, DamagedPoint):
            damaged.append((_score_alone(Scores(cosine, lexical), ranking), point))
            continue
        scores = Scores(cosine, lexical)
        if matcher is not None:
            scores = _discount_lists(scores, point.text)._replace(
                title=matcher.match(point.title), heading=matcher.match(point.heading)
            )
        passages.append(ScoredPassage(point_id, point, scores))
    if ranking == "hybrid":
        hits = _score_with_pages(passages, _best_of_each_side(candidates))
    else:
        hits = [
            Hit(chunk, _score_alone(scores, ranking), scores, point_id)
            for point_id, chunk, scores in passages
        ]
    return Ranked(
        sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id)),
        sorted(damaged, key=lambda scored: (-scored[0], scored[1].chunk_id)),
    )


def weigh_features(scores: Scores) -> dict[str, float]:
    """Return what each feature adds to the match that the score of `hybrid` is computed from."""
    return {
        "cosine": COSINE_WEIGHT * (scores.cosine or 0.0) / FULL_MATCH,
        "lexical": LEXICAL_WEIGHT * (scores.lexical or 0.0) / FULL_MATCH,
        "title": TITLE_WEIGHT * (scores.title or 0.0) ** NAME_POWER / FULL_MATCH,
        "heading": HEADING_WEIGHT * (scores.heading or 0.0) ** NAME_POWER / FULL_MATCH,
        "page": PAGE_WEIGHT * (scores.page or 0.0),
    }


def _discount_lists(scores: Scores, text: str) -> Scores:
    """Lower what a passage matches by meaning and words, if it has lists that name things of other pages."""
    remaining = 1.0 - measure_discount(text)
    if remaining == 1.0:
        return scores
    cosine = None if scores.cosine is None else remaining * scores.cosine
    lexical = None if scores.lexical is None else remaining * scores.lexical
    return scores._replace(cosine=cosine, lexical=lexical)


def _best_of_each_side(candidates: Candidates) -> set[PointId]:
    """Return the points that a search for a short list proposes.

    Only they are evidence of a page, so that a score does not depend on the length of the list.
    """
    best: set[PointId] = set()
    for scores in (candidates.cosine, candidates.bm25):
        scored = zip(map(neg, scores or ()), candidates.point_ids, strict=False)
        ordered = sorted(scored, key=lambda pair: (pair[0], int(pair[1])))
        best.update(point_id for negative_score, point_id in ordered[:CANDIDATES] if negative_score < 0)
    return best


def _score_with_pages(passages: Sequence[ScoredPassage], evident: set[PointId]) -> list[Hit]:
    """Score each passage with the evidence of its page: the mean of the best ones among those it has."""
    matches = [_compute_match(passage.scores) for passage in passages]
    by_page: dict[str, list[float]] = {}
    for passage, match in zip(passages, matches, strict=True):
        if passage.point_id in evident:
            by_page.setdefault(passage.chunk.document_id, []).append(match)
    evidence = {page: _average(sorted(best)[-PAGE_PASSAGES:]) for page, best in by_page.items()}
    hits = []
    for (point_id, chunk, scores), match in zip(passages, matches, strict=True):
        page = evidence.get(chunk.document_id, min(match, 1.0))
        score = _calibrate(match + PAGE_WEIGHT * page)
        hits.append(Hit(chunk, score, scores._replace(page=page), point_id))
    return hits


def _average(matches: Sequence[float]) -> float:
    return min(sum(matches) / len(matches), 1.0)


def _score_alone(scores: Scores, ranking: Ranking) -> float:
    """Return the score of a passage that is the only one of its page."""
    if ranking == "dense":
        return scores.cosine or 0.0
    if ranking == "lexical":
        return scores.lexical or 0.0
    match = _compute_match(scores)
    return _calibrate(match + PAGE_WEIGHT * min(match, 1.0))


def _compute_match(scores: Scores) -> float:
    """Return the sum of the weighted features; a passage that matches in every way has 1 without its page."""
    return sum(weigh_features(scores).values())


def _calibrate(match: float) -> float:
    """Map the match to [0, 1], so that 0.5 is where a hit is about as likely right as wrong."""
    return 1.0 / (1.0 + math.exp(-SCORE_SLOPE * (match - SCORE_MIDPOINT)))


def _compute_highest_bm25(query: str, book: BookWords) -> float:
    """Return the highest BM25 weight that a passage can have: with every word of the query, often."""
    terms = dict.fromkeys(book.analyzer.terms(query))
    return MAX_WEIGHT * book.weigh_terms(terms) or MAX_WEIGHT


def contains_phrases(chunk: Chunk, phrases: Sequence[str]) -> bool:
    """Whether a chunk has each phrase in its text or the names above it, whatever case and white space."""
    text = " ".join(fold(f"{chunk.title} {chunk.section} {chunk.text}").split())
    return all(" ".join(fold(phrase).split()) in text for phrase in phrases)


def select(ranked: Ranked, options: SearchOptions, phrases: Sequence[str] = ()) -> Selection:
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
        elif phrases and not contains_phrases(hit.chunk, phrases):
            reason = "it does not have the quoted words"
        elif options.distinct and hit.chunk.content_hash in texts:
            reason = "its text is that of a better hit, word for word"
        elif options.per_page is not None and hits_of_page[page] >= options.per_page:
            reason = f"its page has {options.per_page} better hits already"
        elif len(hits) >= options.top_k:
            reason = f"the list is full: top_k is {options.top_k}"
        else:
            hits_of_page[page] += 1
            texts.add(hit.chunk.content_hash or hit.chunk.chunk_id)
            hits.append(hit)
            continue
        if len(excluded) < EXCLUDED_LIMIT:
            excluded.append(Excluded(hit, reason))
    lowest = hits[-1].score if len(hits) >= options.top_k else options.threshold
    damaged = [point for score, point in ranked.damaged if score >= max(lowest, options.threshold)]
    return Selection(hits, excluded, damaged)
