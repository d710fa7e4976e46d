"""Two reports side by side: paired figures beside scipy, verdicts, turns, refusals."""

from __future__ import annotations

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
from pertinent.validation.comparison.compare import MEASURES, Comparison, compare, regressions, visible
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
    known: dict[str, Any] = {"text": f"about {name}", "top_k": 5, "query_type": "specific", "id": name}
    return TestCase(
        query=Query(**(known | query)),
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
    )


def report(cases: Sequence[TestCase], **changed: Any) -> ValidationReport:
    golden = {
        "name": "small",
        "queries": len(cases),
        "scored": len(cases),
        "labels": 9,
        "unit": "passage",
        "answer_threshold": 0.5,
        "ceiling": 1.0,
    }
    known: dict[str, Any] = {
        "timestamp": "2026-01-01T00:00:00Z",
        "total_queries": len(cases),
        "avg_precision_at_5": 0.5,
        "mrr": 0.5,
        "avg_latency_ms": 1.0,
        "p95_latency_ms": 1.0,
        "p99_latency_ms": 1.0,
        "metadata_completeness_rate": 1.0,
        "hash_validation_pass_rate": 1.0,
        "test_cases": list(cases),
        "summary": "PASS: it is good",
        "issues": [],
        "verdict": "PASS",
        "avg_precision_at_5_answerable": 0.5,
        "mrr_answerable": 0.5,
        "mrr_first_relevant": 0.5,
        "mrr_first_relevant_answerable": 0.5,
        "criteria": [],
        "checks": [],
        "metrics": {},
        "latency": None,
        "golden": GoldenSummary(**(golden | changed.pop("golden", {}))),
        "preflight": [],
        "label_faults": [],
        "fingerprints": {"golden": "g", "corpus": "c", "embedder": "e", "ranking": "hybrid"},
        "options": {"ranking": None, "threshold": 0.0, "criteria": {"mrr": 0.7}},
    }
    return ValidationReport(**(known | changed))


def of_values(values: Sequence[float]) -> ValidationReport:
    return report([case(f"q{place}", value) for place, value in enumerate(values)])


def compared(before: Sequence[float], after: Sequence[float]) -> Comparison:
    return compare(of_values(before), of_values(after))


SHARES = st.integers(0, 5).map(lambda fifth: fifth / 5)
PAIRS = st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=30)


def test_a_clear_gain_is_better_and_a_clear_loss_is_worse() -> None:
    low, high = [0.2] * 10, [0.8] * 10
    (gain, *_) = compared(low, high).changes
    assert (gain.measure, gain.n, gain.wins, gain.ties, gain.losses) == ("p@5", 10, 10, 0, 0)
    assert (gain.before, gain.after, gain.difference) == pytest.approx((0.2, 0.8, 0.6))
    assert gain.p == 2 / 2**10
    assert gain.verdict == "better"
    assert {one.verdict for one in compared(high, low).changes} == {"worse"}


def test_identical_runs_have_not_changed() -> None:
    found = compared([0.2, 0.8, 0.4], [0.2, 0.8, 0.4])
    for one in found.changes:
        assert (one.difference, one.low, one.high, one.p, one.ties) == (0, 0, 0, 1, 3)
        assert one.verdict == "no change"
    assert not any([found.newly_failing, found.newly_passing, found.differs, found.notes])


def test_another_machines_rounding_is_no_change() -> None:
    assert compared([0.3], [0.1 + 0.2]).changes[0].verdict == "no change"


def test_few_changes_are_not_significant() -> None:
    (one, *_) = compared([0.2] * 5, [0.4] * 5).changes
    assert one.p == 2 / 2**5
    assert one.verdict == "no significant change"


@given(PAIRS)
@hypothesis_settings(max_examples=25)
def test_the_means_and_counts_are_those_of_the_pairs(pairs: list[tuple[float, float]]) -> None:
    before, after = (list(side) for side in zip(*pairs, strict=True))
    (one, *_) = compared(before, after).changes
    assert one.wins == sum(new > old for old, new in pairs)
    assert one.losses == sum(new < old for old, new in pairs)
    assert one.wins + one.ties + one.losses == one.n == len(pairs)
    assert one.difference == pytest.approx(one.after - one.before)
    assert one.low - 1e-12 <= one.difference <= one.high + 1e-12
    back = compared(after, before).changes[0]
    assert back.p == pytest.approx(one.p, abs=0.03)
    assert (back.wins, back.losses) == (one.losses, one.wins)
    assert back.difference == pytest.approx(-one.difference)


def test_p_and_the_interval_are_scipys() -> None:
    drawn = np.random.default_rng(3)
    before, after = drawn.integers(0, 6, 40) / 5, drawn.integers(1, 6, 40) / 5
    (one, *_) = compared(before.tolist(), after.tolist()).changes
    oracle = stats.permutation_test(
        (after, before),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9999,
        rng=np.random.default_rng(4),
    )
    assert one.p == pytest.approx(oracle.pvalue, abs=0.02)
    bounds = stats.bootstrap(
        ((after - before),), np.mean, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    assert (one.low, one.high) == pytest.approx((bounds.low, bounds.high), abs=0.03)


def test_the_order_of_the_queries_does_not_matter_to_the_pairing() -> None:
    cases = [case("a", 0.2), case("b", 0.8)]
    assert compare(report(cases), report(cases[::-1])).changes[0].verdict == "no change"


def test_only_queries_with_an_answer_count_and_no_edge_cases() -> None:
    cases = [
        case("a", 0.4),
        case("none", 0.0, answerable=False),
        case("odd", 0.0, query_type="edge"),
    ]
    assert compare(report(cases), report(cases)).n == 1


def test_an_error_counts_0_whatever_stands_beside_it() -> None:
    found = compare(report([case("a", 0.8)]), report([case("a", 0.8, status="error")]))
    assert found.changes[0].after == 0.0
    assert [turn.after for turn in found.newly_failing] == ["error"]
    assert any("failed with an error" in note for note in found.notes)


def test_a_query_whose_labels_are_lost_is_named_and_not_counted_as_a_loss() -> None:
    before = report([case("a", 0.8), case("b", 0.8)])
    after = report([case("a", 0.8), case("b", 0.0, relevant=0, status="failed")])
    found = compare(before, after)
    assert found.unpaired == ["b"]
    assert found.n == 1
    assert found.changes[0].verdict == "no change"
    assert any("lost" in note and "b" in note for note in found.notes)


def test_a_query_without_labels_in_both_runs_still_counts() -> None:
    cases = [case("a", 0.8), case("b", 0.0, relevant=0)]
    assert compare(report(cases), report(cases)).n == 2


def test_queries_that_turn_are_named_with_their_reason() -> None:
    before = report([case("a"), case("b", status="failed", detail="it was outranked"), case("c")])
    after = report([case("a", status="failed", detail="it is gone"), case("b"), case("c", status="error")])
    found = compare(before, after)
    assert [(turn.query, turn.reason) for turn in found.newly_failing] == [
        ("a", "it is gone"),
        ("c", "c is not good"),
    ]
    assert [(turn.query, turn.reason) for turn in found.newly_passing] == [("b", "it was outranked")]


def test_a_refusal_is_no_failure() -> None:
    before, after = report([case("a")]), report([case("a", status="refused")])
    assert compare(before, after).newly_failing == []


def test_what_else_differs_is_told_but_not_the_path() -> None:
    before = report([case("a")])
    after = report(
        [case("a")],
        fingerprints={"golden": "g", "corpus": "d", "embedder": "e", "ranking": "hybrid", "new": "1"},
        options={"ranking": "dense", "threshold": 0.2, "path": "x", "criteria": {"mrr": 0.6}},
    )
    found = compare(before, after)
    assert {one.name: (one.before, one.after) for one in found.differs} == {
        "corpus": ("c", "d"),
        "ranking": ("hybrid", "dense"),
        "threshold": ("0.0", "0.2"),
        "criteria.mrr": ("0.7", "0.6"),
        "new": (None, "1"),
    }
    assert any("criteria differ" in note for note in found.notes)


def test_a_run_without_a_verdict_is_noted() -> None:
    broken = report([case("a")], verdict="INVALID", summary="INVALID: every search failed")
    assert compare(report([case("a")]), broken).notes == ["the run after has no verdict: every search failed"]


def test_labels_that_favour_one_run_are_noted() -> None:
    values = dict.fromkeys(MEASURES, 0.5)
    before = report([case("a", metrics=values | {"judged@5": 1.0})])
    after = report([case("a", metrics=values | {"judged@5": 0.6})])
    (note,) = compare(before, after).notes
    assert "favours the run before; label what was found after" in note
    (back,) = compare(after, before).notes
    assert "favours the run after; label what was found before" in back


def test_passages_that_were_cut_differently_are_noted() -> None:
    (note,) = compare(report([case("a")]), report([case("a", relevant=7)])).notes
    assert "another number of passages" in note


def test_queries_of_one_report_alone_are_listed_and_the_others_compared() -> None:
    found = compare(report([case("a"), case("b")]), report([case("a"), case("c"), case("d")]))
    assert found.n == 1
    assert found.scored_with == (
        "Scored with the labels of AFTER (golden set changed: queries added: c, d; removed: b)."
    )


def test_an_expectation_that_changed_is_no_reason_to_refuse() -> None:
    before = report([case("a"), case("b")])
    other = case("b", status="failed").model_copy(
        update={"expected_criteria": ExpectedCriteria(min_score=0.9)}
    )
    found = compare(before, report([case("a"), other], golden={"answer_threshold": 0.4}))
    assert found.n == 2
    assert found.newly_failing == []
    assert "by other labels or expectations: b" in " ".join(found.notes)
    assert {"name": "answer_threshold", "before": "0.5", "after": "0.4"} in [
        one.model_dump() for one in found.differs
    ]


def test_a_long_list_of_queries_is_shortened() -> None:
    found = compare(report([case(f"q{n}") for n in range(26)]), report([case("q0")]))
    assert "and 15 more" in found.scored_with
    assert len(found.golden_change.queries_removed) == 25


def test_other_labels_need_reports_that_hold_them() -> None:
    with pytest.raises(InvalidInput, match="did not keep its labels"):
        compare(report([case("a")]), report([case("a")], fingerprints={"golden": "h"}))
    with pytest.raises(InvalidInput, match="did not keep its labels"):
        compare(report([case("a")]), report([case("a")], fingerprints={}))


def test_reports_without_a_query_in_common_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"no query that has an answer is in both runs.*removed: a"):
        compare(report([case("a")]), report([case("b")]))


def test_nothing_to_pair_is_refused() -> None:
    nothing = report([case("a", answerable=False)])
    with pytest.raises(InvalidInput, match="nothing to compare"):
        compare(nothing, nothing)


def test_other_measures_may_be_asked_for_if_the_reports_have_them() -> None:
    one = report([case("a", metrics={"map": 0.5, "rr": 1.0})])
    assert [change.measure for change in compare(one, one, measures=["map"]).changes] == ["map"]
    with pytest.raises(InvalidInput, match="there are map, rr"):
        compare(one, one)


def test_a_regression_is_beyond_what_is_allowed_and_no_chance() -> None:
    lost = compared([0.8] * 10, [0.7] * 10)
    assert len(regressions(lost, 0.0)) == 3
    assert "p@5 fell by 0.100, from 0.800 to 0.700" in regressions(lost, 0.05)[0]
    assert regressions(lost, 0.1) == []
    assert regressions(compared([0.7] * 10, [0.8] * 10), 0.0) == []
    by_chance = compared([0.8] * 4, [0.1] * 4)
    assert by_chance.changes[0].verdict == "no significant change"
    assert regressions(by_chance, 0.0) == []


@pytest.mark.parametrize("allowed", [-0.1, 1.1, float("nan")])
def test_what_is_allowed_is_a_share(allowed: float) -> None:
    with pytest.raises(InvalidInput, match="max_regression"):
        regressions(compared([1.0], [1.0]), allowed)


def test_what_can_be_seen_is_seen_in_about_four_of_five_trials() -> None:
    trials = np.random.default_rng(9).normal(visible(32), PAIRED_SPREAD, (200, 32))
    seen = sum(permutation_test(trial, resamples=399) < 0.05 for trial in trials)
    assert 0.7 < seen / len(trials) < 0.9


def test_a_difference_of_five_hundredths_takes_some_70_to_200_pairs() -> None:
    assert visible(200) < 0.05 < visible(70)


def test_nothing_is_seen_with_no_queries() -> None:
    assert visible(0) == 1.0


def test_a_comparison_is_json_and_comes_back_from_it() -> None:
    found = compared([0.2, 0.4], [0.8, 0.4])
    assert Comparison.model_validate(json.loads(found.model_dump_json())) == found
    assert compared([0.2, 0.4], [0.8, 0.4]) == found


def test_the_markdown_of_a_comparison_lets_no_text_become_markup() -> None:
    evil = "<img src=x> | @everyone **bold**"
    before = report([case("a"), case(evil)])
    after = report([case("a", status="failed", detail=evil), case("b")])
    found = render_markdown_comparison(compare(before, after))
    first, blank, said, *_ = found.splitlines()
    assert (first, blank) == ("### Compared with the baseline", "")
    assert said.startswith("Scored with the labels of AFTER (golden set changed: queries added: b; removed: ")
    assert "newly failing: a" in found
    for harm in ("<img", "@everyone", "**bold"):
        assert harm not in found
