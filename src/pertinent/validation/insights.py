"""What the figures mean, in words: what is weak, and what would help."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean

from .acceptance import Check
from .diagnosis import Diagnosis, Kind
from .golden import GoldenSet
from .judging import Case
from .phrases import counted, listed, queries
from .statistics import Latencies

WEAK = 0.1
"""By how much a kind of query must lie below the others to be called weak."""
JUDGED = 0.9
"""Below this share of judged results, the figures say more about the labels than about retrieval."""
ENOUGH_FOR_PERCENTILE = {"p95": 20, "p99": 100}
"""How many queries a percentile needs so that the slowest alone does not set it."""

_HELP: dict[Kind, str] = {
    "not_indexed": "run `pertinent doctor`, then `pertinent index` again",
    "changed": "run `pertinent doctor --repair`: the index holds another text than the catalog",
    "filtered_out": "look at the filters of these queries",
    "below_threshold": "lower the threshold; `pertinent calibrate` proposes one",
    "crowded_out": "remove the repeated text from the source",
    "outranked": "the right passages are found, but stand too low: see which part of the score is weak",
    "not_found": "the wording of query and passage is too far apart: another model may help",
    "unjudged": "judge the results first: `pertinent label`",
    "false_answer": "raise the threshold; `pertinent calibrate` shows what that costs",
}


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
    have = counted(len(failed), "search failed, and counts", "searches failed, and count")
    return [f"{have} 0: {listed([one.query.id for one in failed])} ({kinds})"]


def _reasons(cases: Sequence[Case], diagnoses: Sequence[Diagnosis | None]) -> list[str]:
    by_kind: dict[Kind, list[str]] = defaultdict(list)
    for case, why in zip(cases, diagnoses, strict=True):
        if why is not None and why.kind in _HELP:
            by_kind[why.kind].append(case.query.id)
    return [
        f"{queries(len(ids))} failed as {kind.replace('_', ' ')}: {listed(ids)}; {_HELP[kind]}"
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
        f"{check.name}: {check.wanted}, but: {listed(check.detail, between='; ')}"
        for check in checks
        if not check.passed
    ]


def _own_rules(golden: GoldenSet, cases: Sequence[Case]) -> list[str]:
    """Queries outside the means that fail by their own rule, and expected criteria that are not met."""
    told = []
    for case in cases:
        if not case.passed and case.outcome.error is None:
            reasons = [one for one in case.complaints if not one.startswith("P@5 is ")]
            told += [f"query {case.query.id!r}: {reason}" for reason in reasons]
    unlabelled = [case.query.id for case in cases if case.query.scored and not case.relevant]
    if unlabelled:
        told.append(
            f"{queries(len(unlabelled))} can't be judged, since no label of a relevant passage holds today: "
            f"{listed(unlabelled)}"
        )
    quiet = [case.query.id for case in cases if not case.query.answerable and case.passed]
    if quiet:
        told.append(
            f"{queries(len(quiet))} without an answer got none above {golden.answer_threshold:g}, as expected"
        )
    return told


def _latency(latency: Latencies | None) -> list[str]:
    if latency is None:
        return []
    return [
        f"{name} rests on {queries(latency.n)} (interpolated): with fewer than {enough}, one slow query "
        "moves it"
        for name, enough in ENOUGH_FOR_PERCENTILE.items()
        if latency.n < enough
    ]
