"""Compare two reports query by query: what is better, what is worse, and whether it is significant.

Both reports are scored with the labels of the current one, so that the golden set may change in between.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from ..._internal.messages import format_list
from ...errors import InvalidInput
from ..criteria import Criterion
from ..report import CaseStatus, Latency, TestCase, ValidationReport
from ..report_defaults import Verdict
from ..report_fields import ReportPart
from ..statistics import PAIRED_SPREAD, Z_80, Z_95, Column, intervals, permutation_test
from .golden_change import (
    MAX_NAMES,
    GoldenChange,
    check_comparable,
    describe_golden_change,
    find_golden_change,
)
from .notes import group_by_reason, note_missing, note_pairs, note_runs, note_unjudged
from .pairing import QueryPair, pair_queries

MEASURES = ("p@5", "rr_best", "ndcg@10")
"""The measures that reports are compared by: the two of the verdict, and one that sees the order of ten."""

SIGNIFICANT = 0.05
"""A difference with a p below this is significant."""

MIN_QUERIES = 6
"""The fewest queries with which any difference is significant: the smallest p of n queries is 2 / 2**n."""

TOLERANCE = 1e-9
"""Values this close count as equal: another machine may round differently."""

COUNTED_LOSSES = "means that fell significantly, and by more than is allowed"
CRITERIA_DIFFER = "the criteria differ, so a query may pass or fail for that reason alone"

ChangeVerdict = Literal["better", "worse", "no significant change", "no change", "not judged"]


class RunSummary(ReportPart):
    """One of the two runs."""

    timestamp: str
    verdict: Verdict
    summary: str
    latency: Latency | None


class MeasureChange(ReportPart):
    """How the mean of a measure changed over the paired queries."""

    measure: str
    n: int
    baseline: float
    current: float
    difference: float
    low: float = Field(description="The lower end of the difference's 95 % bootstrap interval")
    high: float
    wins: int = Field(description="How many queries improved")
    ties: int
    losses: int
    p: float = Field(description="Paired permutation test, two-sided, for this measure alone")
    verdict: ChangeVerdict = Field(description="`not judged` where so few queries can't be significant")


class StatusChange(ReportPart):
    """A query that passed and fails now, or the other way round."""

    query: str
    text: str
    baseline: CaseStatus
    current: CaseStatus
    reason: str = Field(description="Why it fails now or, if it passes now, why it failed in the baseline")


class RunDifference(ReportPart):
    """A setting or circumstance that differs between the two runs."""

    name: str
    baseline: str | None
    current: str | None


class Comparison(ReportPart):
    """Everything that a comparison of two reports found."""

    golden: str
    scored_with: str = Field(description="Which labels both are scored with, and how the golden set changed")
    golden_change: GoldenChange
    baseline: RunSummary
    current: RunSummary
    n: int = Field(description="How many queries are paired")
    changes: list[MeasureChange]
    newly_failing: list[StatusChange]
    newly_passing: list[StatusChange]
    differences: list[RunDifference]
    rescored: list[str] = Field(description="Queries whose baseline list was scored with the current labels")
    unpaired: list[str] = Field(description="Queries in both that could not be judged alike; see `notes`")
    detectable_difference: float | None = Field(
        description="The smallest difference that so many queries show in 4 of 5 trials; null if too few"
    )
    notes: list[str]


def compare_reports(
    baseline: ValidationReport,
    current: ValidationReport,
    measures: Sequence[str] = MEASURES,
    seed: int = 0,
) -> Comparison:
    """Compare two reports over the queries that both have, with the labels of the current one.

    Args:
        baseline: The earlier report.
        current: The later report.
        measures: The measures to compare; both reports must have them.
        seed: The seed of the bootstrap and of the permutation test.

    Raises:
        InvalidInput: The reports have no answerable query in common, or judge different units.

    Examples:
        >>> comparison = compare_reports(load("main.json"), load("branch.json"))  # doctest: +SKIP
        >>> comparison.changes[0].verdict  # doctest: +SKIP
        'no significant change'
    """
    change = find_golden_change(baseline, current)
    check_comparable(baseline, current, change)
    common = pair_queries(baseline, current, change)
    scored = [pair for pair in common if pair.is_scored]
    problems = {pair.name: problem for pair in scored if (problem := pair.explain_unpaired())}
    paired = [pair for pair in scored if pair.name not in problems]
    if not paired:
        raise InvalidInput("report", f"there is nothing to compare: {_explain_no_pairs(change, problems)}")
    comparable = {name: [pair for pair in paired if not pair.explain_missing(name)] for name in measures}
    _refuse_unknown_measures(measures, paired)
    missing = [note for name in measures for note in note_missing(name, paired)]
    if not any(comparable.values()):
        raise InvalidInput("report", f"there is nothing to compare: {'; '.join(missing)}")
    turned = [_status_change(pair) for pair in common if pair.changed_status and pair.is_judged_alike]
    differences = _find_differences(baseline, current)
    criteria_differ = any(
        difference.name.startswith(("criteria.", "answer_threshold")) for difference in differences
    )
    changes = [_measure_change(name, pairs, seed) for name, pairs in comparable.items() if pairs]
    unjudged = explain_unjudged(changes)
    return Comparison(
        golden=current.golden.name,
        scored_with=describe_golden_change(change),
        golden_change=change,
        baseline=_summarize_run(baseline),
        current=_summarize_run(current),
        n=len(paired),
        changes=changes,
        newly_failing=[query for query in turned if query.current in ("failed", "error")],
        newly_passing=[query for query in turned if query.baseline in ("failed", "error")],
        differences=differences,
        rescored=[pair.name for pair in paired if pair.rescored],
        unpaired=list(problems),
        detectable_difference=detectable_difference(len(paired)),
        notes=[
            *([unjudged] if unjudged else []),
            *note_runs(baseline, current),
            *([CRITERIA_DIFFER] if criteria_differ else []),
            *note_pairs(common, problems),
            *missing,
            *note_unjudged(paired),
        ],
    )


def find_regressions(comparison: Comparison, max_regression: float) -> list[str]:
    """Describe the measures that fell significantly, and by more than is allowed.

    Args:
        comparison: The comparison.
        max_regression: How much a mean may fall, from 0.0 to 1.0.
    """
    if not 0.0 <= max_regression <= 1.0:
        raise InvalidInput("max_regression", f"must be between 0.0 and 1.0, not {max_regression}")
    return [
        f"{change.measure} fell by {-change.difference:.3f}, from {change.baseline:.3f} to "
        f"{change.current:.3f} (p {change.p:.2g}): more than {max_regression:g}"
        for change in comparison.changes
        if -change.difference > max_regression + TOLERANCE and change.p < SIGNIFICANT
    ]


def explain_unjudged(changes: Sequence[MeasureChange]) -> str | None:
    """Say which measures have too few queries to be judged; None if all can be."""
    unjudged = [change.measure for change in changes if change.verdict == "not judged"]
    if not unjudged:
        return None
    return f"not judged: at least {MIN_QUERIES} queries are needed to compare {', '.join(unjudged)}"


def add_baseline_criterion(
    report: ValidationReport, comparison: Comparison, regressions: Sequence[str]
) -> ValidationReport:
    """Add a criterion to a report: no regression against its baseline.

    With regressions the report fails. If a measure can't be judged instead, the report has no verdict.
    """
    unjudged = None if regressions else explain_unjudged(comparison.changes)
    criterion = Criterion(
        name="baseline",
        target=0,
        value=len(regressions),
        passed=None if unjudged else not regressions,
        n=comparison.n,
        detail=f"{unjudged or COUNTED_LOSSES}. {comparison.scored_with}",
    )
    criteria = [*report.criteria, criterion]
    if report.verdict == "INVALID" or not (regressions or unjudged):
        return report.model_copy(update={"criteria": criteria})
    reason = report.summary.partition(": ")[2]
    if unjudged:
        verdict, summary = "INVALID", f"the baseline is {unjudged}. {reason}"
    else:
        verdict, summary = "FAIL", f"{reason} Worse than the baseline: {'; '.join(regressions)}."
    return report.model_copy(
        update={"criteria": criteria, "verdict": verdict, "summary": f"{verdict}: {summary}"}
    )


def add_incomparable_baseline(report: ValidationReport, problem: str) -> ValidationReport:
    """Add the criterion `baseline` to a report that can't be compared: then it has no verdict."""
    detail = f"the baseline can't be compared: {problem}"
    criterion = Criterion(name="baseline", target=0, value=0, passed=None, n=0, detail=detail)
    reason = report.summary.partition(": ")[2]
    return report.model_copy(
        update={
            "criteria": [*report.criteria, criterion],
            "verdict": "INVALID",
            "summary": f"INVALID: {detail}. {reason}",
        }
    )


def detectable_difference(n: int) -> float | None:
    """The smallest difference of means that n paired queries show in 4 of 5 trials; None if n is too few."""
    return min(1.0, (Z_95 + Z_80) * PAIRED_SPREAD / math.sqrt(n)) if n >= MIN_QUERIES else None


def _explain_no_pairs(change: GoldenChange, problems: Mapping[str, str]) -> str:
    groups = group_by_reason(problems)
    reasons = [f"{reason}: {format_list(names, MAX_NAMES)}" for reason, names in groups.items()]
    if reasons:
        return "; ".join(reasons)
    if change.same:
        return "no query has an answer"
    return f"the reports have no answerable query in common. {describe_golden_change(change)}"


def _refuse_unknown_measures(measures: Sequence[str], paired: Sequence[QueryPair]) -> None:
    """Refuse a measure that the current report does not have."""
    available = [
        name for name in paired[0].current_metrics if all(name in pair.current_metrics for pair in paired)
    ]
    for name in measures:
        if name not in available:
            raise InvalidInput(
                "measures", f"{name!r} is not in both reports; they have {', '.join(available)}"
            )


def _summarize_run(report: ValidationReport) -> RunSummary:
    return RunSummary(
        timestamp=report.timestamp, verdict=report.verdict, summary=report.summary, latency=report.latency
    )


def _status_change(pair: QueryPair) -> StatusChange:
    return StatusChange(
        query=pair.name,
        text=pair.current.query.text,
        baseline=pair.baseline.status,
        current=pair.current.status,
        reason=_explain_failure(pair.baseline if pair.current.has_passed else pair.current),
    )


def _explain_failure(case: TestCase) -> str:
    """The diagnosis of a failed query, or what is known without one."""
    if case.diagnosis is not None:
        return case.diagnosis.detail
    return "; ".join(case.complaints) or case.error or "not known"


def _measure_change(measure: str, pairs: Sequence[QueryPair], seed: int) -> MeasureChange:
    old = np.array([pair.baseline_scores.metrics[measure] for pair in pairs])
    new = np.array([pair.current_metrics[measure] for pair in pairs])
    difference = np.where(np.abs(new - old) <= TOLERANCE, 0.0, new - old)
    bounds = intervals({measure: difference}, seed=seed)[measure]
    p = permutation_test(difference, seed=seed)
    return MeasureChange(
        measure=measure,
        n=len(pairs),
        baseline=float(old.mean()),
        current=float(new.mean()),
        difference=bounds.mean,
        low=bounds.low,
        high=bounds.high,
        wins=int((difference > 0).sum()),
        ties=int((difference == 0).sum()),
        losses=int((difference < 0).sum()),
        p=p,
        verdict=_judge_change(difference, p),
    )


def _judge_change(difference: Column, p: float) -> ChangeVerdict:
    if not difference.any():
        return "no change"
    if len(difference) < MIN_QUERIES:
        return "not judged"
    if p >= SIGNIFICANT:
        return "no significant change"
    return "better" if difference.sum() > 0 else "worse"


def _find_differences(baseline: ValidationReport, current: ValidationReport) -> list[RunDifference]:
    old, new = _list_circumstances(baseline), _list_circumstances(current)
    return [
        RunDifference(name=name, baseline=old.get(name), current=new.get(name))
        for name in {**old, **new}
        if old.get(name) != new.get(name)
    ]


def _list_circumstances(report: ValidationReport) -> dict[str, str]:
    """The settings and circumstances of a run, apart from the contents of its golden set."""
    options = report.options
    criteria = options.get("criteria")
    circumstances = {name: value for name, value in report.fingerprints.items() if name != "golden"}
    circumstances |= {
        "golden set": report.golden.name,
        "answer_threshold": str(report.golden.answer_threshold),
        "top_k": ", ".join(map(str, sorted({case.query.top_k for case in report.test_cases}))),
    }
    # Options of the command override the settings, which are among the fingerprints.
    circumstances |= {
        name: str(options[name])
        for name in ("ranking", "threshold", "concurrency", "limit")
        if options.get(name) is not None
    }
    if isinstance(criteria, dict):
        circumstances |= {f"criteria.{name}": str(value) for name, value in criteria.items()}
    return circumstances
