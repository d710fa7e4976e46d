"""Percentiles, intervals, tests and agreement, beside independent definitions."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from pertinent.errors import InvalidInput
from pertinent.validation import statistics
from pertinent.validation.statistics import (
    Agreement,
    Interval,
    Weights,
    half_width,
    intervals,
    latency_summary,
    permutation_test,
    weighted_kappa,
    wilson_interval,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TIMES = st.lists(st.floats(0, 1e6), min_size=1, max_size=50)
MEASURED = st.lists(st.floats(0, 1), min_size=1, max_size=30)
EIGHTHS = st.lists(st.integers(-8, 8).map(lambda part: part / 8), min_size=2, max_size=7)
"""Differences whose sums are exact, so that an oracle's rounding does not matter."""

PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=20)
SKEWED = np.random.default_rng(7).exponential(0.2, 20)
SHIFTED = np.random.default_rng(8).normal(0.08, 0.25, 40)


def interval(values: ArrayLike, **options: Any) -> Interval:
    """The interval of one column alone."""
    return intervals({"values": values}, **options)["values"]


def on_the_line(times: list[float], q: float) -> float:
    """A percentile by its definition: on the line between its two neighbours."""
    ordered = sorted(times)
    position = (len(ordered) - 1) * q / 100
    below, above = ordered[math.floor(position)], ordered[math.ceil(position)]
    return below + (above - below) * (position - math.floor(position))


def test_latency_summary_of_nothing_is_none() -> None:
    assert latency_summary([]) is None


def test_latency_summary_has_method_and_count() -> None:
    summary = latency_summary([40.0, 10.0, 20.0, 30.0, 50.0])
    assert summary is not None
    assert (summary.n, summary.method) == (5, "linear")
    assert (summary.mean, summary.p50, summary.max) == (30.0, 30.0, 50.0)
    assert [summary.p95, summary.p99] == pytest.approx([48.0, 49.6])


def test_seed_000_percentile_of_few_times_is_interpolated() -> None:
    summary = latency_summary([*range(10), 1000.0])
    assert summary is not None
    assert [summary.p95, summary.max] == pytest.approx([(9 + 1000) / 2, 1000.0])


@given(TIMES)
def test_latency_percentiles_are_ordered_and_interpolated(times: list[float]) -> None:
    summary = latency_summary(times)
    assert summary is not None
    assert summary.p50 <= summary.p95 <= summary.p99 <= summary.max == max(times)
    expected = [on_the_line(times, q) for q in (50, 95, 99)]
    assert [summary.p50, summary.p95, summary.p99] == pytest.approx(expected)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_interval_matches_scipy_percentile_bootstrap(confidence: float) -> None:
    bounds = interval(SKEWED, resamples=20_000, confidence=confidence)
    expected = stats.bootstrap(
        (SKEWED,), np.mean, n_resamples=20_000, confidence_level=confidence, method="percentile", rng=1
    ).confidence_interval
    noise = 0.1 * float(SKEWED.std()) / math.sqrt(len(SKEWED))
    assert bounds.mean == pytest.approx(SKEWED.mean())
    assert [bounds.low, bounds.high] == pytest.approx([*expected], abs=noise)


def test_interval_depends_on_the_seed() -> None:
    assert interval(SKEWED, seed=3) == interval(SKEWED, seed=3)
    assert interval(SKEWED, seed=3) != interval(SKEWED, seed=4)


@given(MEASURED)
@settings(max_examples=50)
def test_interval_stays_within_the_values(values: list[float]) -> None:
    bounds = interval(values, resamples=200)
    assert min(values) <= bounds.low <= bounds.high <= max(values)
    assert bounds.n == len(values)


@given(st.floats(0, 1), st.integers(1, 40))
@settings(max_examples=50)
def test_interval_of_equal_values_is_that_value(value: float, n: int) -> None:
    assert interval([value] * n, resamples=50) == Interval(value, value, value, n)


def test_interval_of_nothing_is_none() -> None:
    assert intervals({}) == {}
    assert intervals({"p@5": [], "rr": []}) == {}


@given(st.integers(1, 400), st.data())
def test_wilson_interval_matches_scipy(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n))
    bounds = wilson_interval(hits, n)
    expected = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert (bounds.mean, bounds.n) == (hits / n, n)
    assert [bounds.low, bounds.high] == pytest.approx([expected.low, expected.high], abs=1e-6)
    assert 0.0 <= bounds.low <= bounds.mean <= bounds.high <= 1.0


def test_wilson_interval_of_equal_values_has_a_width() -> None:
    assert interval([1.0] * 8).low == 1.0
    assert wilson_interval(8, 8).low == pytest.approx(0.676, abs=1e-3)
    assert wilson_interval(0, 8).high == pytest.approx(0.324, abs=1e-3)


def test_intervals_of_a_table_equal_single_intervals() -> None:
    table = {"skewed": SKEWED, "squared": SKEWED**2}
    bounds = intervals(table)
    assert list(bounds) == ["skewed", "squared"]
    for name, column in table.items():
        alone = interval(column)
        assert bounds[name].n == alone.n
        assert (bounds[name].mean, bounds[name].low, bounds[name].high) == pytest.approx(
            (alone.mean, alone.low, alone.high)
        )


def test_interval_does_not_depend_on_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = interval(SKEWED)
    monkeypatch.setattr(statistics, "BLOCK", 7 * len(SKEWED) + 1)
    in_blocks = interval(SKEWED)
    assert (in_blocks.low, in_blocks.high) == pytest.approx((expected.low, expected.high))


def test_ten_thousand_queries_are_resampled_in_little_memory() -> None:
    table = {name: np.random.default_rng(0).random(10_000) for name in ("p@5", "rr")}
    tracemalloc.start()
    intervals(table, resamples=1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40_000_000  # all at once would be 80 MB for the drawing alone, and as much for the counts


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(InvalidInput, match="different lengths"):
        intervals({"p@5": [1.0], "rr": [1.0, 0.5]})


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_permutation_test_refuses_nan(value: float) -> None:
    with pytest.raises(InvalidInput, match="finite"):
        permutation_test([0.1, value])
    with pytest.raises(InvalidInput, match="finite"):
        interval([0.1, value])


@given(EIGHTHS)
def test_exact_permutation_test_matches_scipy(differences: list[float]) -> None:
    p = permutation_test(differences)
    if not any(differences):
        assert p == 1.0
    else:
        expected = stats.permutation_test(
            (differences,), np.sum, permutation_type="samples", n_resamples=math.inf, vectorized=True
        )
        assert p == pytest.approx(min(1.0, expected.pvalue))


def test_sampled_permutation_test_matches_scipy() -> None:
    expected = stats.permutation_test(
        (SHIFTED,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1, vectorized=True
    )
    assert 0.01 < expected.pvalue < 0.5
    assert permutation_test(SHIFTED, resamples=20_000) == pytest.approx(expected.pvalue, abs=0.015)


@pytest.mark.parametrize("differences", [[], [0.0], [0.0] * 100], ids=["none", "one", "many"])
def test_identical_runs_are_no_change(differences: list[float]) -> None:
    assert permutation_test(differences) == 1.0


def test_sums_that_are_equal_but_for_rounding_count_as_equal() -> None:
    assert sum([0.1, 0.2, -0.3]) != 0
    assert permutation_test([0.1, 0.2, -0.3]) == 1.0


def test_up_to_fourteen_differences_every_combination_of_signs_is_tried() -> None:
    assert permutation_test([0.2] * 14, resamples=9) == 2 / 2**14
    assert [permutation_test([0.2] * n) for n in (1, 2, 3)] == [1.0, 0.5, 0.25]


def test_sampled_permutation_test_is_never_0(monkeypatch: pytest.MonkeyPatch) -> None:
    assert permutation_test([0.2] * 60, resamples=999) == 1 / 1000
    monkeypatch.setattr(statistics, "BLOCK", 1000)
    assert permutation_test([0.2] * 60, resamples=999) == 1 / 1000


@given(EIGHTHS, st.integers(0, 20))
def test_permutation_test_is_symmetric_and_scale_free(differences: list[float], unchanged: int) -> None:
    p = permutation_test(differences)
    assert permutation_test([-4 * difference for difference in differences]) == p
    assert permutation_test(differences + [0.0] * unchanged) == p


def test_permutation_test_depends_on_the_seed() -> None:
    assert permutation_test(SHIFTED, seed=3) == permutation_test(SHIFTED, seed=3)
    assert len({permutation_test(SHIFTED, seed=seed) for seed in range(5)}) > 1


@pytest.mark.parametrize(("weights", "kappa"), [("quadratic", Fraction(3, 4)), ("linear", Fraction(5, 8))])
def test_kappa_matches_a_hand_computed_case(weights: Weights, kappa: Fraction) -> None:
    # The two pairs that differ are one apart. Chance: 48/36 (quadratic) and 32/36 (linear), against 2/6.
    value = weighted_kappa([0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 2, 2], weights=weights)
    assert value == Agreement(float(kappa), 6)


def test_kappa_is_minus_1_for_opposite_and_1_for_equal_labels() -> None:
    assert weighted_kappa([0, 2], [2, 0]) == Agreement(-1.0, 2)
    assert weighted_kappa([0, 1, 2], [0, 1, 2]) == Agreement(1.0, 3)


@given(PAIRS, st.sampled_from(["quadratic", "linear"]))
def test_kappa_is_1_minus_observed_over_chance(pairs: list[tuple[int, int]], weights: Weights) -> None:
    power = 2 if weights == "quadratic" else 1
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    observed = sum(abs(a - b) ** power for a, b in pairs)
    by_chance = sum(abs(a - b) ** power for a, b in product(first, second))
    kappa = weighted_kappa(first, second, weights=weights)
    assert kappa.n == len(pairs)
    assert kappa.kappa == (pytest.approx(1 - observed * len(pairs) / by_chance) if by_chance else None)


@pytest.mark.parametrize("labels", [[], [2], [2, 2, 2]], ids=["none", "one", "many"])
def test_kappa_is_not_defined_where_both_judges_gave_one_label_throughout(labels: list[int]) -> None:
    assert weighted_kappa(labels, labels) == Agreement(None, len(labels))


def test_kappa_is_0_where_one_judge_alone_gave_one_label_throughout() -> None:
    assert weighted_kappa([1, 1], [0, 2]) == Agreement(0.0, 2)


@pytest.mark.parametrize(("first", "second"), [([0, 3], [0, 1]), ([0, -1], [0, 1]), ([0], [0, 1])])
def test_labels_out_of_range_or_without_a_partner_are_refused(first: list[int], second: list[int]) -> None:
    with pytest.raises(InvalidInput, match="labels: must"):
        weighted_kappa(first, second)


def test_twenty_queries_give_about_fifteen_hundredths_either_way() -> None:
    assert half_width(20) == pytest.approx(0.15, abs=0.002)
    assert half_width(80) == pytest.approx(half_width(20) / 2)
    assert half_width(0) == half_width(1, sd=0.9) == 1.0


def test_expected_width_is_close_to_the_actual_width() -> None:
    values = np.random.default_rng(9).beta(2, 2, 200)
    bounds = interval(values)
    assert half_width(200, float(values.std())) == pytest.approx((bounds.high - bounds.low) / 2, rel=0.1)
