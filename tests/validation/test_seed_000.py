"""Seed 000's verdict at its borders, recomputed with the seed's own formulas."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.types import Answer, SearchOptions
from pertinent.validation import report as reports
from pertinent.validation import runner
from pertinent.validation.golden.golden_set import GoldenSet
from pertinent.validation.report import SearchResult, TestCase, ValidationReport
from pertinent.validation.validate import Options, validate
from pertinent.workspace.workspace import Workspace

from .conftest import PARTS, Judge, golden

TEXTS = {
    "the hinge of the gripper": "gripper",
    "the hinge of the knee": "knee",
    "the hinge of the camera": "camera",
    "the hinge of the battery": "battery",
    "gripper hinge": "gripper",
}


def five_queries(grades: Mapping[str, Mapping[str, int]] | None = None) -> GoldenSet:
    """Five queries; the grade of each passage by its anchor, 1 for all of the page unless given."""
    every = {f"the-{part}": 1 for part in PARTS}
    return GoldenSet.model_validate(
        {
            "queries": [
                {
                    "text": text,
                    "labels": [
                        {"page": f"docs/{page}.md", "anchor": anchor, "grade": grade}
                        for anchor, grade in (grades or {}).get(text, every).items()
                    ],
                }
                for text, page in TEXTS.items()
            ]
        }
    )


def found_anchors(judged: Judge) -> dict[str, list[str]]:
    """The anchors of the first five results of each query, all of its own page."""
    cases = judged(five_queries()).test_cases
    assert all(case.relevance_labels == [1] * 5 for case in cases)
    return {case.query.text: [result.anchor for result in case.actual_results] for case in cases}


def compute_precision_at_k(relevance_labels: Sequence[int], k: int) -> float:
    """The seed's code."""
    relevant_count = sum(1 for label in relevance_labels[:k] if label >= 1)
    return relevant_count / k


def compute_mrr(test_cases: Sequence[TestCase]) -> float:
    """The seed's code."""
    reciprocal_ranks = []
    for case in test_cases:
        if case.rank_of_best is not None:
            reciprocal_ranks.append(1.0 / case.rank_of_best)
        else:
            reciprocal_ranks.append(0.0)
    return sum(reciprocal_ranks) / len(test_cases)


def compute_metadata_completeness(results: Sequence[SearchResult]) -> float:
    """The seed's code."""
    complete_count = 0
    for result in results:
        if all(
            [
                result.url,
                result.title,
                result.chunk_index is not None,
                result.content,
                result.timestamp,
                result.content_hash,
            ]
        ):
            complete_count += 1
    return complete_count / len(results) if results else 1.0


def compute_hash_validation_rate(results: Sequence[SearchResult]) -> float:
    """The seed's code."""
    pass_count = 0
    for result in results:
        computed_hash = hashlib.sha256((result.content or "").encode("utf-8")).hexdigest()
        if computed_hash == result.content_hash:
            pass_count += 1
    return pass_count / len(results) if results else 1.0


def assert_seeds_code_agrees(report: ValidationReport) -> None:
    cases = report.test_cases
    for case in cases:
        k = case.query.top_k
        assert case.precision_at_k == pytest.approx(compute_precision_at_k(case.relevance_labels, k))
    precisions = [compute_precision_at_k(case.relevance_labels, 5) for case in cases]
    assert report.avg_precision_at_5 == pytest.approx(sum(precisions) / len(cases))
    assert report.mrr == pytest.approx(compute_mrr(cases))
    results = [result for case in cases for result in case.actual_results]
    assert report.metadata_completeness_rate == compute_metadata_completeness(results)
    assert report.hash_validation_pass_rate == compute_hash_validation_rate(results)


def relevant_at(anchors: Sequence[str], count: int) -> dict[str, int]:
    """Labels on the first so many results and on the passage that is not among the five.

    At most `count` of the five are relevant.
    """
    missed = [f"the-{part}" for part in PARTS if f"the-{part}" not in anchors]
    return dict.fromkeys([*anchors[:count], *missed], 2)


@pytest.mark.parametrize(
    ("counts", "verdict", "headline"),
    [
        ((4, 4, 4, 4, 4), "PASS", "5/5 answerable queries (100%)"),
        ((4, 4, 4, 4, 3), "PASS", "4/5 answerable queries (80%)"),
        ((4, 4, 4, 3, 3), "INVALID", "at most 3/5 answerable queries (60%)"),
    ],
)
def test_seed_000_exactly_80_percent_of_the_queries_with_exactly_p_at_5_of_080_pass(
    judged: Judge, counts: Sequence[int], verdict: str, headline: str
) -> None:
    anchors = found_anchors(judged)
    grades = {text: relevant_at(anchors[text], count) for text, count in zip(TEXTS, counts, strict=True)}
    for text, count in zip(TEXTS, counts, strict=True):
        if count < 4:
            # Too few labels for P@5 0.80, whatever is found.
            grades[text] = dict.fromkeys(anchors[text][:count], 2)
    report = judged(five_queries(grades))
    assert (report.verdict, headline in report.summary) == (verdict, True), report.summary
    assert [case.precision_at_k for case in report.test_cases] == [count / 5 for count in counts]
    assert_seeds_code_agrees(report)


def test_seed_000_60_percent_of_the_queries_fail_where_the_labels_allow_all(judged: Judge) -> None:
    anchors = found_anchors(judged)
    grades: dict[str, dict[str, int]] = {text: relevant_at(anchors[text], 4) for text in TEXTS}
    data = five_queries(grades).model_dump(mode="json")
    for query in data["queries"][3:]:
        # Three of the first five, and passages elsewhere that the query does not find.
        query["labels"] = [
            label for label in query["labels"] if label["anchor"] in anchors[query["text"]][:3]
        ]
        query["labels"] += [
            {"page": "docs/camera.md" if "camera" not in query["text"] else "docs/knee.md", "anchor": anchor}
            for anchor in ("the-motor", "the-shaft")
        ]
    report = judged(GoldenSet.model_validate(data))
    assert report.golden.ceiling == 1.0
    assert report.verdict == "FAIL"
    assert "3/5 answerable queries (60%)" in report.summary
    assert_seeds_code_agrees(report)


@pytest.mark.parametrize(
    ("ranks", "mrr", "verdict"),
    [((1, 1, 2, 2, 2), 0.7, "PASS"), ((1, 1, 2, 2, 3), 2 / 3, "FAIL"), ((1, 1, 1, 2, 5), 0.74, "PASS")],
)
def test_seed_000_mrr_of_exactly_070_passes(
    judged: Judge, ranks: Sequence[int], mrr: float, verdict: str
) -> None:
    anchors = found_anchors(judged)
    grades = {
        text: {anchor: 2 if position == rank else 1 for position, anchor in enumerate(anchors[text], start=1)}
        for text, rank in zip(TEXTS, ranks, strict=True)
    }
    report = judged(five_queries(grades))
    assert [case.rank_of_best for case in report.test_cases] == list(ranks)
    assert report.mrr == pytest.approx(mrr)
    assert report.verdict == verdict, report.summary
    assert_seeds_code_agrees(report)


class Slow:
    """Each search takes so many seconds, by a clock that nothing else moves."""

    def __init__(self, inner: LocalPipeline, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self.now = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def search(self, text: str, options: SearchOptions) -> Answer:
        self.now += self._seconds
        return self._inner.search(text, options)


@pytest.mark.parametrize(("seconds", "verdict"), [(1.96875, "PASS"), (2.0, "FAIL")])
def test_seed_000_p95_latency_of_2000_ms_fails(
    stored: Workspace, monkeypatch: pytest.MonkeyPatch, seconds: float, verdict: str
) -> None:
    subject = Slow(LocalPipeline(stored), seconds)
    monkeypatch.setattr(runner, "time", SimpleNamespace(perf_counter=lambda: subject.now))
    report = validate(subject, golden(), Options(together=False, diagnose=False))
    assert report.p95_latency_ms == report.p99_latency_ms == report.avg_latency_ms == seconds * 1000
    assert report.verdict == verdict, report.summary


def test_seed_000_verdict_uses_the_answerable_queries(judged: Judge) -> None:
    report = judged()
    assert report.verdict == "PASS"
    assert (report.total_queries, report.golden.scored) == (10, 8)
    assert report.mrr == pytest.approx(0.8)
    assert report.mrr_answerable == 1.0
    assert_seeds_code_agrees(report)


def test_seed_000_times_are_iso_8601_in_utc_and_name_the_file(judged: Judge, tmp_path: Path) -> None:
    report = judged()
    date, time = report.timestamp.removesuffix("Z").split("T")
    assert report.timestamp.endswith("Z")
    name = f"report_{date.replace('-', '')}_{time.replace(':', '')}.json"
    assert reports.save(report, tmp_path / reports.FOLDER) == tmp_path / "validation_results" / name
    assert all(
        (result.timestamp or "").endswith("Z") for case in report.test_cases for result in case.actual_results
    )
