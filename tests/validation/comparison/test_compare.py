"""Compare two reports: figures against scipy, verdicts, status changes, refusals."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from pertinent.errors import InvalidInput
from pertinent.validation.comparison.compare import (
    MEASURES,
    Comparison,
    add_baseline_criterion,
    compare_reports,
    detectable_difference,
    find_regressions,
)
from pertinent.validation.diagnosis import Diagnosis
from pertinent.validation.golden.golden_set import ExpectedCriteria
from pertinent.validation.rendering import render_markdown_comparison
from pertinent.validation.report import GoldenSummary, Query, TestCase, ValidationReport
from pertinent.validation.statistics import PAIRED_SPREAD, permutation_test


def case(
    name: str,
    value: float = 1.0,
    *,
    status: str = "passed",
    detail: str | None = None,
    relevant: int = 3,
    metrics: Mapping[str, float] | None = None,
    **query: Any,
) -> TestCase:
    fields: dict[str, Any] = {"text": f"about {name}", "top_k": 5, "query_type": "specific", "id": name}
    return TestCase(
        query=Query(**(fields | query)),
        expected_criteria=ExpectedCriteria(),
        actual_results=[],
        relevance_labels=[],
        precision_at_k=0.0,
        judged=[],
        metrics=dict.fromkeys(MEASURES, value) if metrics is None else dict(metrics),
        latency_ms=1.0,
        status=status,  # type: ignore[arg-type]
        complaints=[] if status == "passed" else [f"{name} is not good"],
        diagnosis=Diagnosis(kind="outranked", detail=detail) if detail else None,
        relevant=relevant,
        labels=[],
        further=[],
    )


def report(cases: Sequence[TestCase], **changed: Any) -> ValidationReport:
    counts = dict.fromkeys(("queries", "scored", "labels"), len(cases))
    golden = {"name": "small", "unit": "passage", "answer_threshold": 0.5, "ceiling": 1.0, **counts}
    means = ("avg_precision_at_5", "mrr", "mrr_first_relevant")
    rates = ("metadata_completeness_rate", "hash_validation_pass_rate")
    latencies = ("avg_latency_ms", "p95_latency_ms", "p99_latency_ms")
    fields: dict[str, Any] = {
        **dict.fromkeys((*means, *(f"{name}_answerable" for name in means)), 0.5),
        **dict.fromkeys((*rates, *latencies), 1.0),
        **{name: [] for name in ("issues", "criteria", "checks", "preflight", "label_faults")},
        **{name: {} for name in ("metrics", "label_locations", "passages", "pages")},
        "timestamp": "2026-01-01T00:00:00Z",
        "total_queries": len(cases),
        "test_cases": list(cases),
        "verdict": "PASS",
        "summary": "PASS: it is good",
        "latency": None,
        "golden": GoldenSummary(**(golden | changed.pop("golden", {}))),
        "fingerprints": {"golden": "g", "corpus": "c", "embedder": "e", "ranking": "hybrid"},
        "options": {"ranking": None, "threshold": 0.0, "criteria": {"mrr": 0.7}},
    }
    return ValidationReport(**(fields | changed))


def of_values(values: Sequence[float]) -> ValidationReport:
    return report([case(f"q{number}", value) for number, value in enumerate(values)])


def compared(baseline: Sequence[float], current: Sequence[float]) -> Comparison:
    return compare_reports(of_values(baseline), of_values(current))


SHARES = st.integers(0, 5).map(lambda fifth: fifth / 5)
PAIRS = st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=30)


def test_clear_gain_is_better_and_clear_loss_is_worse() -> None:
    low, high = [0.2] * 10, [0.8] * 10
    (gain, *_) = compared(low, high).changes
    assert (gain.measure, gain.n, gain.wins, gain.ties, gain.losses) == ("p@5", 10, 10, 0, 0)
    assert (gain.baseline, gain.current, gain.difference) == pytest.approx((0.2, 0.8, 0.6))
    assert gain.p == 2 / 2**10
    assert gain.verdict == "better"
    assert {change.verdict for change in compared(high, low).changes} == {"worse"}


def test_identical_runs_show_no_change() -> None:
    comparison = compared([0.2, 0.8, 0.4], [0.2, 0.8, 0.4])
    for change in comparison.changes:
        assert (change.difference, change.low, change.high, change.p, change.ties) == (0, 0, 0, 1, 3)
        assert change.verdict == "no change"
    assert comparison.newly_failing == comparison.newly_passing == []
    assert not any([comparison.differences, comparison.notes])
    rounded_differently = compared([0.3], [0.1 + 0.2])
    assert rounded_differently.changes[0].verdict == "no change"


def test_measures_with_too_few_queries_are_not_judged() -> None:
    """With five queries, the smallest p is 2 / 2**5, which is not significant."""
    comparison = compared([0.2] * 5, [0.4] * 5)
    assert {(change.p, change.verdict) for change in comparison.changes} == {(2 / 2**5, "not judged")}
    assert comparison.detectable_difference is None
    reason = "not judged: at least 6 queries are needed to compare p@5, rr_best, ndcg@10"
    assert comparison.notes == [reason]
    assert f"- {reason}" in html.unescape(render_markdown_comparison(comparison))
    assert {change.verdict for change in compared([0.2] * 6, [0.4] * 6).changes} == {"better"}


def test_baseline_criterion_with_too_few_queries_gives_no_verdict() -> None:
    current = of_values([0.0] * 5)
    judged_report = add_baseline_criterion(current, compare_reports(of_values([0.8] * 5), current), [])
    (criterion,) = judged_report.criteria
    assert (criterion.name, criterion.passed) == ("baseline", None)
    assert criterion.detail.startswith("not judged: at least 6 queries are needed")
    assert judged_report.verdict == "INVALID"
    assert judged_report.summary == (
        "INVALID: the baseline is not judged: at least 6 queries are needed to compare p@5, rr_best, "
        "ndcg@10. it is good"
    )


def test_baseline_criterion_is_met_by_an_identical_run_of_few_queries() -> None:
    current = of_values([0.8] * 5)
    judged_report = add_baseline_criterion(current, compare_reports(current, current), [])
    assert [criterion.passed for criterion in judged_report.criteria] == [True]
    assert judged_report.verdict == "PASS"


@given(PAIRS)
@hypothesis_settings(max_examples=25)
def test_means_and_counts_are_those_of_the_pairs(pairs: list[tuple[float, float]]) -> None:
    before, after = (list(side) for side in zip(*pairs, strict=True))
    (change, *_) = compared(before, after).changes
    assert change.wins == sum(new > old for old, new in pairs)
    assert change.losses == sum(new < old for old, new in pairs)
    assert change.wins + change.ties + change.losses == change.n == len(pairs)
    assert change.difference == pytest.approx(change.current - change.baseline)
    assert change.low - 1e-12 <= change.difference <= change.high + 1e-12
    back = compared(after, before).changes[0]
    assert back.p == pytest.approx(change.p, abs=0.03)
    assert (back.wins, back.losses) == (change.losses, change.wins)
    assert back.difference == pytest.approx(-change.difference)


def test_p_and_interval_match_scipy() -> None:
    drawn = np.random.default_rng(3)
    before, after = drawn.integers(0, 6, 40) / 5, drawn.integers(1, 6, 40) / 5
    (change, *_) = compared(before.tolist(), after.tolist()).changes
    oracle = stats.permutation_test(
        (after, before), lambda a, b, axis: np.mean(a - b, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=9999, rng=np.random.default_rng(4),
    )  # fmt: skip
    assert change.p == pytest.approx(oracle.pvalue, abs=0.02)
    bounds = stats.bootstrap(
        ((after - before),), np.mean, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    assert (change.low, change.high) == pytest.approx((bounds.low, bounds.high), abs=0.03)


def test_queries_are_paired_in_any_order() -> None:
    cases = [case("a", 0.2), case("b", 0.8)]
    assert compare_reports(report(cases), report(cases[::-1])).changes[0].verdict == "no change"


@pytest.mark.parametrize(
    ("cases", "n"),
    [
        ([case("a"), case("none", 0.0, answerable=False), case("odd", 0.0, query_type="edge")], 1),
        ([case("a"), case("without labels in both", 0.0, relevant=0)], 1),
    ],
)
def test_answerable_queries_that_are_no_edge_cases_count(cases: list[TestCase], n: int) -> None:
    assert compare_reports(report(cases), report(cases)).n == n


def test_failed_search_counts_0() -> None:
    comparison = compare_reports(report([case("a", 0.8)]), report([case("a", 0.8, status="error")]))
    assert comparison.changes[0].current == 0.0
    assert [turn.current for turn in comparison.newly_failing] == ["error"]
    assert any("failed with an error" in note for note in comparison.notes)


def test_query_with_lost_labels_is_left_out_and_named() -> None:
    before = report([case("a", 0.8), case("b", 0.8)])
    after = report([case("a", 0.8), case("b", 0.0, relevant=0, status="failed")])
    comparison = compare_reports(before, after)
    assert comparison.unpaired == ["b"]
    assert comparison.n == 1
    assert comparison.changes[0].verdict == "no change"
    assert any("lost" in note and "b" in note for note in comparison.notes)


def test_query_without_a_valid_label_in_both_runs_is_left_out_and_named() -> None:
    """It counts in neither mean of the reports; as a tie it would hide a part of a loss."""
    unjudged = case("b", 0.0, relevant=0, status="failed")
    comparison = compare_reports(report([case("a", 0.8), unjudged]), report([case("a", 0.6), unjudged]))
    assert comparison.unpaired == ["b"]
    assert comparison.n == 1
    assert comparison.changes[0].difference == pytest.approx(-0.2)
    assert any("lost" in note and "b" in note for note in comparison.notes)


def test_status_changes_have_their_reason() -> None:
    before = report([case("a"), case("b", status="failed", detail="it was outranked"), case("c")])
    after = report([case("a", status="failed", detail="it is gone"), case("b"), case("c", status="error")])
    comparison = compare_reports(before, after)
    failing = [(turn.query, turn.reason) for turn in comparison.newly_failing]
    assert failing == [("a", "it is gone"), ("c", "c is not good")]
    assert [(turn.query, turn.reason) for turn in comparison.newly_passing] == [("b", "it was outranked")]


def test_refused_query_is_not_newly_failing() -> None:
    before, after = report([case("a")]), report([case("a", status="refused")])
    assert compare_reports(before, after).newly_failing == []


def test_differences_of_settings_are_listed_without_the_path() -> None:
    before = report([case("a")])
    after = report(
        [case("a")],
        fingerprints={"golden": "g", "corpus": "d", "embedder": "e", "ranking": "hybrid", "new": "1"},
        options={"ranking": "dense", "threshold": 0.2, "path": "x", "criteria": {"mrr": 0.6}},
    )
    comparison = compare_reports(before, after)
    assert {entry.name: (entry.baseline, entry.current) for entry in comparison.differences} == {
        "corpus": ("c", "d"),
        "ranking": ("hybrid", "dense"),
        "threshold": ("0.0", "0.2"),
        "criteria.mrr": ("0.7", "0.6"),
        "new": (None, "1"),
    }
    assert any("criteria differ" in note for note in comparison.notes)


def judged(share: float) -> ValidationReport:
    return report([case("a", metrics=dict.fromkeys(MEASURES, 0.5) | {"judged@5": share})])


UNANSWERABLE = case("a", answerable=False)
INVALID = report([case("a")], verdict="INVALID", summary="INVALID: every search failed")


@pytest.mark.parametrize(
    ("baseline", "current", "expected"),
    [
        (report([case("a")]), INVALID, "the run after has no verdict: every search failed"),
        (judged(1.0), judged(0.6), "favours the run before; label the results of the run after"),
        (judged(0.6), judged(1.0), "favours the run after; label the results of the run before"),
        (report([case("a")]), report([case("a", relevant=7)]), "number of passages that answer has changed"),
    ],
)
def test_confounding_differences_are_noted(
    baseline: ValidationReport, current: ValidationReport, expected: str
) -> None:
    (note,) = compare_reports(baseline, current).notes
    assert expected in note


def test_queries_in_only_one_report_are_listed() -> None:
    comparison = compare_reports(report([case("a"), case("b")]), report([case("a"), case("c"), case("d")]))
    assert comparison.n == 1
    assert comparison.scored_with == (
        "Scored with the labels of AFTER (golden set changed: queries added: c, d; removed: b)."
    )


def test_golden_set_with_other_notes_alone_is_said_to_have_the_same_labels() -> None:
    comparison = compare_reports(report([case("a")]), report([case("a")], fingerprints={"golden": "h"}))
    assert comparison.scored_with.endswith("(golden set changed, but no label and no query).")


def test_changed_expectations_are_compared_and_noted() -> None:
    before = report([case("a"), case("b")])
    criteria = ExpectedCriteria(min_score=0.9)
    changed = case("b", status="failed").model_copy(update={"expected_criteria": criteria})
    comparison = compare_reports(before, report([case("a"), changed], golden={"answer_threshold": 0.4}))
    assert comparison.n == 2
    assert comparison.newly_failing == []
    assert "their labels or expectations changed: b" in " ".join(comparison.notes)
    difference = {"name": "answer_threshold", "baseline": "0.5", "current": "0.4"}
    assert difference in [entry.model_dump() for entry in comparison.differences]


def test_long_list_of_queries_is_shortened() -> None:
    comparison = compare_reports(report([case(f"q{n}") for n in range(26)]), report([case("q0")]))
    assert "and 15 more" in comparison.scored_with
    assert len(comparison.golden_change.queries_removed) == 25


@pytest.mark.parametrize(
    ("baseline", "current", "message"),
    [
        (case("a"), case("b"), r"no answerable query in common.*removed: a"),
        (UNANSWERABLE, UNANSWERABLE, "nothing to compare: no query has an answer"),
    ],
)
def test_incomparable_reports_are_refused(baseline: TestCase, current: TestCase, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        compare_reports(report([baseline]), report([current]))


def test_only_measures_of_the_reports_can_be_compared() -> None:
    run = report([case("a", metrics={"map": 0.5, "rr": 1.0})])
    assert [change.measure for change in compare_reports(run, run, measures=["map"]).changes] == ["map"]
    with pytest.raises(InvalidInput, match="they have map, rr"):
        compare_reports(run, run)


def test_regression_is_significant_and_beyond_the_limit() -> None:
    lost = compared([0.8] * 10, [0.7] * 10)
    assert len(find_regressions(lost, 0.0)) == 3
    assert "p@5 fell by 0.100, from 0.800 to 0.700" in find_regressions(lost, 0.05)[0]
    assert find_regressions(lost, 0.1) == []
    assert find_regressions(compared([0.7] * 10, [0.8] * 10), 0.0) == []
    by_chance = compared([0.8] * 7, [0.1] * 5 + [0.9] * 2)
    assert by_chance.changes[0].verdict == "no significant change"
    assert find_regressions(by_chance, 0.0) == []


@pytest.mark.parametrize("allowed", [-0.1, 1.1, float("nan")])
def test_max_regression_must_be_a_share(allowed: float) -> None:
    with pytest.raises(InvalidInput, match="max_regression"):
        find_regressions(compared([1.0], [1.0]), allowed)


def test_detectable_difference_is_detected_in_four_of_five_trials() -> None:
    difference = detectable_difference(32)
    assert difference is not None
    trials = np.random.default_rng(9).normal(difference, PAIRED_SPREAD, (200, 32))
    seen = sum(permutation_test(trial, resamples=399) < 0.05 for trial in trials)
    assert 0.7 < seen / len(trials) < 0.9


def test_detectable_difference_falls_with_the_number_of_pairs() -> None:
    few, many = detectable_difference(70), detectable_difference(200)
    assert few is not None
    assert many is not None
    assert many < 0.05 < few
    assert detectable_difference(5) is detectable_difference(0) is None


def test_comparison_round_trips_through_json() -> None:
    comparison = compared([0.2, 0.4], [0.8, 0.4])
    assert Comparison.model_validate(json.loads(comparison.model_dump_json())) == comparison
    assert compared([0.2, 0.4], [0.8, 0.4]) == comparison


def test_markdown_escapes_markup() -> None:
    evil = "<img src=x> | @everyone **bold**"
    before = report([case("a"), case(evil)])
    after = report([case("a", status="failed", detail=evil), case("b")])
    markdown = render_markdown_comparison(compare_reports(before, after))
    first, blank, summary, *_ = markdown.splitlines()
    assert (first, blank) == ("### Compared with the baseline", "")
    assert summary.startswith(
        "Scored with the labels of AFTER (golden set changed: queries added: b; removed: "
    )
    assert "newly failing: a" in markdown
    for harm in ("<img", "@everyone", "**bold"):
        assert harm not in markdown
