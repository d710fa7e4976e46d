"""The answer threshold: hand cases, properties, and scipy as the oracle of the AUC."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from pertinent.errors import InvalidInput
from pertinent.types import Answer, Chunk, Hit, Scores
from pertinent.validation.calibration import RULE, Calibration, auc, best_plateau, calibrate
from pertinent.validation.golden.golden_set import GoldenQuery, GoldenSet
from pertinent.validation.labels.resolve import ResolvedQuery
from pertinent.validation.runner import QueryOutcome
from pertinent.validation.statistics import Column


def hit(chunk_id: str, score: float) -> Hit:
    chunk = Chunk(chunk_id, f"page-of-{chunk_id}", "", "", "", "", 0, 0, 1, "x", "", "", "", "")
    return Hit(chunk, score, Scores(score, None), 0)


def outcome(name: str, scores: Sequence[float], **fields: Any) -> QueryOutcome:
    """A query whose results are called by its name and their rank, `name-1` first."""
    query = GoldenQuery(id=name, text=name, **fields)
    hits = tuple(hit(f"{name}-{rank}", score) for rank, score in enumerate(scores, start=1))
    return QueryOutcome(query, 1.0, Answer(name, "hybrid", hits, query.top_k, 0.0, "", {}))


def run(
    outcomes: Sequence[QueryOutcome],
    judgments: Mapping[str, Mapping[str, int]] | None = None,
    threshold: float = 0.5,
    resamples: int = 20,
) -> Calibration:
    golden = GoldenSet(queries=tuple(outcome.query for outcome in outcomes), answer_threshold=threshold)
    relevance = judgments or {}
    resolved = {
        outcome.query.id: ResolvedQuery(outcome.query.id, (), relevance.get(outcome.query.id, {}), (), {})
        for outcome in outcomes
    }
    return calibrate(golden, outcomes, resolved, resamples=resamples)


def outcomes_of(answerable: Sequence[float], unanswerable: Sequence[float]) -> list[QueryOutcome]:
    """Queries `a0`, `a1`… with an answer and `n0`, `n1`… without, each with one result of the score."""
    outcomes = [outcome(f"a{number}", [score]) for number, score in enumerate(answerable)]
    return outcomes + [outcome(f"n{n}", [score], answerable=False) for n, score in enumerate(unanswerable)]


def of_scores(
    answerable: Sequence[float], unanswerable: Sequence[float], threshold: float = 0.5, resamples: int = 20
) -> Calibration:
    """Where the first result of each answerable query is the relevant one."""
    outcomes = outcomes_of(answerable, unanswerable)
    relevance = {f"a{position}": {f"a{position}-1": 2} for position in range(len(answerable))}
    return run(outcomes, relevance, threshold, resamples)


NO_ANSWER = outcome("n", [0.1], answerable=False)


def column(scores: Sequence[float]) -> Column:
    return np.sort(np.array(scores, dtype=np.float64))


SCORES = st.lists(
    st.one_of(st.floats(0, 1), st.integers(0, 20).map(lambda part: part / 20)), min_size=1, max_size=15
)
Floats = list[float]
few = hypothesis_settings(max_examples=40)


def test_separable_scores_get_the_middle_as_threshold() -> None:
    calibration = of_scores([0.6, 0.7, 0.9], [0.1, 0.2, 0.4])
    proposed = calibration.proposed
    assert (calibration.threshold, calibration.plateau, calibration.rule) == (0.5, (0.4, 0.6), RULE)
    assert (proposed.answered, proposed.kept, proposed.false_answers) == (1, 1, 0)
    assert calibration.auc == proposed.youden == proposed.balanced_accuracy == 1


def test_overlapping_scores_match_a_hand_computed_case() -> None:
    """At 0.4 three of four stay and one of four gets through; everywhere else it is worse."""
    calibration = of_scores([0.2, 0.5, 0.6, 0.8], [0.1, 0.3, 0.35, 0.7])
    proposed = calibration.proposed
    assert (calibration.plateau, calibration.threshold, calibration.auc) == ((0.35, 0.5), 0.42, 11 / 16)
    assert (proposed.answered, proposed.false_answers, proposed.balanced_accuracy) == (0.75, 0.25, 0.75)


def test_present_threshold_has_its_costs() -> None:
    calibration = of_scores([0.45, 0.55, 0.9], [0.1, 0.3], threshold=0.5)
    assert calibration.present.threshold == 0.5
    assert calibration.present.answered == pytest.approx(2 / 3)
    assert calibration.present.false_answers == 0
    assert calibration.proposed.answered == 1


def test_score_at_the_threshold_is_an_answer() -> None:
    calibration = of_scores([0.5], [0.2], threshold=0.5)
    assert calibration.present.answered == 1
    assert calibration.point_at(0.2).false_answers == 1
    assert calibration.point_at(math.nextafter(0.2, 1)).false_answers == 0


def test_wider_plateau_wins_and_the_lower_of_equal_ones() -> None:
    # J is 1/2 above 0.1 and up to 0.2, and again above 0.3.
    assert best_plateau(column([0.2, 0.9]), column([0.1, 0.3])) == (0.3, 0.9)
    assert best_plateau(column([0.25, 0.75]), column([0.125, 0.625])) == (0.125, 0.25)


def test_proposal_is_rounded_within_its_plateau() -> None:
    assert of_scores([0.4567], [0.4561]).threshold == 0.4564
    assert of_scores([0.46], [0.45]).threshold == 0.46  # the middle, 0.455, to two decimals
    near = math.nextafter(0.5, 1)
    assert of_scores([near], [0.5]).threshold == near


def test_query_without_results_is_never_answered() -> None:
    outcomes = [outcome("a", []), outcome("b", [0.8]), outcome("n", [], answerable=False)]
    calibration = run(outcomes, {"a": {"a-1": 2}, "b": {"b-1": 2}})
    assert calibration.point_at(0.0).answered == 0.5
    assert calibration.point_at(0.0).kept == 0.5
    assert all(point.false_answers == 0 for point in calibration.curve)


def test_best_relevant_result_counts() -> None:
    calibration = run([outcome("a", [0.9, 0.7, 0.6]), NO_ANSWER], {"a": {"a-1": 0, "a-2": 1, "a-3": 2}})
    assert (calibration.point_at(0.8).answered, calibration.point_at(0.8).kept) == (1, 0)
    assert (calibration.point_at(0.7).answered, calibration.point_at(0.7).kept) == (1, 1)


def test_results_beyond_top_k_are_ignored() -> None:
    assert run([outcome("a", [0.9, 0.7], top_k=1), NO_ANSWER], {"a": {"a-2": 2}}).point_at(0.0).kept == 0


def test_query_without_a_known_answer_is_not_a_miss() -> None:
    outcomes = [outcome("a", [0.9]), outcome("b", [0.8]), NO_ANSWER]
    calibration = run(outcomes, {"a": {"a-1": 1}, "b": {"b-1": 0}})
    assert (calibration.answerable, calibration.judged) == (2, 1)
    assert calibration.point_at(0.85).kept == 1
    assert run(outcomes).point_at(0.5).kept is None


def test_pages_are_known_by_their_document() -> None:
    outcomes = [outcome("a", [0.9, 0.7]), NO_ANSWER]
    golden = GoldenSet(queries=tuple(outcome.query for outcome in outcomes), unit="page")
    judgments: dict[str, dict[str, int]] = {"a": {"page-of-a-2": 2}, "n": {}}
    resolved = {name: ResolvedQuery(name, (), grades, (), {}) for name, grades in judgments.items()}
    calibration = calibrate(golden, outcomes, resolved)
    assert (calibration.point_at(0.7).kept, calibration.point_at(0.8).kept) == (1, 0)


def test_edge_cases_refusals_and_errors_are_left_out() -> None:
    refused = GoldenQuery(id="empty", text="", answerable=False)
    failed = GoldenQuery(id="down", text="x")
    calibration = run(
        [
            outcome("a", [0.9]),
            outcome("odd", [0.2], query_type="edge"),
            outcome("gibberish", [0.1], query_type="edge", answerable=False),
            QueryOutcome(refused, 1.0, refusal="must not be empty"),
            QueryOutcome(failed, 1.0, error="the store is down"),
        ]
    )
    assert (calibration.answerable, calibration.unanswerable) == (1, 1)
    assert calibration.left_out == {"empty": "must not be empty", "down": "the store is down"}
    assert any("down" in warning and "empty" not in warning for warning in calibration.warnings)


def test_few_queries_give_a_warning() -> None:
    many, nine, ten = [0.8] * 12, [0.1] * 9, [0.1] * 10
    (warning,) = of_scores(many, nine).warnings
    assert "only 9 queries have no answer" in warning
    assert of_scores(many, ten).warnings == []


def test_inseparable_scores_give_a_warning() -> None:
    same = [position / 20 for position in range(20)]
    calibration = of_scores(same, same)
    assert calibration.auc == 0.5
    assert any("no threshold separates" in warning for warning in calibration.warnings)


@pytest.mark.parametrize("answerable", [True, False])
def test_golden_set_of_one_kind_is_refused(answerable: bool) -> None:
    with pytest.raises(InvalidInput, match="golden: a threshold needs"):
        run([outcome("a", [0.5], answerable=answerable)])


def test_calibration_raises_the_first_error_when_all_searches_fail() -> None:
    with pytest.raises(InvalidInput, match="the store is down"):
        run([QueryOutcome(GoldenQuery(id="a", text="a"), 1.0, error="the store is down")])


@pytest.mark.parametrize("score", [1.5, -0.2, float("nan")])
def test_score_that_is_not_finite_is_refused(score: float) -> None:
    with pytest.raises(InvalidInput, match=r"between 0\.0 and 1\.0"):
        of_scores([score], [0.1])


@given(SCORES, SCORES)
@few
def test_no_share_rises_with_the_threshold(answerable: Floats, unanswerable: Floats) -> None:
    curve = of_scores(answerable, unanswerable).curve
    thresholds = [point.threshold for point in curve]
    assert thresholds == sorted(set(thresholds))
    assert (thresholds[0], thresholds[-1]) == (0, 1)
    for lower, higher in pairwise(curve):
        assert lower.answered >= higher.answered
        assert (lower.kept or 0) >= (higher.kept or 0)
        assert lower.false_answers >= higher.false_answers


@given(SCORES, SCORES)
@few
def test_no_threshold_is_better_than_the_proposed_one(answerable: Floats, unanswerable: Floats) -> None:
    calibration = of_scores(answerable, unanswerable)
    low, high = calibration.plateau
    assert low < calibration.threshold <= high or low == high == calibration.threshold == 0
    assert calibration.proposed.youden == pytest.approx(max(point.youden for point in calibration.curve))
    assert calibration.proposed.threshold == calibration.threshold
    assert 0 <= calibration.low <= calibration.high <= 1
    for threshold in [*answerable, *unanswerable, high, 0.0, 0.33, 1.0]:
        recall = sum(score >= threshold for score in answerable) / len(answerable)
        through = sum(score >= threshold for score in unanswerable) / len(unanswerable)
        point = calibration.point_at(threshold)
        assert (point.answered, point.false_answers) == (recall, through)
        assert recall - through <= calibration.proposed.youden + 1e-9


@given(SCORES, SCORES)
@few
def test_separable_scores_are_separated_perfectly(first: Floats, second: Floats) -> None:
    answerable, unanswerable = [0.55 + score * 0.45 for score in first], [score * 0.45 for score in second]
    calibration = of_scores(answerable, unanswerable)
    assert calibration.proposed.youden == calibration.auc == 1
    assert max(unanswerable) < calibration.threshold <= min(answerable)


@given(SCORES, SCORES, st.randoms(use_true_random=False))
@few
def test_order_of_queries_has_no_effect(answerable: Floats, unanswerable: Floats, random: Random) -> None:
    outcomes = outcomes_of(answerable, unanswerable)
    calibration = run(outcomes)
    random.shuffle(outcomes)
    assert run(outcomes) == calibration


@given(SCORES, SCORES)
def test_auc_matches_scipy(answerable: Floats, unanswerable: Floats) -> None:
    ranked = stats.mannwhitneyu(answerable, unanswerable, method="asymptotic")
    pairs = len(answerable) * len(unanswerable)
    assert auc(column(answerable), column(unanswerable)) == pytest.approx(ranked.statistic / pairs)


@given(SCORES, SCORES)
def test_auc_is_mirrored_by_swapping_the_kinds(answerable: Floats, unanswerable: Floats) -> None:
    first, second = column(answerable), column(unanswerable)
    assert auc(first, second) + auc(second, first) == pytest.approx(1)


@given(SCORES, SCORES)
def test_doubled_queries_give_the_same_plateau(answerable: Floats, unanswerable: Floats) -> None:
    once = best_plateau(column(answerable), column(unanswerable))
    assert best_plateau(column(answerable * 2), column(unanswerable * 2)) == once


@given(SCORES, SCORES)
def test_halving_every_score_halves_a_plateau_that_separates(
    answerable: Floats, unanswerable: Floats
) -> None:
    low, high = best_plateau(column(answerable), column(unanswerable))
    assume(high <= max([*answerable, *unanswerable]) and low > 0)
    halved = best_plateau(column([s / 2 for s in answerable]), column([s / 2 for s in unanswerable]))
    # Above all scores there is more room now, which matters where nothing separates.
    assume(halved[1] <= 0.5)
    assert halved == (low / 2, high / 2)


def test_more_queries_make_the_interval_narrower() -> None:
    drawn = np.random.default_rng(2)

    def width(n: int) -> float:
        answerable, unanswerable = (drawn.normal(mean, 0.08, n).clip(0, 1).tolist() for mean in (0.6, 0.3))
        calibration = of_scores(answerable, unanswerable, resamples=200)
        return calibration.high - calibration.low

    assert width(400) < width(10)


def test_calibration_is_deterministic_and_round_trips_through_json() -> None:
    calibration = of_scores([0.4, 0.6, 0.9], [0.1, 0.5])
    assert of_scores([0.4, 0.6, 0.9], [0.1, 0.5]) == calibration
    assert Calibration.model_validate(json.loads(calibration.model_dump_json())) == calibration
