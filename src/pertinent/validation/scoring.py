"""Outcomes beside their labels: how good each list is, and whether each query passes by its own rule."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..types import Hit
from . import metrics, preflight
from .criteria import Criteria
from .golden.golden_set import GoldenQuery, GoldenSet, Unit
from .labels.resolve import ResolvedQuery
from .runner import Outcome

MEASURES = metrics.MEASURES
TOP = 5
LOW_PRECISION = "P@5 is"
NOTHING_RELEVANT = f"none of the first {TOP} results is relevant"
TOPICAL = 3
"""How many of the first five results of a specific query must name its topic (seed 000)."""


@dataclass(frozen=True, slots=True)
class Case:
    """A query with its outcome, judged."""

    outcome: Outcome
    resolved: ResolvedQuery
    ranking: tuple[str, ...]
    """What was found, by chunk or by page, as the labels name it; every copy of a text has one name."""
    labels: tuple[int | None, ...]
    """The label of each result; None where nobody has judged it."""
    metrics: Mapping[str, float]
    passed: bool
    needed: int
    """How many of the first five must be relevant."""
    complaints: tuple[str, ...]
    """What the query's own rule, or its expected criteria, found wanting."""

    @property
    def query(self) -> GoldenQuery:
        """The query."""
        return self.outcome.query

    @property
    def rank_of_best(self) -> int | None:
        """Seed 000's: the rank of the first result with the highest label among the results."""
        return metrics.rank_of_best(self.labels)

    @property
    def rank_of_first_relevant(self) -> int | None:
        """The rank of the first relevant result."""
        return metrics.rank_of_first_relevant(self.labels)

    @property
    def precision_at_k(self) -> float:
        """Seed 000's, with the query's own k."""
        return metrics.precision_at_k(self.labels, self.query.top_k)

    @property
    def enough(self) -> bool:
        """Whether as many of the first five are relevant as must be, whatever else the query lacks."""
        return sum(bool(label) for label in self.labels[:TOP]) >= self.needed

    @property
    def relevant(self) -> int:
        """How many passages answer the query, as its labels stand today."""
        return sum(grade > 0 for grade in self.resolved.text_grades.values())

    @property
    def lost(self) -> bool:
        """Whether all that would answer it is lost: then it can't be judged."""
        relevant = [label for label in self.resolved.labels if label.label.grade]
        return bool(relevant) and all(label.status == "lost" for label in relevant)


def judge(
    golden: GoldenSet, outcomes: Sequence[Outcome], resolved: Mapping[str, ResolvedQuery], criteria: Criteria
) -> list[Case]:
    """Every outcome beside its labels."""
    texts = [resolved[outcome.query.id].text_grades for outcome in outcomes]
    rankings = [
        tuple(map(resolved[outcome.query.id].text_id, found_ids(outcome.hits, golden.unit)))
        for outcome in outcomes
    ]
    judge_precision = preflight.allow_precision(golden, resolved, criteria)
    needed = math.ceil(criteria.precision_at_5 * TOP - 1e-9) if judge_precision else 1
    further = [name for name in criteria.at_least if name not in (*MEASURES, metrics.SPAN_RECALL)]
    table = metrics.evaluate_all(rankings, texts, [*MEASURES, *further])
    cases = []
    for place, outcome in enumerate(outcomes):
        known = resolved[outcome.query.id]
        labels = tuple(known.judgments.get(one) for one in found_ids(outcome.shown, golden.unit))
        measured = {name: float(column[place]) for name, column in table.items()}
        measured |= seed_figures(labels)
        measured[metrics.SPAN_RECALL] = _span_recall(outcome.shown[:TOP], known)
        complaints = _complaints(outcome, golden.answer_threshold)
        if outcome.query.scored and outcome.answer is not None and sum(map(bool, labels[:TOP])) < needed:
            complaints += (_name_shortfall(measured["p@5"], criteria if judge_precision else None),)
        cases.append(
            Case(
                outcome=outcome,
                resolved=known,
                ranking=rankings[place],
                labels=labels,
                metrics=measured,
                passed=not complaints,
                needed=needed,
                complaints=complaints,
            )
        )
    return cases


def seed_figures(labels: Sequence[int | None]) -> dict[str, float]:
    """Seed 000's two figures, from what the caller got and nothing further."""
    rank = metrics.rank_of_best(labels)
    return {"p@5": metrics.precision_at_k(labels, TOP), "rr_best": metrics.mean_reciprocal_rank([rank])}


def finite(score: float | None) -> float | None:
    """The score, if it is a number: what is not can't be written down."""
    return score if score is not None and math.isfinite(score) else None


def found_ids(hits: Sequence[Hit], unit: Unit) -> list[str]:
    """The results as labels name them."""
    return [hit.chunk.document_id if unit == "page" else hit.chunk.chunk_id for hit in hits]


def _span_recall(hits: Sequence[Hit], resolved: ResolvedQuery) -> float:
    chunks = [one for hit in hits for one in resolved.copies.get(hit.chunk.chunk_id, [hit.chunk])]
    found = [(one.document_id, one.start, one.end) for one in chunks]
    return metrics.span_recall(resolved.relevant_spans, found)


def _name_shortfall(precision: float, criteria: Criteria | None) -> str:
    """Say that too few of the first five are relevant; without criteria for P@5, that none is."""
    if criteria is None:
        return NOTHING_RELEVANT
    return f"{LOW_PRECISION} {precision:.2f}, below {criteria.precision_at_5:.2f}"


def _complaints(outcome: Outcome, threshold: float) -> tuple[str, ...]:
    """What is wrong with the answer, however relevant its results are; nothing where all is well."""
    query = outcome.query
    if outcome.error is not None:
        return (f"the search failed: {outcome.error}",)
    found = [*_unclean(outcome), *_expected(outcome)]
    if not query.answerable:
        found += _above(outcome, threshold)
    elif query.scored and outcome.refusal is not None:
        found.append(f"the query was refused: {outcome.refusal}")
    return tuple(found)


def _unclean(outcome: Outcome) -> list[str]:
    """What is wrong with the list itself, whatever it is about."""
    scores = [hit.score for hit in outcome.shown]
    ids = [hit.chunk.chunk_id for hit in outcome.shown]
    faults = []
    if any(not math.isfinite(score) or not 0.0 <= score <= 1.0 for score in scores):
        faults.append("a score is not between 0 and 1")
    if scores != sorted(scores, reverse=True):
        faults.append("the results are not in the order of their scores")
    if len(set(ids)) < len(ids):
        faults.append("a chunk is listed twice")
    return faults


def _above(outcome: Outcome, threshold: float) -> list[str]:
    above = [hit for hit in outcome.shown if hit.score >= threshold]
    if not above:
        return []
    best = max(above, key=lambda hit: hit.score)
    return [
        f"it has no answer, but {best.chunk.breadcrumb!r} scores {best.score:.3f}, not below {threshold:g}"
    ]


def _expected(outcome: Outcome) -> list[str]:
    """Seed 000's expected criteria that are not met."""
    wanted = outcome.query.expected_criteria
    faults = []
    if wanted.min_score is not None:
        best = max((hit.score for hit in outcome.shown), default=0.0)
        if best < wanted.min_score:
            faults.append(f"the best score is {best:.3f}, below min_score {wanted.min_score:g}")
    if wanted.terms and outcome.query.query_type != "edge":
        named = on_topic(outcome)
        least = TOPICAL if outcome.query.query_type == "specific" else 1
        if named < least:
            faults.append(f"{named} of the first {TOP} results name the topic ({wanted.expected_topic})")
    return faults


def on_topic(outcome: Outcome) -> int:
    """How many of the first five results name one of the terms of the query's topic."""
    terms = outcome.query.expected_criteria.terms
    if not terms:
        return 0
    named = re.compile("|".join(rf"(?<!\w){re.escape(term)}(?!\w)" for term in terms), re.IGNORECASE)
    texts = [f"{hit.chunk.breadcrumb}\n{hit.chunk.text}" for hit in outcome.shown[:TOP]]
    return sum(named.search(text) is not None for text in texts)
