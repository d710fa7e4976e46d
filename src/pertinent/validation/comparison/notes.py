"""Notes on a comparison: what makes its figures less reliable than they look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..._internal.messages import count_queries, format_list
from ..report import ValidationReport
from .golden_change import MAX_NAMES
from .pairing import QueryPair, is_scored

JUDGED = "judged@5"
MAX_JUDGED_DIFFERENCE = 0.05
"""If the first five results of one run are judged more often by this share, the labels favour that run."""


def note_runs(baseline: ValidationReport, current: ValidationReport) -> Iterable[str]:
    """Note runs without a verdict, and searches that failed."""
    for when, report in (("before", baseline), ("after", current)):
        if report.verdict == "INVALID":
            yield f"the run {when} has no verdict: {report.summary.removeprefix('INVALID: ')}"
        failed = sum(case.status == "error" for case in report.test_cases)
        if failed:
            yield f"{failed} of the searches {when} failed with an error; they count 0"


def note_pairs(common: Sequence[QueryPair], problems: Mapping[str, str]) -> Iterable[str]:
    """Note queries that are left out, and differences that blur the comparison of the others."""
    for reason, names in group_by_reason(problems).items():
        yield f"left out, since {reason}: {format_list(names, MAX_NAMES)}"
    uncounted = [pair.name for pair in common if is_scored(pair.baseline.query) and not pair.is_scored]
    if uncounted:
        uncounted_names = format_list(uncounted, MAX_NAMES)
        yield f"left out, since they are edge cases or have no answer now: {uncounted_names}"
    paired = [pair for pair in common if pair.name not in problems]
    resized = [pair.name for pair in paired if pair.baseline.query.top_k != pair.current.query.top_k]
    if resized:
        yield (
            "P@5 and MRR depend on top_k, the number of results that a caller gets, and it differs for: "
            f"{format_list(resized, MAX_NAMES)}"
        )
    recounted = sum(pair.baseline_scores.relevant not in (None, pair.current.relevant) for pair in paired)
    if recounted:
        yield (
            "pages or chunks have changed, so the number of passages that answer has changed for "
            f"{count_queries(recounted)}"
        )
    changed_status = [pair.name for pair in common if pair.changed_status and not pair.is_judged_alike]
    if changed_status:
        yield (
            "these pass in one run and fail in the other, but their labels or expectations changed: "
            f"{format_list(changed_status, MAX_NAMES)}"
        )


def note_missing(measure: str, paired: Sequence[QueryPair]) -> Iterable[str]:
    """Note the queries that can't be compared by a measure, and why."""
    missing = {pair.name: reason for pair in paired if (reason := pair.explain_missing(measure))}
    for reason, names in group_by_reason(missing).items():
        if len(names) == len(paired):
            yield f"{measure} is not compared, since {reason}"
        else:
            count = count_queries(len(names))
            yield f"{measure} is not compared for {count}, since {reason}: {format_list(names, MAX_NAMES)}"


def note_unjudged(paired: Sequence[QueryPair]) -> Iterable[str]:
    """Note if the labels favour one run: unjudged results count as irrelevant."""
    if any(pair.explain_missing(JUDGED) for pair in paired):
        return
    old = float(np.mean([pair.baseline_scores.metrics[JUDGED] for pair in paired]))
    new = float(np.mean([pair.current_metrics[JUDGED] for pair in paired]))
    if abs(new - old) >= MAX_JUDGED_DIFFERENCE:
        favoured, unfavoured = ("before", "after") if old > new else ("after", "before")
        yield (
            f"{old:.0%} of the first five results are labelled before and {new:.0%} after: the others "
            f"count as irrelevant, which favours the run {favoured}; label the results of the run "
            f"{unfavoured}"
        )


def group_by_reason(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """Group names by their reason."""
    groups: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        groups.setdefault(reason, []).append(name)
    return groups
