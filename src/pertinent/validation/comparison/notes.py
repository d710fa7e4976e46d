"""What makes the figures of a comparison mean less than they seem to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..._internal.messages import count_queries, format_list
from ..report import ValidationReport
from .golden_change import NAMED
from .pairing import QueryPair, is_scored

LABELLED = "judged@5"
UNEVEN = 0.05
"""How much more of one run's first five may be labelled before the labels themselves favour it."""


def note_runs(before: ValidationReport, after: ValidationReport) -> Iterable[str]:
    """Runs without a verdict, and searches that failed."""
    for when, report in (("before", before), ("after", after)):
        if report.verdict == "INVALID":
            yield f"the run {when} has no verdict: {report.summary.removeprefix('INVALID: ')}"
        failed = sum(case.status == "error" for case in report.test_cases)
        if failed:
            yield f"{failed} of the searches {when} failed with an error; they count 0"


def note_pairs(common: Sequence[QueryPair], problems: Mapping[str, str]) -> Iterable[str]:
    """Queries that were left out, and what is not the same in those that were not."""
    for reason, names in group_by_reason(problems).items():
        yield f"left out, since {reason}: {format_list(names, NAMED)}"
    uncounted = [pair.name for pair in common if is_scored(pair.old.query) and not pair.is_scored]
    if uncounted:
        yield f"left out, since they are edge cases or have no answer now: {format_list(uncounted, NAMED)}"
    paired = [pair for pair in common if pair.name not in problems]
    resized = [pair.name for pair in paired if pair.old.query.top_k != pair.new.query.top_k]
    if resized:
        yield (
            "P@5 and MRR are of the results that a caller gets, and top_k is not the same for: "
            f"{format_list(resized, NAMED)}"
        )
    moved = sum(pair.relevant_before not in (None, pair.new.relevant) for pair in paired)
    if moved:
        yield (
            f"for {count_queries(moved)} another number of passages answers than before: pages or chunks "
            "have changed"
        )
    turned = [pair.name for pair in common if pair.has_turned and not pair.passes_by_one_rule]
    if turned:
        yield (
            "these pass in one run and fail in the other, but by other labels or expectations: "
            f"{format_list(turned, NAMED)}"
        )


def note_missing(measure: str, paired: Sequence[QueryPair]) -> Iterable[str]:
    """The queries that can't be compared by a measure, and why."""
    missing = {pair.name: reason for pair in paired if (reason := pair.explain_missing(measure))}
    for reason, names in group_by_reason(missing).items():
        if len(names) == len(paired):
            yield f"{measure} is not compared, since {reason}"
        else:
            some = count_queries(len(names))
            yield f"{measure} is not compared for {some}, since {reason}: {format_list(names, NAMED)}"


def note_unjudged(paired: Sequence[QueryPair]) -> Iterable[str]:
    """Labels are made from what some run has found, and what has none counts as irrelevant."""
    if any(pair.explain_missing(LABELLED) for pair in paired):
        return
    before = float(np.mean([pair.before[LABELLED] for pair in paired]))
    after = float(np.mean([pair.after[LABELLED] for pair in paired]))
    if abs(after - before) >= UNEVEN:
        favoured, other = ("before", "after") if before > after else ("after", "before")
        yield (
            f"of the first five results {before:.0%} are labelled before and {after:.0%} after: the others "
            f"count as irrelevant, which favours the run {favoured}; label what was found {other}"
        )


def group_by_reason(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """The names that share a reason, by the reason."""
    groups: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        groups.setdefault(reason, []).append(name)
    return groups
