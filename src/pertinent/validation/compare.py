"""Two reports of one golden set, query by query: what became better, what worse, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from .._internal.messages import format_list
from ..errors import InvalidInput
from .criteria import Criterion
from .report import Latency, Part, Query, TestCase, ValidationReport, Verdict
from .statistics import PAIRED_SPREAD, Z_80, Z_95, Column, intervals, permutation_test

MEASURES = ("p@5", "rr_best", "ndcg@10")
"""What two runs are compared by: the two of the verdict, and one that sees the order of all ten."""

SIGNIFICANT = 0.05
"""Below this p a difference counts as real."""

EQUAL = 1e-9
"""How far apart two values may be and still count as equal: another machine rounds otherwise."""

LABELLED = "judged@5"
UNEVEN = 0.05
"""How much more of one run's first five may be labelled before the labels themselves favour it."""

TOLD = 10
"""How many queries of a kind a message names."""

Status = Literal["passed", "failed", "error", "refused"]
Judgement = Literal["better", "worse", "no significant change", "no change"]


class Run(Part):
    """One of the two runs in short."""

    timestamp: str
    verdict: Verdict
    summary: str
    latency: Latency | None


class Change(Part):
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


class Turn(Part):
    """A query that passed and fails now, or the other way round."""

    query: str
    text: str
    before: Status
    after: Status
    reason: str = Field(description="Why it fails now or, where it passes now, why it failed before")


class Difference(Part):
    """Something else that was not the same in the two runs."""

    name: str
    before: str | None
    after: str | None


class Comparison(Part):
    """Everything that two reports say about each other."""

    golden: str
    before: Run
    after: Run
    n: int = Field(description="How many queries are paired")
    changes: list[Change]
    newly_failing: list[Turn]
    newly_passing: list[Turn]
    differs: list[Difference]
    unpaired: list[str] = Field(description="Queries that the labels of one run alone can judge")
    visible: float = Field(description="The smallest difference that so many queries show in 4 of 5 trials")
    notes: list[str]


def compare(
    before: ValidationReport, after: ValidationReport, measures: Sequence[str] = MEASURES, seed: int = 0
) -> Comparison:
    """The later run beside the earlier one; refused where they asked or judged other things."""
    _refuse_other_golden(before, after)
    old, new = _by_id(before), _by_id(after)
    scored = [name for name, case in old.items() if _scored(case.query)]
    # Where a label is lost nobody knows how good a list is: that is no loss of the retrieval.
    unpaired = [name for name in scored if (old[name].relevant > 0) != (new[name].relevant > 0)]
    paired = [name for name in scored if name not in set(unpaired)]
    if not paired:
        raise InvalidInput("report", "no query has an answer in both runs, so there is nothing to compare")
    turns = [_turn(old[name], new[name]) for name in old if _good(old[name]) != _good(new[name])]
    differs = _differences(before, after)
    return Comparison(
        golden=after.golden.name,
        before=_run(before),
        after=_run(after),
        n=len(paired),
        changes=_changes([old[name] for name in paired], [new[name] for name in paired], measures, seed),
        newly_failing=[turn for turn in turns if turn.after in ("failed", "error")],
        newly_passing=[turn for turn in turns if turn.before in ("failed", "error")],
        differs=differs,
        unpaired=unpaired,
        visible=visible(len(paired)),
        notes=[
            *_notes(before, after, differs),
            *_label_notes(old, new, unpaired),
            *_unjudged([old[name] for name in paired], [new[name] for name in paired]),
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


def held_to(report: ValidationReport, losses: Sequence[str]) -> ValidationReport:
    """The report with one criterion more: that nothing was lost against its baseline."""
    baseline = Criterion(
        name="baseline",
        wanted=0,
        value=len(losses),
        passed=not losses,
        n=report.golden.scored,
        detail="means that were lost, significantly and by more than is allowed",
    )
    criteria = [*report.criteria, baseline]
    if not losses or report.verdict == "INVALID":
        return report.model_copy(update={"criteria": criteria})
    summary = f"FAIL: {report.summary.partition(': ')[2]} Worse than the baseline: {'; '.join(losses)}."
    return report.model_copy(update={"criteria": criteria, "verdict": "FAIL", "summary": summary})


def visible(n: int) -> float:
    """The smallest difference of means that n queries in common show in 4 of 5 trials; at most 1."""
    return min(1.0, (Z_95 + Z_80) * PAIRED_SPREAD / math.sqrt(n)) if n else 1.0


def _refuse_other_golden(before: ValidationReport, after: ValidationReport) -> None:
    marks = [report.fingerprints.get("golden") for report in (before, after)]
    if None in marks:
        raise InvalidInput("report", "does not say which golden set it was made with; validate again")
    same_queries = sorted(_ids(before)) == sorted(_ids(after))
    if marks[0] != marks[1] or not same_queries:
        told = "; ".join(_how_golden_differs(before, after))
        raise InvalidInput("report", f"the two were made with different golden sets: {told}")


def _how_golden_differs(before: ValidationReport, after: ValidationReport) -> list[str]:
    """What can be seen of it in the reports."""
    old, new = _by_id(before), _by_id(after)
    found = [
        *_named("asked only before", [name for name in old if name not in new]),
        *_named("asked only after", [name for name in new if name not in old]),
        *_named("asked differently", [name for name in old if name in new and _other(old[name], new[name])]),
    ]
    for name, what in (("unit", "unit"), ("answer_threshold", "answer threshold"), ("labels", "labels")):
        one, other = getattr(before.golden, name), getattr(after.golden, name)
        if one != other:
            found.append(f"{what} {one} before, {other} after")
    return found or ["the same queries, but with other labels or filters"]


def _other(old: TestCase, new: TestCase) -> bool:
    return (old.query, old.expected_criteria) != (new.query, new.expected_criteria)


def _named(what: str, names: Sequence[str]) -> list[str]:
    """A message with the first few of the names; nothing where there are none."""
    if not names:
        return []
    return [f"{what}: {format_list(names, TOLD)}"]


def _ids(report: ValidationReport) -> list[str]:
    return [case.query.id for case in report.test_cases]


def _by_id(report: ValidationReport) -> dict[str, TestCase]:
    return {case.query.id: case for case in report.test_cases}


def _scored(query: Query) -> bool:
    return query.answerable and query.query_type != "edge"


def _good(case: TestCase) -> bool:
    return case.status in ("passed", "refused")


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
        reason=_reason(old if _good(new) else new),
    )


def _reason(case: TestCase) -> str:
    """The diagnosis, or what is known without one."""
    if case.diagnosis is not None:
        return case.diagnosis.detail
    return "; ".join(case.complaints) or case.error or "not known"


def _changes(
    old: Sequence[TestCase], new: Sequence[TestCase], measures: Sequence[str], seed: int
) -> list[Change]:
    pairs = {name: (_column(old, name), _column(new, name)) for name in measures}
    differences = {name: _difference(*pair) for name, pair in pairs.items()}
    bounds = intervals(differences, seed=seed)
    changes = []
    for name, (one, other) in pairs.items():
        change = differences[name]
        p = permutation_test(change, seed=seed)
        changes.append(
            Change(
                measure=name,
                n=len(change),
                before=float(one.mean()),
                after=float(other.mean()),
                difference=bounds[name].mean,
                low=bounds[name].low,
                high=bounds[name].high,
                wins=int((change > 0).sum()),
                ties=int((change == 0).sum()),
                losses=int((change < 0).sum()),
                p=p,
                verdict=_verdict(change, p),
            )
        )
    return changes


def _column(cases: Sequence[TestCase], name: str) -> Column:
    """The measure of each query; a search that failed counts 0."""
    shared = [one for one in cases[0].metrics if all(one in case.metrics for case in cases)]
    if name not in shared:
        raise InvalidInput("measures", f"{name!r} is not in both reports; there are {', '.join(shared)}")
    return np.array([0.0 if case.status == "error" else case.metrics[name] for case in cases])


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
    # What the command asked for goes before what the settings say.
    known |= {
        name: str(options[name])
        for name in ("ranking", "threshold", "concurrency")
        if options.get(name) is not None
    }
    if isinstance(criteria, dict):
        known |= {f"criteria.{name}": str(value) for name, value in criteria.items()}
    return known


def _notes(before: ValidationReport, after: ValidationReport, differs: Sequence[Difference]) -> Iterable[str]:
    """What makes the figures mean less than they seem to."""
    for when, report in (("before", before), ("after", after)):
        if report.verdict == "INVALID":
            yield f"the run {when} has no verdict: {report.summary.removeprefix('INVALID: ')}"
        failed = sum(case.status == "error" for case in report.test_cases)
        if failed:
            yield f"{failed} of the searches {when} failed with an error; they count 0"
    if any(one.name.startswith("criteria.") for one in differs):
        yield "the criteria differ, so that a query may pass or fail for that alone"


def _label_notes(
    old: Mapping[str, TestCase], new: Mapping[str, TestCase], unpaired: Sequence[str]
) -> list[str]:
    moved = sum(old[name].relevant != new[name].relevant for name in old if name not in set(unpaired))
    told = f"for {moved} queries another number of passages answers than before: pages or chunks have changed"
    return [
        *_named("left out, since all that answers them is lost in one of the runs", unpaired),
        *([told] if moved else []),
    ]


def _unjudged(old: Sequence[TestCase], new: Sequence[TestCase]) -> list[str]:
    """Labels are made from what some run has found, and what has none counts as irrelevant."""
    if any(LABELLED not in case.metrics for case in (*old, *new)):
        return []
    before, after = (float(_column(cases, LABELLED).mean()) for cases in (old, new))
    if abs(after - before) < UNEVEN:
        return []
    favoured, other = ("before", "after") if before > after else ("after", "before")
    return [
        f"of the first five results {before:.0%} are labelled before and {after:.0%} after: the others count "
        f"as irrelevant, which favours the run {favoured}; label what was found {other}"
    ]
