"""What the figures mean, in words: what is weak, and what would help."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean

from .._internal.messages import count_queries, format_count, format_list
from .acceptance_checks import Check
from .diagnosis import NEXT_STEPS, Diagnosis, Kind
from .golden.golden_set import GoldenSet
from .scoring import LOW_PRECISION, NOTHING_RELEVANT, Case
from .statistics import Latencies

WEAK = 0.1
"""By how much a kind of query must lie below the others to be called weak."""
JUDGED = 0.9
"""Below this share of judged results, the figures say more about the labels than about retrieval."""
ENOUGH_FOR_PERCENTILE = {"p95": 20, "p99": 100}
"""How many queries a percentile needs so that the slowest alone does not set it."""

TOLD_ELSEWHERE: frozenset[Kind] = frozenset({"error", "refused", "lost_labels", "other"})
"""Reasons that stand in issues of their own."""


def insights(
    golden: GoldenSet,
    cases: Sequence[Case],
    diagnoses: Sequence[Diagnosis | None],
    checks: Sequence[Check],
    latency: Latencies | None,
) -> list[str]:
    """Everything worth telling, most important first."""
    return [
        *_errors(cases),
        *_reasons(cases, diagnoses),
        *_weak(cases),
        *_unjudged(cases),
        *_checks(checks),
        *_own_rules(golden, cases),
        *_latency(latency),
    ]


def _errors(cases: Sequence[Case]) -> list[str]:
    failed = [case for case in cases if case.outcome.error]
    if not failed:
        return []
    kinds = Counter(case.outcome.error for case in failed).most_common(1)[0][0]
    have = format_count(len(failed), "search failed, and counts", "searches failed, and count")
    return [f"{have} 0: {format_list([one.query.id for one in failed])} ({kinds})"]


def _reasons(cases: Sequence[Case], diagnoses: Sequence[Diagnosis | None]) -> list[str]:
    by_kind: dict[Kind, list[str]] = defaultdict(list)
    for case, why in zip(cases, diagnoses, strict=True):
        if why is not None and why.kind not in TOLD_ELSEWHERE:
            by_kind[why.kind].append(case.query.id)
    return [
        f"{count_queries(len(ids))} failed as {kind.replace('_', ' ')}: {format_list(ids)}; "
        f"{NEXT_STEPS[kind]}"
        for kind, ids in sorted(by_kind.items(), key=lambda pair: -len(pair[1]))
    ]


def _weak(cases: Sequence[Case]) -> list[str]:
    scored = [case for case in cases if case.query.scored]
    told = []
    for field, word in (("query_type", "type"), ("category", "category")):
        groups: dict[str, list[float]] = defaultdict(list)
        for case in scored:
            if (name := getattr(case.query, field)) is not None:
                groups[name].append(case.metrics["p@5"])
        for name, values in groups.items():
            others = [value for other, some in groups.items() if other != name for value in some]
            if others and fmean(values) < fmean(others) - WEAK:
                means = f"P@5 {fmean(values):.2f}, beside {fmean(others):.2f} for the others"
                told.append(f"the {word} {name} is weak: {means}")
    return told


def _unjudged(cases: Sequence[Case]) -> list[str]:
    shares = [case.metrics["judged@5"] for case in cases if case.query.scored]
    if not shares or fmean(shares) >= JUDGED:
        return []
    return [
        f"only {fmean(shares):.0%} of the first five results are judged; the rest counts as wrong: "
        "`pertinent label` asks for them"
    ]


def _checks(checks: Sequence[Check]) -> list[str]:
    return [
        f"{check.name}: {check.wanted}, but: {format_list(check.detail, separator='; ')}"
        for check in checks
        if check.passed is False
    ]


def _own_rules(golden: GoldenSet, cases: Sequence[Case]) -> list[str]:
    """Queries outside the means that fail by their own rule, and expected criteria that are not met."""
    told = []
    for case in cases:
        if not case.passed and case.outcome.error is None:
            told += [
                f"query {case.query.id!r}: {complaint}"
                for complaint in case.complaints
                if not complaint.startswith((LOW_PRECISION, NOTHING_RELEVANT))
            ]
    unlabelled = [case.query.id for case in cases if case.query.scored and not case.relevant]
    if unlabelled:
        told.append(
            f"{count_queries(len(unlabelled))} can't be judged, since no label of a relevant passage holds "
            f"today: {format_list(unlabelled)}"
        )
    quiet = [case.query.id for case in cases if not case.query.answerable and case.passed]
    if quiet:
        told.append(
            f"{count_queries(len(quiet))} without an answer got none above {golden.answer_threshold:g}, as "
            "expected"
        )
    return told


def _latency(latency: Latencies | None) -> list[str]:
    if latency is None:
        return []
    return [
        f"{name} rests on {count_queries(latency.n)} (interpolated): with fewer than {enough}, one slow "
        "query moves it"
        for name, enough in ENOUGH_FOR_PERCENTILE.items()
        if latency.n < enough
    ]
