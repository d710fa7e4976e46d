"""Pair the queries that two reports have in common, both scored with the current labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..report import Query, TestCase, ValidationReport
from .golden_change import GoldenChange, cases_by_id
from .rescoring import ListScores, Rescorer

LOST = "all labels on their answers are lost in one of the runs"

NOT_STORED = "it is not among the measures of both reports"


@dataclass(frozen=True, slots=True)
class QueryPair:
    """A query in both reports."""

    baseline: TestCase
    current: TestCase
    baseline_scores: ListScores
    """The list of the baseline, scored with the current labels."""
    current_metrics: Mapping[str, float]
    rescored: bool = False
    """Whether the labels changed, so that the list of the baseline was scored again."""

    @property
    def name(self) -> str:
        """The query's id."""
        return self.current.query.id

    @property
    def is_scored(self) -> bool:
        """Whether the query counts in the means, by the current golden set."""
        return is_scored(self.current.query)

    @property
    def changed_status(self) -> bool:
        """Whether the query passes in only one run."""
        return self.baseline.has_passed != self.current.has_passed

    @property
    def is_judged_alike(self) -> bool:
        """Whether both runs judged the query by the same labels and expectations."""
        return (
            not self.rescored
            and self.baseline.expected_criteria == self.current.expected_criteria
            and is_scored(self.baseline.query) == self.is_scored
        )

    def explain_missing(self, measure: str) -> str | None:
        """Explain why the query can't be compared by a measure; None if it can."""
        if measure in self.baseline_scores.metrics and measure in self.current_metrics:
            return None
        return self.baseline_scores.missing.get(measure, NOT_STORED)

    def explain_unpaired(self) -> str | None:
        """Explain why the query can't be compared at all; None if it can."""
        if self.baseline_scores.problem:
            return self.baseline_scores.problem
        # The means of a report leave such a query out, too: its list can't be judged.
        return LOST if 0 in (self.current.relevant, self.baseline_scores.relevant) else None


def pair_queries(
    baseline: ValidationReport, current: ValidationReport, change: GoldenChange
) -> list[QueryPair]:
    """Pair the queries in both reports; score lists of the baseline again if their labels changed."""
    old_cases = cases_by_id(baseline)
    unpaired = {*change.queries_reworded, *change.queries_added}
    relabeled = set(change.queries_relabelled)
    rescorer = Rescorer(baseline, current)
    pairs = []
    for case in current.test_cases:
        if case.query.id in unpaired:
            continue
        old = old_cases[case.query.id]
        rescored = case.query.id in relabeled
        scores = rescorer.score(old, case) if rescored else ListScores(_metrics_of(old), old.relevant)
        pairs.append(QueryPair(old, case, scores, _metrics_of(case), rescored))
    return pairs


def is_scored(query: Query) -> bool:
    """Whether a query counts in the means: it is answerable and no edge case."""
    return query.answerable and query.query_type != "edge"


def _metrics_of(case: TestCase) -> Mapping[str, float]:
    """The measures of a query; a search that failed counts 0."""
    return dict.fromkeys(case.metrics, 0.0) if case.status == "error" else case.metrics
