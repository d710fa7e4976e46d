"""The queries that two reports have in common, with the figures of both by the later labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..report import Query, TestCase, ValidationReport
from .golden_change import GoldenChange, cases_by_id
from .rescoring import Rescored, Rescorer

LOST = "all that answers them is lost in one of the runs"

NOT_STORED = "it is not among the measures of both reports"


@dataclass(frozen=True, slots=True)
class QueryPair:
    """A query in both reports, with its figures by the later labels."""

    old: TestCase
    new: TestCase
    before: Mapping[str, float]
    after: Mapping[str, float]
    relevant_before: int | None
    """How many passages answer it in the earlier run; None where that is not known."""
    rescored: bool = False
    missing: Mapping[str, str] = field(default_factory=dict)
    """The measures that the earlier list can't be scored by, and why."""
    problem: str | None = None
    """Why the earlier list can't be scored at all."""

    @property
    def name(self) -> str:
        """The query's id."""
        return self.new.query.id

    @property
    def is_scored(self) -> bool:
        """Whether it counts in the means, by the later golden set."""
        return is_scored(self.new.query)

    @property
    def has_turned(self) -> bool:
        """Whether it passes in one run alone."""
        return is_good(self.old) != is_good(self.new)

    @property
    def passes_by_one_rule(self) -> bool:
        """Whether both runs were to pass the same labels and expectations."""
        return (
            not self.rescored
            and self.old.expected_criteria == self.new.expected_criteria
            and is_scored(self.old.query) == self.is_scored
        )

    def explain_missing(self, measure: str) -> str | None:
        """Why it can't be compared by a measure; None where it can."""
        if measure in self.before and measure in self.after:
            return None
        return self.missing.get(measure, NOT_STORED)

    def explain_unpaired(self) -> str | None:
        """Why it can't be compared at all; None where it can."""
        if self.problem:
            return self.problem
        # Where a label is lost nobody knows how good a list is: that is no loss of the retrieval.
        answered = self.new.relevant > 0
        lost_after = self.rescored and not answered
        lost_in_one = self.relevant_before is not None and (self.relevant_before > 0) != answered
        return LOST if lost_after or lost_in_one else None


def pair_queries(before: ValidationReport, after: ValidationReport, change: GoldenChange) -> list[QueryPair]:
    """The queries in both; where the labels changed, the earlier list is scored with the later ones."""
    old, new = cases_by_id(before), cases_by_id(after)
    unpaired = {*change.queries_reworded, *change.queries_added}
    relabelled = set(change.queries_relabelled)
    rescorer = Rescorer(before, after)
    pairs = []
    for name, case in new.items():
        if name in unpaired:
            continue
        earlier = old[name]
        stored = Rescored(_figures(earlier), earlier.relevant)
        scored = rescorer.score(earlier, case) if name in relabelled else stored
        pairs.append(
            QueryPair(
                old=earlier,
                new=case,
                before=scored.metrics,
                after=_figures(case),
                relevant_before=scored.relevant,
                rescored=name in relabelled,
                missing=scored.missing,
                problem=scored.problem,
            )
        )
    return pairs


def is_scored(query: Query) -> bool:
    """Whether a query counts in the means: it has an answer, and is no edge case."""
    return query.answerable and query.query_type != "edge"


def is_good(case: TestCase) -> bool:
    """Whether a query did what was expected of it."""
    return case.status in ("passed", "refused")


def _figures(case: TestCase) -> Mapping[str, float]:
    """The measures of a query; a search that failed counts 0."""
    if case.status == "error":
        return dict.fromkeys(case.metrics, 0.0)
    return case.metrics
