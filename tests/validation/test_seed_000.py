"""Seed 000's verdict at its borders, recomputed with the seed's own formulas."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.types import Answer, SearchOptions
from pertinent.validation import report_files, runner
from pertinent.validation.golden.golden_set import GoldenSet
from pertinent.validation.report import ValidationReport
from pertinent.validation.validate import ValidationOptions, validate
from pertinent.workspace.workspace import Workspace

from .conftest import PARTS, FailingPipeline, Judge, golden
from .test_aggregates import check_aggregates

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
    queries = []
    for text, page in TEXTS.items():
        graded = (grades or {}).get(text, every).items()
        labels = [{"page": f"docs/{page}.md", "anchor": anchor, "grade": grade} for anchor, grade in graded]
        queries.append({"text": text, "labels": labels})
    return GoldenSet.model_validate({"queries": queries})


def found_anchors(judged: Judge) -> dict[str, list[str]]:
    """The anchors of the first five results of each query, all of its own page."""
    cases = judged(five_queries()).test_cases
    assert all(case.relevance_labels == [1] * 5 for case in cases)
    return {case.query.text: [result.anchor for result in case.actual_results] for case in cases}


def assert_seeds_formulas_agree(report: ValidationReport) -> None:
    check_aggregates(json.loads(report.model_dump_json()))


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
    assert_seeds_formulas_agree(report)


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
    assert_seeds_formulas_agree(report)


@pytest.mark.parametrize(
    ("ranks", "mrr", "verdict"),
    [((1, 1, 2, 2, 2), 0.7, "PASS"), ((1, 1, 2, 2, 3), 2 / 3, "FAIL"), ((1, 1, 1, 2, 5), 0.74, "PASS")],
)
def test_seed_000_mrr_of_070_passes(judged: Judge, ranks: Sequence[int], mrr: float, verdict: str) -> None:
    anchors = found_anchors(judged)
    grades = {
        text: {anchor: 2 if position == rank else 1 for position, anchor in enumerate(anchors[text], start=1)}
        for text, rank in zip(TEXTS, ranks, strict=True)
    }
    report = judged(five_queries(grades))
    assert [case.rank_of_best for case in report.test_cases] == list(ranks)
    assert report.mrr == pytest.approx(mrr)
    assert report.verdict == verdict, report.summary
    assert_seeds_formulas_agree(report)


class SlowPipeline(FailingPipeline):
    """Each search takes so many seconds, by a clock that nothing else moves."""

    def __init__(self, inner: LocalPipeline, seconds: float) -> None:
        super().__init__(inner)
        self._seconds = seconds
        self.now = 0.0

    def search(self, text: str, options: SearchOptions) -> Answer:
        self.now += self._seconds
        return self._inner.search(text, options)


@pytest.mark.parametrize(("seconds", "verdict"), [(1.96875, "PASS"), (2.0, "FAIL")])
def test_seed_000_p95_latency_of_2000_ms_fails(
    stored: Workspace, monkeypatch: pytest.MonkeyPatch, seconds: float, verdict: str
) -> None:
    subject = SlowPipeline(LocalPipeline(stored), seconds)
    monkeypatch.setattr(runner, "time", SimpleNamespace(perf_counter=lambda: subject.now))
    report = validate(subject, golden(), ValidationOptions(together=False, diagnose=False))
    assert report.p95_latency_ms == report.p99_latency_ms == report.avg_latency_ms == seconds * 1000
    assert report.verdict == verdict, report.summary


def test_seed_000_verdict_uses_the_answerable_queries(judged: Judge) -> None:
    report = judged()
    assert report.verdict == "PASS"
    assert (report.total_queries, report.golden.scored) == (10, 8)
    assert report.metrics["all"]["p@5"].n == report.criteria[0].n == 8
    assert report.mrr == pytest.approx(0.8)
    assert report.mrr_answerable == 1.0
    assert_seeds_formulas_agree(report)


def test_seed_000_times_are_iso_8601_in_utc_and_name_the_file(judged: Judge, tmp_path: Path) -> None:
    report = judged()
    results = [result for case in report.test_cases for result in case.actual_results]
    for timestamp in (report.timestamp, *(result.timestamp or "" for result in results)):
        assert timestamp.endswith("Z")
        assert datetime.fromisoformat(timestamp).utcoffset() == timedelta()
    name = datetime.fromisoformat(report.timestamp).strftime("report_%Y%m%d_%H%M%S.json")
    folder = tmp_path / "validation_results"
    assert report_files.save_report(report, folder) == folder / name
