"""Judge outcomes by their labels: the measures of each query, and whether it passes by its own rule."""

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
from .runner import QueryOutcome

MEASURES = metrics.MEASURES
TOP = 5
LOW_PRECISION = "P@5 is"
NOTHING_RELEVANT = f"none of the first {TOP} results is relevant"
TOPICAL = 3
"""How many of the first five results of a specific query must name its topic (seed 000)."""


@dataclass(frozen=True, slots=True)
class Case:
    """A query with its outcome, its labels and its measures."""

    outcome: QueryOutcome
    resolved: ResolvedQuery
    ranking: tuple[str, ...]
    """The ids of the results, by chunk or by page as the labels are; copies of a text share an id."""
    labels: tuple[int | None, ...]
    """The grade of each result; None where nobody has judged it."""
    metrics: Mapping[str, float]
    passed: bool
    needed: int
    """How many of the first five results must be relevant."""
    complaints: tuple[str, ...]
    """What the query's own rule, or its expected criteria, found wrong."""

    @property
    def query(self) -> GoldenQuery:
        """The query."""
        return self.outcome.query

    @property
    def rank_of_best(self) -> int | None:
        """Seed 000's `rank_of_best`."""
        return metrics.rank_of_best(self.labels)

    @property
    def rank_of_first_relevant(self) -> int | None:
        """The rank of the first relevant result."""
        return metrics.rank_of_first_relevant(self.labels)

    @property
    def precision_at_k(self) -> float:
        """Seed 000's P@k, with the query's own `top_k`."""
        return metrics.precision_at_k(self.labels, self.query.top_k)

    @property
    def enough(self) -> bool:
        """Whether enough of the first five results are relevant."""
        return sum(bool(label) for label in self.labels[:TOP]) >= self.needed

    @property
    def relevant(self) -> int:
        """How many different passages are labelled as relevant."""
        return sum(grade > 0 for grade in self.resolved.text_grades.values())

    @property
    def lost(self) -> bool:
        """Whether every label of a relevant passage is lost, so that the query can't be judged."""
        relevant = [label for label in self.resolved.labels if label.label.grade]
        return bool(relevant) and all(label.status == "lost" for label in relevant)


def judge_outcomes(
    golden: GoldenSet,
    outcomes: Sequence[QueryOutcome],
    resolved: Mapping[str, ResolvedQuery],
    criteria: Criteria,
) -> list[Case]:
    """Judge every outcome by the labels of its query.

    Args:
        golden: The golden set.
        outcomes: The outcomes, with their deep rankings.
        resolved: The labels by query id.
        criteria: The P@5 that a query must reach, and the further measures to compute.
    """
    resolved_queries = [resolved[outcome.query.id] for outcome in outcomes]
    texts = [query_labels.text_grades for query_labels in resolved_queries]
    results = _list_text_ids([outcome.results for outcome in outcomes], resolved_queries, golden.unit)
    rankings = _list_text_ids([outcome.deep_results for outcome in outcomes], resolved_queries, golden.unit)
    judges_precision = preflight.can_judge_precision(golden, resolved, criteria)
    needed = math.ceil(criteria.precision_at_5 * TOP - 1e-9) if judges_precision else 1
    further = [name for name in criteria.at_least if name not in (*MEASURES, metrics.SPAN_RECALL)]
    table = evaluate_lists(results, rankings, texts, [*MEASURES, *further])
    cases = []
    for index, outcome in enumerate(outcomes):
        query_labels = resolved_queries[index]
        labels = label_ranking(results[index], texts[index])
        measures = {name: float(column[index]) for name, column in table.items()}
        measures |= seed_figures(labels)
        measures[metrics.SPAN_RECALL] = _span_recall(outcome.results[:TOP], query_labels)
        complaints = _list_complaints(outcome, golden.answer_threshold)
        if outcome.query.scored and outcome.answer is not None and sum(map(bool, labels[:TOP])) < needed:
            complaints.append(_describe_shortfall(measures["p@5"], criteria if judges_precision else None))
        cases.append(
            Case(
                outcome=outcome,
                resolved=query_labels,
                ranking=rankings[index],
                labels=labels,
                metrics=measures,
                passed=not complaints,
                needed=needed,
                complaints=tuple(complaints),
            )
        )
    return cases


def _list_text_ids(
    lists: Sequence[Sequence[Hit]], resolved_queries: Sequence[ResolvedQuery], unit: Unit
) -> list[tuple[str, ...]]:
    """Return the ids of each list; copies of a text share one."""
    return [
        tuple(map(query_labels.text_id, result_ids(hits, unit)))
        for hits, query_labels in zip(lists, resolved_queries, strict=True)
    ]


def evaluate_lists(
    results: Sequence[Sequence[str]],
    rankings: Sequence[Sequence[str]],
    judgments: Sequence[Mapping[str, int]],
    names: Sequence[str],
) -> dict[str, metrics.Column]:
    """Compute measures by name, each from the list that it is about.

    Args:
        results: The ids of the results that the caller of each query got.
        rankings: The ids of the results, followed by those of the deep ranking.
        judgments: The grades of each query by id.
        names: The measures.
    """
    of_results = [name for name in names if measures_results(name)]
    of_rankings = [name for name in names if name not in of_results]
    table = metrics.evaluate_all(results, judgments, of_results)
    table |= metrics.evaluate_all(rankings, judgments, of_rankings)
    return {name: table[name] for name in names}


def measures_results(name: str) -> bool:
    """Return whether a measure is about the results that the caller got, not about the deep ranking.

    A query fails by its first five results, so no measure of these may count one beyond its `top_k`.
    """
    return name == "rr_best" or metrics.Measure.parse(name).cutoff <= TOP


def label_ranking(ids: Sequence[str], judgments: Mapping[str, int]) -> tuple[int | None, ...]:
    """Return the grade of each result; one that repeats an earlier result has none."""
    return tuple(None if name in ids[:rank] else judgments.get(name) for rank, name in enumerate(ids))


def seed_figures(labels: Sequence[int | None]) -> dict[str, float]:
    """Return seed 000's P@5 and reciprocal rank, computed from the results alone."""
    rank = metrics.rank_of_best(labels)
    return {"p@5": metrics.precision_at_k(labels, TOP), "rr_best": metrics.mean_reciprocal_rank([rank])}


def finite_or_none(score: float | None) -> float | None:
    """Return the score, or None where JSON cannot store it."""
    return score if score is not None and math.isfinite(score) else None


def result_ids(hits: Sequence[Hit], unit: Unit) -> list[str]:
    """Return the ids by which labels name the results: of pages or of chunks."""
    return [hit.chunk.document_id if unit == "page" else hit.chunk.chunk_id for hit in hits]


def _span_recall(hits: Sequence[Hit], resolved: ResolvedQuery) -> float:
    chunks = [chunk for hit in hits for chunk in resolved.copies.get(hit.chunk.chunk_id, [hit.chunk])]
    retrieved = [(chunk.document_id, chunk.start, chunk.end) for chunk in chunks]
    return metrics.span_recall(resolved.relevant_spans, retrieved)


def _describe_shortfall(precision: float, criteria: Criteria | None) -> str:
    """Say that too few of the first five results are relevant; without criteria for P@5, that none is."""
    if criteria is None:
        return NOTHING_RELEVANT
    return f"{LOW_PRECISION} {precision:.2f}, below {criteria.precision_at_5:.2f}"


def _list_complaints(outcome: QueryOutcome, threshold: float) -> list[str]:
    """List what is wrong with an answer, apart from the relevance of its results."""
    query = outcome.query
    if outcome.error is not None:
        return [f"the search failed: {outcome.error}"]
    complaints = [*_check_list(outcome), *_check_expected_criteria(outcome)]
    if not query.answerable:
        complaints += _check_no_answer(outcome, threshold)
    elif query.scored and outcome.refusal is not None:
        complaints.append(f"the query was refused: {outcome.refusal}")
    return complaints


def _check_list(outcome: QueryOutcome) -> list[str]:
    """Check that scores are in range and in order, and that no chunk is repeated."""
    scores = [hit.score for hit in outcome.results]
    ids = [hit.chunk.chunk_id for hit in outcome.results]
    complaints = []
    if any(not math.isfinite(score) or not 0.0 <= score <= 1.0 for score in scores):
        complaints.append("a score is not between 0 and 1")
    if scores != sorted(scores, reverse=True):
        complaints.append("the results are not ordered by score")
    if len(set(ids)) < len(ids):
        complaints.append("a chunk is listed twice")
    return complaints


def _check_no_answer(outcome: QueryOutcome, threshold: float) -> list[str]:
    """Check that no result of a query without an answer reaches the threshold."""
    above = [hit for hit in outcome.results if hit.score >= threshold]
    if not above:
        return []
    best = max(above, key=lambda hit: hit.score)
    return [
        f"it has no answer, but {best.chunk.breadcrumb!r} scores {best.score:.3f}, not below {threshold:g}"
    ]


def _check_expected_criteria(outcome: QueryOutcome) -> list[str]:
    """Check seed 000's `expected_criteria`: the best score, and the topic of the first five results."""
    expected = outcome.query.expected_criteria
    complaints = []
    if expected.min_score is not None:
        best = max((hit.score for hit in outcome.results), default=0.0)
        if best < expected.min_score:
            complaints.append(f"the best score is {best:.3f}, below min_score {expected.min_score:g}")
    if expected.terms and outcome.query.query_type != "edge":
        count = count_on_topic(outcome)
        least = TOPICAL if outcome.query.query_type == "specific" else 1
        if count < least:
            complaints.append(
                f"{count} of the first {TOP} results name the topic ({expected.expected_topic}); at least "
                f"{least} should"
            )
    return complaints


def count_on_topic(outcome: QueryOutcome) -> int:
    """Count those of the first five results that name a term of the query's topic."""
    terms = outcome.query.expected_criteria.terms
    if not terms:
        return 0
    # With re.IGNORECASE, or the borders inside of each alternative, this would take a hundred times as long.
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(term.casefold()) for term in terms)})(?!\w)")
    texts = [f"{hit.chunk.breadcrumb}\n{hit.chunk.text}".casefold() for hit in outcome.results[:TOP]]
    return sum(pattern.search(text) is not None for text in texts)
