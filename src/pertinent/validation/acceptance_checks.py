"""Seed 000's acceptance checks: what a reader may expect of the results, beyond the five criteria."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean

from pydantic import BaseModel, ConfigDict, Field

from . import metrics
from .integrity import find_pages_with_gaps, find_repeated_chunks
from .runner import QueryRunner
from .scoring import TOPICAL, Case, count_on_topic
from .target import PageView

AT_ONCE = 50
OVERLAP = 0.6
"""How much of their first three results the paraphrases of a question should share."""
REACHING = 0.8
"""The share of queries that must meet an expectation."""
FALSE_POSITIVES = "false positives among queries without an answer"
"""The name of the check of queries that should get no result above the threshold."""
BROAD = 2 / 3
"""The P@3 that a broad query should reach: two of its first three results."""


class AcceptanceCheck(BaseModel):
    """An expectation, the measured value, and whether it is good enough."""

    model_config = ConfigDict(frozen=True)

    name: str
    value: float | None
    target: str
    passed: bool | None = Field(description="None where there is nothing to check")
    n: int
    detail: list[str] = []


def run_checks(cases: Sequence[Case], pages: Sequence[PageView], threshold: float) -> list[AcceptanceCheck]:
    """Run every check that needs no further search.

    Args:
        cases: The judged queries.
        pages: All pages of the target.
        threshold: The score that no result of a query without an answer may reach.
    """
    return [
        _check_topics(cases),
        _check_broad_queries(cases),
        _check_duplicates(cases),
        _check_paraphrases(cases),
        _check_paraphrase_pages(cases),
        _check_unanswerable(cases, threshold),
        _check_positions(pages),
    ]


def _check_share(name: str, expectation: str, exceptions: Sequence[str], n: int) -> AcceptanceCheck:
    """Check that enough of n queries meet an expectation; `exceptions` has a line for each that does not."""
    value = (n - len(exceptions)) / n if n else None
    return AcceptanceCheck(
        name=name,
        value=value,
        target=f"at least {REACHING:.0%} of them {expectation}",
        passed=None if value is None else value >= REACHING,
        n=n,
        detail=list(exceptions),
    )


def _check_count(name: str, target: str, faults: Sequence[str], n: int, count: int) -> AcceptanceCheck:
    """Check that there are no faults among n; `faults` has a line for each."""
    return AcceptanceCheck(
        name=name,
        value=float(count) if n else None,
        target=target,
        passed=not faults if n else None,
        n=n,
        detail=list(faults),
    )


def _check_topics(cases: Sequence[Case]) -> AcceptanceCheck:
    counts = {
        case.query.id: count_on_topic(case.outcome)
        for case in cases
        if case.query.query_type == "specific" and case.query.scored and case.query.expected_criteria.terms
    }
    exceptions = [f"{name}: {count} of 5 on the topic" for name, count in counts.items() if count < TOPICAL]
    expectation = f"have {TOPICAL} of 5 results on the topic"
    return _check_share("specific queries", expectation, exceptions, len(counts))


def _check_broad_queries(cases: Sequence[Case]) -> AcceptanceCheck:
    precisions = {
        case.query.id: case.metrics["p@3"]
        for case in cases
        if case.query.query_type == "broad" and case.query.scored
    }
    exceptions = [f"{name}: P@3 is {p:.2f}" for name, p in precisions.items() if p < BROAD - 1e-9]
    expectation = "have two relevant results among their first three"
    return _check_share("broad queries", expectation, exceptions, len(precisions))


def _check_duplicates(cases: Sequence[Case]) -> AcceptanceCheck:
    repeated = {
        case.query.id: find_repeated_chunks([hit.chunk for hit in case.outcome.results])
        for case in cases
        if case.outcome.results
    }
    faults = [f"{name}: {', '.join(ids)} repeat another result" for name, ids in repeated.items() if ids]
    count = sum(map(len, repeated.values()))
    return _check_count("duplicate passages", "no result repeats another one", faults, len(repeated), count)


def _check_paraphrases(cases: Sequence[Case]) -> AcceptanceCheck:
    rankings = {case.query.id: list(case.ranking) for case in cases}
    return _check_overlap("paraphrases", "of their first three results", cases, rankings)


def _check_paraphrase_pages(cases: Sequence[Case]) -> AcceptanceCheck:
    """Count results of the same page as the same: another passage of it is a good answer too."""
    rankings = {
        case.query.id: list(dict.fromkeys(hit.chunk.document_id for hit in case.outcome.results))
        for case in cases
    }
    return _check_overlap("paraphrases, by page", "of their first three pages", cases, rankings)


def _check_overlap(
    name: str, subject: str, cases: Sequence[Case], rankings: Mapping[str, list[str]]
) -> AcceptanceCheck:
    """Check how much of their rankings the paraphrases of each question share."""
    groups: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        if case.query.paraphrase_group:
            groups[case.query.paraphrase_group].append(case.query.id)
    overlaps = {
        group: overlap
        for group, queries in groups.items()
        if (overlap := metrics.group_overlap([rankings[query] for query in queries])) is not None
    }
    value = fmean(overlaps.values()) if overlaps else None
    return AcceptanceCheck(
        name=name,
        value=value,
        target=f"the paraphrases of a question share {OVERLAP:.0%} {subject}, on average",
        passed=None if value is None else value >= OVERLAP,
        n=len(overlaps),
        detail=[
            f"group {group}, {overlap:.0%} in common: {', '.join(groups[group])}"
            for group, overlap in sorted(overlaps.items(), key=lambda pair: pair[1])
            if overlap < OVERLAP
        ],
    )


def _check_unanswerable(cases: Sequence[Case], threshold: float) -> AcceptanceCheck:
    best_scores = {
        case.query.id: max((hit.score for hit in case.outcome.results), default=-1.0)
        for case in cases
        if not case.query.answerable
    }
    above = {name: score for name, score in best_scores.items() if score >= threshold}
    return AcceptanceCheck(
        name=FALSE_POSITIVES,
        value=len(above) / len(best_scores) if best_scores else None,
        target=f"no result scores {threshold:g} or more",
        passed=not above if best_scores else None,
        n=len(best_scores),
        detail=[f"{name}: the best result scores {score:.3f}" for name, score in above.items()],
    )


def _check_positions(pages: Sequence[PageView]) -> AcceptanceCheck:
    faults = find_pages_with_gaps(pages)
    return _check_count(
        "chunk indices", "0, 1, 2 … without a gap on every page", faults, len(pages), len(faults)
    )


def check_concurrency(runner: QueryRunner, cases: Sequence[Case]) -> AcceptanceCheck:
    """Run fifty queries at the same time: none fails, and each gets the results that it got alone."""
    repeated = [cases[index % len(cases)] for index in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(lambda case: runner.run(case.query), repeated))
    faults = []
    for case, outcome in zip(repeated, outcomes, strict=True):
        alone = [(hit.chunk.chunk_id, hit.score) for hit in case.outcome.results]
        if outcome.error:
            faults.append(f"{case.query.id}: {outcome.error}")
        elif [(hit.chunk.chunk_id, hit.score) for hit in outcome.results] != alone:
            faults.append(f"{case.query.id}: results differ from those of a single query")
    name, target = f"{AT_ONCE} queries at once", "no errors, and the same results as single queries"
    return _check_count(name, target, list(dict.fromkeys(faults)), AT_ONCE, len(faults))
