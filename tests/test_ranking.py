"""Scores and order."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pertinent.ranking import SIDES, batches, contenders, rank
from pertinent.types import Candidates, Ranking, Scores

RANKINGS: st.SearchStrategy[Ranking] = st.sampled_from(["hybrid", "dense", "lexical"])


@st.composite
def found(draw: st.DrawFn) -> Candidates:
    points = draw(st.lists(st.uuids(), max_size=40, unique=True))
    count = len(points)
    cosine = draw(st.none() | st.lists(st.floats(-1, 1.001), min_size=count, max_size=count))
    bm25 = draw(st.none() | st.lists(st.floats(0, 200), min_size=count, max_size=count))
    return Candidates(list(points), cosine, bm25)


@given(found(), RANKINGS)
def test_every_score_is_between_0_and_1(candidates: Candidates, ranking: Ranking) -> None:
    ranked = rank(candidates, ranking)
    assert all(0.0 <= score <= 1.0 for score in ranked.scores)
    for place in range(len(ranked.scores)):
        assert all(part is None or 0.0 <= part <= 1.0 for part in ranked.parts(place))


@given(found(), RANKINGS)
def test_the_order_is_that_of_the_score(candidates: Candidates, ranking: Ranking) -> None:
    ranked = rank(candidates, ranking)
    assert ranked.scores == sorted(ranked.scores, reverse=True)
    assert set(ranked.point_ids) == set(candidates.point_ids)
    assert len(ranked.point_ids) == len(ranked.scores)


@given(found(), RANKINGS)
def test_a_point_keeps_its_own_parts_and_its_score_is_made_of_them(
    candidates: Candidates, ranking: Ranking
) -> None:
    ranked = rank(candidates, ranking)
    for rank_of, (point, score) in enumerate(zip(ranked.point_ids, ranked.scores, strict=True)):
        place = candidates.point_ids.index(point)
        cosine, lexical = ranked.parts(rank_of)
        if candidates.cosine is not None:
            assert cosine == min(max(candidates.cosine[place], 0.0), 1.0)
        if candidates.bm25 is not None:
            assert lexical == candidates.bm25[place] / (candidates.bm25[place] + 10.0)
        expected = {
            "dense": cosine or 0.0,
            "lexical": lexical or 0.0,
            "hybrid": 0.5 * (cosine or 0.0) + 0.5 * (lexical or 0.0),
        }
        assert score == expected[ranking]


def test_a_negative_cosine_becomes_0() -> None:
    assert rank(Candidates([1], [-0.3], None), "dense").parts(0) == Scores(0.0, None)


def test_the_hybrid_score_is_the_mean_of_cosine_and_saturated_bm25() -> None:
    candidates = Candidates([1], [0.8], [10.0])
    assert rank(candidates, "hybrid").parts(0) == Scores(0.8, 0.5)
    assert rank(candidates, "hybrid").scores == [0.65]
    assert rank(candidates, "dense").scores == [0.8]
    assert rank(candidates, "lexical").scores == [0.5]


@given(st.lists(st.integers(0, 9).map(float), max_size=40), st.integers(1, 10))
def test_batches_are_the_whole_list_and_never_part_equal_scores(scores: list[float], size: int) -> None:
    scores.sort(reverse=True)
    parts = [[scores[place] for place in places] for places in batches(scores, size)]
    assert [one for part in parts for one in part] == scores
    for before, after in pairwise(parts):
        assert before[-1] > after[0]
        assert len(before) >= size


@given(found(), RANKINGS, st.integers(1, 50))
def test_the_first_are_the_best_and_all_that_are_as_good_as_the_last_of_them(
    candidates: Candidates, ranking: Ranking, count: int
) -> None:
    ranked = rank(candidates, ranking)
    first = ranked.first(count)
    assert len(first.scores) >= min(count, len(ranked.scores))
    assert first.scores == ranked.scores[: len(first.scores)]
    assert first.point_ids == ranked.point_ids[: len(first.scores)]
    assert all(score < first.scores[-1] for score in ranked.scores[len(first.scores) :])
    assert all(first.parts(place) == ranked.parts(place) for place in range(len(first.scores)))


SCORES = st.integers(-2, 8)
"""Few, so that many are equal."""


@st.composite
def book(draw: st.DrawFn) -> list[tuple[float, float]]:
    """Cosine and BM25 of all points there are."""
    points = draw(st.lists(st.tuples(SCORES, SCORES), max_size=30))
    return [(cosine / 8, max(bm25, 0) * 3.0) for cosine, bm25 in points]


def named(scores: list[float], limit: int) -> set[int]:
    """What a side proposes; a point that shares no word with the query is nowhere in the lexical one."""
    return set(sorted(range(len(scores)), key=lambda place: -scores[place])[:limit])


@given(book(), RANKINGS, st.integers(1, 12), st.integers(1, 8))
def test_the_contenders_rank_as_if_every_score_had_been_asked_for(
    points: list[tuple[float, float]], ranking: Ranking, limit: int, best: int
) -> None:
    cosines, weights = [one for one, _ in points], [other for _, other in points]
    sides = {
        "dense": named(cosines, limit),
        "lexical": {place for place in named(weights, limit) if weights[place]},
    }
    asked = {side: places if side in SIDES[ranking] else set() for side, places in sides.items()}
    there = sorted(asked["dense"] | asked["lexical"])

    def columns(places: list[int]) -> Candidates:
        return Candidates(
            list(places), [cosines[place] for place in places], [weights[place] for place in places]
        )

    scores = {"dense": cosines, "lexical": weights}
    known = {side: {place: scores[side][place] for place in places} for side, places in asked.items()}
    kept = contenders(known, ranking, limit, best)
    exact = rank(columns(there), ranking).first(best)
    found = rank(columns(kept), ranking).first(best)
    assert found.scores == exact.scores
    assert set(found.point_ids) == set(exact.point_ids)


def test_who_is_out_of_the_question_is_no_contender() -> None:
    # The third is known by its cosine alone: with the last weight that was named it has 0.3 at most.
    found = {"dense": {1: 0.8, 2: 0.7, 3: 0.1}, "lexical": {1: 10.0, 2: 20.0}}
    assert contenders(found, "hybrid", limit=2, best=1) == [2]
    assert contenders(found, "hybrid", limit=2, best=2) == [1, 2]
    assert contenders(found, "hybrid", limit=2, best=3) == [1, 2, 3]
    # A list that is full may end just above the third; one that is not full holds all there are.
    close = {"dense": {1: 0.8, 2: 0.3, 3: 0.31}, "lexical": {1: 10.0, 2: 1.0}}
    assert contenders(close, "hybrid", limit=2, best=2) == [1, 2, 3]
    assert contenders(close, "hybrid", limit=3, best=2) == [1, 2]
    # The same where only the lexical side has named it.
    words = {"dense": {1: 0.8, 2: 0.3}, "lexical": {1: 10.0, 2: 1.0, 3: 1.0}}
    assert contenders(words, "hybrid", limit=2, best=2) == [1, 2, 3]
    assert contenders(words, "hybrid", limit=4, best=2) == [1, 2]
