"""Two reports, query by query: what became better, what worse, and how sure that is.

Both sides are scored with the labels of the later report, so that a golden set may change in between.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from ...errors import InvalidInput
from ..criteria import Criterion
from ..phrases import listed
from ..report import Latency, ReportPart, TestCase, ValidationReport, Verdict
from ..statistics import PAIRED_SPREAD, Z_80, Z_95, Column, intervals, permutation_test
from .golden_change import NAMED, GoldenChange, check_comparable, describe_golden_change, find_golden_change
from .notes import group_by_reason, note_missing, note_pairs, note_runs, note_unjudged
from .pairing import QueryPair, is_good, pair_queries

MEASURES = ("p@5", "rr_best", "ndcg@10")
"""What two runs are compared by: the two of the verdict, and one that sees the order of all ten."""

SIGNIFICANT = 0.05
"""Below this p a difference counts as real."""

EQUAL = 1e-9
"""How far apart two values may be and still count as equal: another machine rounds otherwise."""

JUDGED_BY = ("criteria.", "answer_threshold")
OTHER_CRITERIA = "the criteria differ, so that a query may pass or fail for that alone"

Status = Literal["passed", "failed", "error", "refused"]
Judgement = Literal["better", "worse", "no significant change", "no change"]


class Run(ReportPart):
    """One of the two runs in short."""

    timestamp: str
    verdict: Verdict
    summary: str
    latency: Latency | None


class Change(ReportPart):
    """How a measure changed over the paired queries."""

    measure: str
    n: int
    before: float
    after: float
    difference: float
    low: float = Field(description="The lower end of the difference's 95 % bootstrap interval")
    high: float
    wins: int = Field(description="How many queries are better than before")
    ties: int
    losses: int
    p: float = Field(description="Paired permutation test, two-sided, for this measure alone")
    verdict: Judgement


class Turn(ReportPart):
    """A query that passed and fails now, or the other way round."""

    query: str
    text: str
    before: Status
    after: Status
    reason: str = Field(description="Why it fails now or, where it passes now, why it failed before")


class Difference(ReportPart):
    """Something else that was not the same in the two runs."""

    name: str
    before: str | None
    after: str | None


class Comparison(ReportPart):
    """Everything that two reports say about each other."""

    golden: str
    scored_with: str = Field(description="Which labels both are scored with, and how the golden set changed")
    golden_change: GoldenChange
    before: Run
    after: Run
    n: int = Field(description="How many queries are paired")
    changes: list[Change]
    newly_failing: list[Turn]
    newly_passing: list[Turn]
    differs: list[Difference]
    rescored: list[str] = Field(description="Queries whose earlier list was scored with the later labels")
    unpaired: list[str] = Field(description="Queries in both that could not be judged alike; see `notes`")
    visible: float = Field(description="The smallest difference that so many queries show in 4 of 5 trials")
    notes: list[str]


def compare(
    before: ValidationReport, after: ValidationReport, measures: Sequence[str] = MEASURES, seed: int = 0
) -> Comparison:
    """The later run beside the earlier one, on the queries in both and with the later labels."""
    change = find_golden_change(before, after)
    check_comparable(before, after, change)
    common = pair_queries(before, after, change)
    scored = [pair for pair in common if pair.is_scored]
    problems = {pair.name: problem for pair in scored if (problem := pair.explain_unpaired())}
    paired = [pair for pair in scored if pair.name not in problems]
    if not paired:
        raise InvalidInput("report", f"there is nothing to compare: {_explain_nothing(change, problems)}")
    compared = {name: [pair for pair in paired if not pair.explain_missing(name)] for name in measures}
    _refuse_unknown_measures(measures, paired)
    missing = [note for name in measures for note in note_missing(name, paired)]
    if not any(compared.values()):
        raise InvalidInput("report", f"there is nothing to compare: {'; '.join(missing)}")
    turns = [_turn(pair.old, pair.new) for pair in common if pair.has_turned and pair.passes_by_one_rule]
    differs = _differences(before, after)
    return Comparison(
        golden=after.golden.name,
        scored_with=describe_golden_change(change),
        golden_change=change,
        before=_run(before),
        after=_run(after),
        n=len(paired),
        changes=[_change(name, pairs, seed) for name, pairs in compared.items() if pairs],
        newly_failing=[turn for turn in turns if turn.after in ("failed", "error")],
        newly_passing=[turn for turn in turns if turn.before in ("failed", "error")],
        differs=differs,
        rescored=[pair.name for pair in paired if pair.rescored],
        unpaired=list(problems),
        visible=visible(len(paired)),
        notes=[
            *note_runs(before, after),
            *([OTHER_CRITERIA] if any(one.name.startswith(JUDGED_BY) for one in differs) else []),
            *note_pairs(common, problems),
            *missing,
            *note_unjudged(paired),
        ],
    )


def regressions(comparison: Comparison, max_regression: float) -> list[str]:
    """The measures that fell by more than is allowed, and not by chance; each with its figures."""
    if not 0.0 <= max_regression <= 1.0:
        raise InvalidInput("max_regression", f"must be between 0.0 and 1.0, not {max_regression}")
    return [
        f"{one.measure} fell by {-one.difference:.3f}, from {one.before:.3f} to {one.after:.3f} "
        f"(p {one.p:.2g}): more than {max_regression:g}"
        for one in comparison.changes
        if -one.difference > max_regression + EQUAL and one.p < SIGNIFICANT
    ]


def held_to(report: ValidationReport, compared: Comparison, losses: Sequence[str]) -> ValidationReport:
    """The report with one criterion more: that nothing was lost against its baseline."""
    baseline = Criterion(
        name="baseline",
        wanted=0,
        value=len(losses),
        passed=not losses,
        n=compared.n,
        detail=f"means that were lost, significantly and by more than is allowed. {compared.scored_with}",
    )
    criteria = [*report.criteria, baseline]
    if not losses or report.verdict == "INVALID":
        return report.model_copy(update={"criteria": criteria})
    summary = f"FAIL: {report.summary.partition(': ')[2]} Worse than the baseline: {'; '.join(losses)}."
    return report.model_copy(update={"criteria": criteria, "verdict": "FAIL", "summary": summary})


def visible(n: int) -> float:
    """The smallest difference of means that n queries in common show in 4 of 5 trials; at most 1."""
    return min(1.0, (Z_95 + Z_80) * PAIRED_SPREAD / math.sqrt(n)) if n else 1.0


def _explain_nothing(change: GoldenChange, problems: Mapping[str, str]) -> str:
    reasons = [f"{reason}: {listed(names, NAMED)}" for reason, names in group_by_reason(problems).items()]
    if reasons:
        return "; ".join(reasons)
    if change.same:
        return "no query has an answer"
    return f"no query that has an answer is in both runs. {describe_golden_change(change)}"


def _refuse_unknown_measures(measures: Sequence[str], paired: Sequence[QueryPair]) -> None:
    """Refuse a measure that the later report does not have."""
    shared = [name for name in paired[0].after if all(name in pair.after for pair in paired)]
    for name in measures:
        if name not in shared:
            raise InvalidInput("measures", f"{name!r} is not in both reports; there are {', '.join(shared)}")


def _run(report: ValidationReport) -> Run:
    return Run(
        timestamp=report.timestamp, verdict=report.verdict, summary=report.summary, latency=report.latency
    )


def _turn(old: TestCase, new: TestCase) -> Turn:
    return Turn(
        query=new.query.id,
        text=new.query.text,
        before=old.status,
        after=new.status,
        reason=_reason(old if is_good(new) else new),
    )


def _reason(case: TestCase) -> str:
    """The diagnosis, or what is known without one."""
    if case.diagnosis is not None:
        return case.diagnosis.detail
    return "; ".join(case.complaints) or case.error or "not known"


def _change(measure: str, pairs: Sequence[QueryPair], seed: int) -> Change:
    old = np.array([pair.before[measure] for pair in pairs])
    new = np.array([pair.after[measure] for pair in pairs])
    difference = _difference(old, new)
    bounds = intervals({measure: difference}, seed=seed)[measure]
    p = permutation_test(difference, seed=seed)
    return Change(
        measure=measure,
        n=len(pairs),
        before=float(old.mean()),
        after=float(new.mean()),
        difference=bounds.mean,
        low=bounds.low,
        high=bounds.high,
        wins=int((difference > 0).sum()),
        ties=int((difference == 0).sum()),
        losses=int((difference < 0).sum()),
        p=p,
        verdict=_verdict(difference, p),
    )


def _difference(before: Column, after: Column) -> Column:
    change = after - before
    return np.where(np.abs(change) <= EQUAL, 0.0, change)


def _verdict(change: Column, p: float) -> Judgement:
    if not change.any():
        return "no change"
    if p >= SIGNIFICANT:
        return "no significant change"
    return "better" if change.sum() > 0 else "worse"


def _differences(before: ValidationReport, after: ValidationReport) -> list[Difference]:
    old, new = _circumstances(before), _circumstances(after)
    return [
        Difference(name=name, before=old.get(name), after=new.get(name))
        for name in {**old, **new}
        if old.get(name) != new.get(name)
    ]


def _circumstances(report: ValidationReport) -> dict[str, str]:
    """What a run was made with, but for the golden set."""
    options = report.options
    criteria = options.get("criteria")
    known = {name: value for name, value in report.fingerprints.items() if name != "golden"}
    known |= {
        "golden set": report.golden.name,
        "answer_threshold": str(report.golden.answer_threshold),
        "top_k": ", ".join(map(str, sorted({case.query.top_k for case in report.test_cases}))),
    }
    # What the command asked for goes before what the settings say.
    known |= {
        name: str(options[name])
        for name in ("ranking", "threshold", "concurrency", "limit")
        if options.get(name) is not None
    }
    if isinstance(criteria, dict):
        known |= {f"criteria.{name}": str(value) for name, value in criteria.items()}
    return known
