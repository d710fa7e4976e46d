"""Derive the issues of a report: what failed, what is weak, and what would help."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean

from .._internal.messages import count_queries, format_count, format_list
from .acceptance_checks import AcceptanceCheck
from .diagnosis import NEXT_STEPS, Diagnosis, FailureKind
from .golden.golden_set import GoldenSet
from .scoring import LOW_PRECISION, NOTHING_RELEVANT, Case
from .statistics import LatencySummary

WEAK = 0.1
"""How far the mean of a group must be below that of the others to be called weak."""
JUDGED = 0.9
"""Below this share of judged results, the measures say more about the labels than about retrieval."""
ENOUGH_FOR_PERCENTILE = {"p95": 20, "p99": 100}
"""How many queries a percentile needs so that the slowest one alone does not set it."""

REPORTED_ELSEWHERE: frozenset[FailureKind] = frozenset({"error", "refused", "lost_labels", "other"})
"""Kinds of failure that have issues of their own."""


def list_issues(
    golden: GoldenSet,
    cases: Sequence[Case],
    diagnoses: Sequence[Diagnosis | None],
    checks: Sequence[AcceptanceCheck],
    latency: LatencySummary | None,
) -> list[str]:
    """List the issues, most important first.

    Args:
        golden: The golden set.
        cases: The judged queries.
        diagnoses: The diagnosis of each case; None for a case that passed.
        checks: The acceptance checks.
        latency: The latencies; None where no query was run.
    """
    return [
        *_list_errors(cases),
        *_list_notes(cases),
        *_list_failure_kinds(cases, diagnoses),
        *_list_weak_groups(cases),
        *_list_unjudged(cases),
        *_list_failed_checks(checks),
        *_list_complaints(cases),
        *_list_unlabeled(cases),
        *_list_unanswerable(golden, cases),
        *_list_few_latencies(latency),
    ]


def _list_errors(cases: Sequence[Case]) -> list[str]:
    failed = [case for case in cases if case.outcome.error]
    if not failed:
        return []
    most_frequent = Counter(case.outcome.error for case in failed).most_common(1)[0][0]
    searches = format_count(len(failed), "search failed and counts", "searches failed and count")
    return [f"{searches} as 0: {format_list([case.query.id for case in failed])} ({most_frequent})"]


def _list_notes(cases: Sequence[Case]) -> list[str]:
    """List the notes of answers, such as a store that did not answer, each with its queries."""
    by_note: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        # Damaged points have issues of their own.
        if (answer := case.outcome.answer) is not None and not answer.damaged:
            for note in answer.notes:
                by_note[note].append(case.query.id)
    return [
        f"{note}: {format_count(len(ids), 'search', 'searches')} ({format_list(ids)})"
        for note, ids in by_note.items()
    ]


def _list_failure_kinds(cases: Sequence[Case], diagnoses: Sequence[Diagnosis | None]) -> list[str]:
    by_kind: dict[FailureKind, list[str]] = defaultdict(list)
    for case, diagnosis in zip(cases, diagnoses, strict=True):
        if diagnosis is not None and diagnosis.kind not in REPORTED_ELSEWHERE:
            by_kind[diagnosis.kind].append(case.query.id)
    return [
        f"{count_queries(len(ids))} failed ({kind.replace('_', ' ')}): {format_list(ids)}. "
        f"Next: {NEXT_STEPS[kind]}"
        for kind, ids in sorted(by_kind.items(), key=lambda pair: -len(pair[1]))
    ]


def _list_weak_groups(cases: Sequence[Case]) -> list[str]:
    scored = [case for case in cases if case.query.scored]
    issues = []
    for field, word in (("query_type", "type"), ("category", "category")):
        groups: dict[str, list[float]] = defaultdict(list)
        for case in scored:
            if (name := getattr(case.query, field)) is not None:
                groups[name].append(case.metrics["p@5"])
        for name, values in groups.items():
            outside = [value for group, members in groups.items() if group != name for value in members]
            if outside and fmean(values) < fmean(outside) - WEAK:
                means = f"mean P@5 {fmean(values):.2f}, and {fmean(outside):.2f} for the others"
                issues.append(f"queries of {word} {name} are weak: {means}")
    return issues


def _list_unjudged(cases: Sequence[Case]) -> list[str]:
    shares = [case.metrics["judged@5"] for case in cases if case.query.scored]
    if not shares or fmean(shares) >= JUDGED:
        return []
    return [
        f"only {fmean(shares):.0%} of the first five results are judged, and unjudged ones count as not "
        "relevant: judge them with `pertinent label`"
    ]


def _list_failed_checks(checks: Sequence[AcceptanceCheck]) -> list[str]:
    return [
        f"{check.name} (target: {check.target}): {format_list(check.detail, separator='; ')}"
        for check in checks
        if check.passed is False
    ]


def _list_complaints(cases: Sequence[Case]) -> list[str]:
    """List what each query's own rule, or its expected criteria, found wrong; a low P@5 is not an issue."""
    return [
        f"query {case.query.id!r}: {complaint}"
        for case in cases
        if not case.passed and case.outcome.error is None
        for complaint in case.complaints
        if not complaint.startswith((LOW_PRECISION, NOTHING_RELEVANT))
    ]


def _list_unlabeled(cases: Sequence[Case]) -> list[str]:
    unlabeled = [case.query.id for case in cases if case.query.scored and not case.relevant]
    if not unlabeled:
        return []
    count = count_queries(len(unlabeled))
    return [
        f"{count} can't be judged, since no label of a relevant passage is valid: {format_list(unlabeled)}"
    ]


def _list_unanswerable(golden: GoldenSet, cases: Sequence[Case]) -> list[str]:
    passed = sum(not case.query.answerable and case.passed for case in cases)
    if not passed:
        return []
    threshold = golden.answer_threshold
    return [f"{count_queries(passed)} without an answer got no result above {threshold:g}, as expected"]


def _list_few_latencies(latency: LatencySummary | None) -> list[str]:
    if latency is None:
        return []
    return [
        f"{name} is interpolated from {count_queries(latency.n)}: with fewer than {enough}, one slow query "
        "changes it"
        for name, enough in ENOUGH_FOR_PERCENTILE.items()
        if latency.n < enough
    ]
