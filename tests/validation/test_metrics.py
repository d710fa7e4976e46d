"""Measures, beside the tools that define them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from pertinent.errors import InvalidInput
from pertinent.validation.metrics import (
    MEASURES,
    PageSpan,
    ceiling,
    evaluate_all,
    group_overlap,
    overlap,
    precision_at_k,
    rank_of_best,
    span_recall,
)

TREC = {
    **{f"p@{k}": f"P_{k}" for k in (1, 3, 5, 7, 10)},
    **{f"recall@{k}": f"recall_{k}" for k in (1, 5, 7, 10, 100)},
    **{f"success@{k}": f"success_{k}" for k in (1, 5, 7, 10)},
    **{f"ndcg@{k}": f"ndcg_cut_{k}" for k in (1, 5, 7, 10, 100)},
    **{f"map@{k}": f"map_cut_{k}" for k in (5, 7)},
    "rr": "recip_rank",
    "map": "map",
    "ndcg": "ndcg",
}
"""Our names, and trec_eval's for the same."""

TREC_MEASURES = {
    *("recip_rank", "map", "ndcg", "P.1,3,5,7,10", "recall.1,5,7,10,100"),
    *("success.1,5,7,10", "ndcg_cut.1,5,7,10,100", "map_cut.5,7"),
}

IR_MEASURES = {
    **{f"rr@{k}": f"RR@{k}" for k in (1, 5, 10)}, **{f"judged@{k}": f"Judged@{k}" for k in (1, 5, 10)},
    "p@5": "P@5", "ndcg@10": "nDCG@10", "recall@10": "R@10", "map": "AP", "rr": "RR",
}  # fmt: skip
"""Our names, and those of ir_measures for the same."""

Judgments = dict[str, int]
IDS = st.sampled_from([f"chunk-{number}" for number in range(16)])
RANKINGS = st.lists(IDS, max_size=24)
DISTINCT = st.lists(IDS, max_size=16, unique=True)
JUDGMENTS = st.dictionaries(IDS, st.integers(0, 2), max_size=16)
QUERIES = st.lists(st.tuples(RANKINGS, JUDGMENTS), max_size=8)
LABELS = st.lists(st.sampled_from([0, 1, 2, None]), max_size=12)
SPANS = st.lists(
    st.tuples(st.sampled_from(["here", "there"]), st.integers(0, 30), st.integers(0, 12)).map(
        lambda span: (span[0], span[1], span[1] + span[2])
    ),
    max_size=6,
)


def evaluate(
    ranking: Sequence[str], judgments: Mapping[str, int], measures: Sequence[str] = MEASURES
) -> dict[str, float]:
    """The measures of one query alone."""
    table = evaluate_all([ranking], [judgments], measures)
    return {name: float(column[0]) for name, column in table.items()}


def scores(ranking: Iterable[str]) -> dict[str, float]:
    """The ranking as oracles want it: no two scores are alike."""
    return {result: -float(position) for position, result in enumerate(dict.fromkeys(ranking))}


def trec_eval(
    ranking: Iterable[str], judgments: Mapping[str, int], *, relevance_level: int = 1
) -> dict[str, float]:
    evaluator = pytrec_eval.RelevanceEvaluator(
        {"query": dict(judgments)}, TREC_MEASURES, relevance_level=relevance_level
    )
    values: dict[str, float] = evaluator.evaluate({"query": scores(ranking)}).get("query", {})
    return values


def ir_mean(names: Iterable[str], queries: Sequence[tuple[list[str], Judgments]]) -> dict[str, float]:
    qrels = {f"query-{number}": judgments for number, (_, judgments) in enumerate(queries)}
    run = {f"query-{number}": scores(ranking) for number, (ranking, _) in enumerate(queries) if ranking}
    values = ir_measures.calc_aggregate([ir_measures.parse_measure(name) for name in names], qrels, run)
    return {str(measure): value for measure, value in values.items()}


@given(RANKINGS, JUDGMENTS)
def test_measures_match_trec_eval(ranking: list[str], judgments: Judgments) -> None:
    expected = trec_eval(ranking, judgments)
    ours = evaluate(ranking, judgments, tuple(TREC))
    assert ours == pytest.approx({name: expected.get(theirs, 0.0) for name, theirs in TREC.items()})


@given(RANKINGS, JUDGMENTS)
def test_rr_full_matches_trec_eval_at_level_2(ranking: list[str], judgments: Judgments) -> None:
    expected = trec_eval(ranking, judgments, relevance_level=2).get("recip_rank", 0.0)
    assert evaluate(ranking, judgments)["rr_full"] == pytest.approx(expected)


@given(RANKINGS, JUDGMENTS)
def test_rr_and_judged_at_a_cutoff_match_ir_measures(ranking: list[str], judgments: Judgments) -> None:
    expected = ir_mean(IR_MEASURES.values(), [(ranking, judgments)])
    ours = evaluate(ranking, judgments, tuple(IR_MEASURES))
    assert ours == pytest.approx({name: expected[theirs] for name, theirs in IR_MEASURES.items()})


@given(st.lists(st.tuples(RANKINGS, JUDGMENTS), min_size=1, max_size=6))
def test_mean_counts_a_query_without_results_as_0(
    queries: list[tuple[list[str], Judgments]],
) -> None:
    expected = ir_mean(IR_MEASURES.values(), [*queries, ([], {"chunk-1": 1})])
    rankings, judgments = zip(*queries, ([], {"chunk-1": 1}), strict=True)
    table = evaluate_all(rankings, judgments, tuple(IR_MEASURES))
    means = {name: float(column.mean()) for name, column in table.items()}
    assert means == pytest.approx({name: expected[theirs] for name, theirs in IR_MEASURES.items()})


@given(QUERIES)
def test_batch_evaluation_equals_single_evaluation(
    queries: list[tuple[list[str], Judgments]],
) -> None:
    table = evaluate_all([ranking for ranking, _ in queries], [judgments for _, judgments in queries])
    one_by_one = [evaluate(*query) for query in queries]
    assert tuple(table) == MEASURES
    for name, column in table.items():
        assert column.dtype == np.float64
        assert column.tolist() == [values[name] for values in one_by_one]


@given(RANKINGS, JUDGMENTS)
def test_every_measure_is_between_0_and_1(ranking: list[str], judgments: Judgments) -> None:
    assert all(0.0 <= value <= 1.0 for value in evaluate(ranking, judgments).values())


@given(RANKINGS, JUDGMENTS)
def test_duplicate_result_counts_at_its_first_rank(ranking: list[str], judgments: Judgments) -> None:
    assert evaluate(ranking, judgments) == evaluate(list(dict.fromkeys(ranking)), judgments)


@given(JUDGMENTS, st.integers(1, 10))
def test_ideal_ranking_has_ndcg_1_and_reaches_the_ceiling(judgments: Judgments, k: int) -> None:
    ideal = sorted(judgments, key=lambda result: -judgments[result])
    metrics = evaluate(ideal, judgments, [f"ndcg@{k}", "ndcg", f"p@{k}", f"rcap@{k}", "map"])
    answerable = 1.0 if any(judgments.values()) else 0.0
    assert metrics[f"ndcg@{k}"] == metrics["ndcg"] == metrics[f"rcap@{k}"] == metrics["map"] == answerable
    assert metrics[f"p@{k}"] == ceiling(judgments, k)


@given(RANKINGS, JUDGMENTS, st.integers(1, 10))
def test_no_list_exceeds_the_ceiling(ranking: list[str], judgments: Judgments, k: int) -> None:
    assert evaluate(ranking, judgments, [f"p@{k}"])[f"p@{k}"] <= ceiling(judgments, k)


@given(DISTINCT, JUDGMENTS, st.integers(1, 10))
def test_capped_recall_divides_by_the_answers_or_by_k_whichever_is_fewer(
    ranking: list[str], judgments: Judgments, k: int
) -> None:
    hits = sum(judgments.get(result, 0) >= 1 for result in ranking[:k])
    answers = sum(label >= 1 for label in judgments.values())
    expected = hits / min(answers, k) if answers else 0.0
    assert evaluate(ranking, judgments, [f"rcap@{k}"]) == {f"rcap@{k}": expected}


def test_one_answer_caps_p_at_5_but_not_capped_recall() -> None:
    values = evaluate(["a", "b", "c", "d", "e"], {"a": 2})
    assert (values["p@5"], values["rcap@5"], ceiling({"a": 2}, 5)) == (0.2, 1.0, 0.2)


def test_precision_divides_by_k_also_where_fewer_were_retrieved() -> None:
    assert evaluate(["a"], {"a": 1})["p@5"] == 0.2


def test_ideal_ranking_uses_all_labels() -> None:
    one_of_two = evaluate(["a"], {"a": 1, "b": 1})["ndcg@5"]
    assert one_of_two == pytest.approx(1 / (1 + 1 / np.log2(3)))


def test_gain_of_a_label_is_linear() -> None:
    ndcg = evaluate(["a", "b"], {"a": 1, "b": 2})["ndcg@5"]
    assert ndcg == pytest.approx((1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3)))


def test_label_0_counts_as_judged() -> None:
    values = evaluate(["a", "b", "c", "d"], {"a": 0, "b": 1})
    assert (values["judged@5"], values["judged@10"]) == (0.5, 0.5)
    assert evaluate(["a", "b"], {"b": 1})["p@5"] == evaluate(["a", "b"], {"a": 0, "b": 1})["p@5"]


def test_judged_share_is_over_the_retrieved_in_the_first_k() -> None:
    assert evaluate([*"abcdef"], {"a": 1, "f": 0}, ["judged@5"]) == {"judged@5": 0.2}
    assert evaluate(["a"], {"a": 0}, ["judged@5"]) == {"judged@5": 1.0}


@pytest.mark.parametrize(
    ("ranking", "judgments"),
    [([], {}), ([], {"a": 2}), (["b"], {"a": 2}), (["a"], {"a": 0}), (["a"], {})],
    ids=["nothing at all", "no results", "a miss", "no answer", "no labels"],
)
def test_measures_are_0_without_relevant_results(ranking: list[str], judgments: Judgments) -> None:
    values = evaluate(ranking, judgments)
    assert {value for name, value in values.items() if not name.startswith("judged")} == {0.0}


def test_three_reciprocal_ranks_look_for_different_grades() -> None:
    values = evaluate(["x", "part", "full"], {"x": 0, "part": 1, "full": 2})
    assert (values["rr"], values["rr_full"], values["rr_best"]) == (1 / 2, 1 / 3, 1 / 3)


def test_seed_000_best_label_is_the_highest_among_the_results() -> None:
    assert evaluate(["x", "part"], {"x": 0, "part": 1, "full": 2})["rr_best"] == 0.5
    assert evaluate(["x", "part"], {"part": 1})["rr_best"] == 0.5
    assert evaluate(["x", "part"], {"part": 1})["rr_full"] == 0.0


def test_cutoff_limits_reciprocal_rank() -> None:
    ranking = [f"chunk-{number}" for number in range(12)]
    values = evaluate(ranking, {"chunk-10": 1})
    assert (values["rr"], values["rr@10"]) == (1 / 11, 0.0)


@given(DISTINCT, JUDGMENTS)
def test_rr_best_is_one_divided_by_the_rank_of_best(ranking: list[str], judgments: Judgments) -> None:
    rank = rank_of_best([judgments.get(result) for result in ranking])
    assert evaluate(ranking, judgments)["rr_best"] == (0.0 if rank is None else 1 / rank)


def test_no_queries_give_columns_without_values() -> None:
    assert {name: column.size for name, column in evaluate_all([], []).items()} == dict.fromkeys(MEASURES, 0)


def test_rankings_and_judgments_must_be_of_the_same_queries() -> None:
    with pytest.raises(ValueError, match="shorter"):
        evaluate_all([["a"]], [])


@pytest.mark.parametrize("label", [-1, 3, 1.5])
def test_invalid_grade_is_refused(label: int) -> None:
    with pytest.raises(InvalidInput, match=rf"0, 1 or 2, not {label}"):
        evaluate(["a"], {"a": label})


@pytest.mark.parametrize(
    "name", ["", "bleu", "p@", "p@0", "p@-1", "P@5", "p@5 ", "p@5@5", "ndcg@1e3", "p@1000000"]
)
def test_unknown_measure_error_lists_the_measures(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"is unknown; use one of p@3, p@5.* span_recall@5"):
        evaluate(["a"], {}, [name])


@pytest.mark.parametrize("name", ["p", "recall", "rcap", "success", "judged"])
def test_measure_that_needs_a_cutoff_is_refused_without(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"needs a cutoff, such as {name}@5"):
        evaluate(["a"], {}, [name])


def test_example_of_seed_000_has_its_values() -> None:
    labels = [2, 2, 1, 1, 0]
    assert precision_at_k(labels, 5) == 0.80
    assert rank_of_best(labels) == 1


@pytest.mark.parametrize(
    ("labels", "rank"),
    [([0, 1, 1, 0, 0], 2), ([1, 0, 2, 2], 3), ([0, None, 0], None), ([None, 1], 2), ([], None)],
)
def test_seed_000_rank_of_best_is_that_of_the_first_result_with_the_highest_label(
    labels: list[int | None], rank: int | None
) -> None:
    """Rule 12 in docs/seeds.md."""
    assert rank_of_best(labels) == rank


@given(LABELS, st.integers(1, 12))
def test_precision_at_k_is_the_seeds_formula(labels: list[int | None], k: int) -> None:
    assert precision_at_k(labels, k) == sum(1 for label in labels[:k] if (label or 0) >= 1) / k


@given(LABELS)
def test_rank_of_best_is_the_first_highest_grade(labels: list[int | None]) -> None:
    grades = [label or 0 for label in labels]
    rank = rank_of_best(labels)
    if rank is None:
        assert not any(grades)
    else:
        assert grades[rank - 1] >= 1
        assert all(grade < grades[rank - 1] for grade in grades[: rank - 1])
        assert all(grade <= grades[rank - 1] for grade in grades[rank:])


@given(SPANS, SPANS)
def test_span_recall_is_the_share_of_characters_retrieved(
    relevant: list[PageSpan], retrieved: list[PageSpan]
) -> None:
    def characters(spans: list[PageSpan]) -> set[tuple[str, int]]:
        return {(page, position) for page, start, end in spans for position in range(start, end)}

    length = len(characters(relevant))
    covered = len(characters(relevant) & characters(retrieved))
    assert span_recall(relevant, retrieved) == (covered / length if length else 0.0)


@pytest.mark.parametrize(
    ("retrieved", "share"),
    [
        ([("page", 12, 18)], 0.6),
        ([("page", 0, 15), ("page", 10, 15)], 0.5),
        ([("page", 0, 10), ("page", 20, 30)], 0.0),
        ([("other", 10, 20)], 0.0),
        ([("page", 0, 14), ("page", 16, 99)], 0.8),
        ([], 0.0),
    ],
    ids=["in the middle", "overlapping", "touching", "on another page", "with a gap", "nothing"],
)
def test_span_recall_of_ten_characters(retrieved: list[PageSpan], share: float) -> None:
    assert span_recall([("page", 10, 20)], retrieved) == share


def test_overlapping_labels_want_each_character_once() -> None:
    assert span_recall([("page", 0, 10), ("page", 5, 20)], [("page", 0, 10)]) == 0.5


@given(RANKINGS, RANKINGS, st.integers(1, 5))
def test_overlap_is_symmetric_and_between_0_and_1(first: list[str], second: list[str], k: int) -> None:
    assert overlap(first, second, k) == overlap(second, first, k)
    assert 0.0 <= overlap(first, second, k) <= 1.0
    assert overlap(first, first, k) == (1.0 if first else 0.0)


@pytest.mark.parametrize(
    ("second", "share"),
    [("cab", 1.0), ("abd", 2 / 3), ("dea", 1 / 3), ("deabc", 1 / 3), ("a", 1 / 3), ("", 0.0), ("aabcd", 1.0)],
    ids=["in any order", "two", "one", "below the cut", "a short list", "an empty list", "a duplicate"],
)
def test_overlap_divides_by_the_longer_top_3(second: str, share: float) -> None:
    assert overlap([*"abcx"], [*second]) == share


def test_group_overlap_is_the_mean_over_all_pairs() -> None:
    assert group_overlap([[*"abc"], [*"abd"], [*"abc"]]) == pytest.approx((2 / 3 + 1 + 2 / 3) / 3)
    assert group_overlap([[*"abc"]]) is None


def test_ceiling_counts_only_relevant_labels() -> None:
    judgments = {"a": 0, "b": 1, "c": 2}
    assert [ceiling(judgments, k) for k in (1, 2, 5)] == [1.0, 1.0, 0.4]
