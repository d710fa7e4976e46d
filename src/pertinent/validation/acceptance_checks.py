"""Seed 000's acceptance: what a reader may expect of the lists, beyond the five criteria."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean

from pydantic import BaseModel, ConfigDict, Field

from . import metrics
from .integrity import gaps, repeated
from .runner import Retrieval
from .scoring import TOPICAL, Case, on_topic
from .subject import PageView

AT_ONCE = 50
OVERLAP = 0.6
"""How much of their first three results the wordings of one question should share."""
REACHING = 0.8
"""The share of queries that must do what is expected of each."""
BROAD = 2 / 3
"""The P@3 that a broad query should reach: two of its first three."""


class Check(BaseModel):
    """One expectation, what was found, and whether that is good enough."""

    model_config = ConfigDict(frozen=True)

    name: str
    value: float | None
    wanted: str
    passed: bool | None = Field(description="None where there is nothing to check")
    n: int
    detail: list[str] = []


def checks(cases: Sequence[Case], pages: Sequence[PageView], threshold: float) -> list[Check]:
    """Every expectation that can be read off the lists."""
    return [
        _topics(cases),
        _broad(cases),
        _duplicates(cases),
        _paraphrases(cases),
        _out_of_domain(cases, threshold),
        _sequence(pages),
    ]


def _share(name: str, wanted: str, good: Sequence[bool], detail: list[str]) -> Check:
    value = fmean(good) if good else None
    return Check(
        name=name,
        value=value,
        wanted=f"at least {REACHING:.0%} of them {wanted}",
        passed=None if value is None else value >= REACHING,
        n=len(good),
        detail=detail,
    )


def _topics(cases: Sequence[Case]) -> Check:
    asked = [
        case
        for case in cases
        if case.query.query_type == "specific" and case.query.scored and case.query.expected_criteria.terms
    ]
    good = [on_topic(case.outcome) >= TOPICAL for case in asked]
    detail = [
        f"{case.query.id}: {on_topic(case.outcome)} of 5 on the topic"
        for case, fine in zip(asked, good, strict=True)
        if not fine
    ]
    return _share("specific queries", f"have {TOPICAL} of 5 results on the topic", good, detail)


def _broad(cases: Sequence[Case]) -> Check:
    asked = [case for case in cases if case.query.query_type == "broad" and case.query.scored]
    good = [case.metrics["p@3"] >= BROAD - 1e-9 for case in asked]
    detail = [
        f"{case.query.id}: P@3 is {case.metrics['p@3']:.2f}"
        for case, fine in zip(asked, good, strict=True)
        if not fine
    ]
    return _share("broad queries", "have two relevant among their first three results", good, detail)


def _duplicates(cases: Sequence[Case]) -> Check:
    twice = {
        case.query.id: found
        for case in cases
        if (found := repeated([hit.chunk for hit in case.outcome.shown]))
    }
    answered = sum(bool(case.outcome.shown) for case in cases)
    return Check(
        name="duplicate passages",
        value=float(sum(len(found) for found in twice.values())) if answered else None,
        wanted="none in any list",
        passed=not twice if answered else None,
        n=answered,
        detail=[f"{query}: {', '.join(found)} repeat another result" for query, found in twice.items()],
    )


def _paraphrases(cases: Sequence[Case]) -> Check:
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if case.query.paraphrase_group:
            groups[case.query.paraphrase_group].append(case)
    overlaps = {
        name: value
        for name, ones in groups.items()
        if (value := metrics.group_overlap([one.ranking for one in ones])) is not None
    }
    value = fmean(overlaps.values()) if overlaps else None
    return Check(
        name="paraphrases",
        value=value,
        wanted=f"the wordings of a question share {OVERLAP:.0%} of their first three results, on average",
        passed=None if value is None else value >= OVERLAP,
        n=len(overlaps),
        detail=[
            f"group {name}, {share:.0%} in common: {', '.join(one.query.id for one in groups[name])}"
            for name, share in sorted(overlaps.items(), key=lambda pair: pair[1])
            if share < OVERLAP
        ],
    )


def _out_of_domain(cases: Sequence[Case], threshold: float) -> Check:
    best = {
        case.query.id: max((hit.score for hit in case.outcome.shown), default=-1.0)
        for case in cases
        if not case.query.answerable
    }
    above = {name: score for name, score in best.items() if score >= threshold}
    return Check(
        name="queries without an answer",
        value=len(above) / len(best) if best else None,
        wanted=f"nothing scores {threshold:g} or more",
        passed=not above if best else None,
        n=len(best),
        detail=[f"{name}: the best result scores {score:.3f}" for name, score in above.items()],
    )


def _sequence(pages: Sequence[PageView]) -> Check:
    wrong = gaps(pages)
    return Check(
        name="chunk indices",
        value=float(len(wrong)) if pages else None,
        wanted="run 0, 1, 2 … on every page",
        passed=not wrong if pages else None,
        n=len(pages),
        detail=wrong,
    )


def at_once(retrieval: Retrieval, cases: Sequence[Case]) -> Check:
    """Fifty queries at the same time: none fails, and each is answered as when it was alone."""
    again = [cases[place % len(cases)] for place in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(lambda case: retrieval.ask(case.query), again))
    wrong = []
    for case, outcome in zip(again, outcomes, strict=True):
        alone = [(hit.chunk.chunk_id, hit.score) for hit in case.outcome.shown]
        if outcome.error:
            wrong.append(f"{case.query.id}: {outcome.error}")
        elif [(hit.chunk.chunk_id, hit.score) for hit in outcome.shown] != alone:
            wrong.append(f"{case.query.id}: another list than alone")
    return Check(
        name=f"{AT_ONCE} queries at once",
        value=float(len(wrong)),
        wanted="no error, and no other answer than alone",
        passed=not wrong,
        n=AT_ONCE,
        detail=list(dict.fromkeys(wrong)),
    )
