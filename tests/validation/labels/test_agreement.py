"""The agreement of judges: over the passages that both have judged."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.validation.labels.agreement import Passage, count_by_judge, measure_agreement

Grades = dict[Passage, dict[str | None, int]]


def grades_of(pairs: Sequence[tuple[int | None, int | None]]) -> Grades:
    """The grades of ann and ben for passages 0, 1, 2, …"""
    return {
        Passage("q", f"{n}"): {
            judge: grade for judge, grade in zip(("ann", "ben"), pair, strict=True) if grade is not None
        }
        for n, pair in enumerate(pairs)
    }


def test_only_passages_that_both_judged_count() -> None:
    grades = grades_of([(2, 2), (0, 0), (1, 2), (2, 0), (1, None), (None, 1)])
    (pair,) = measure_agreement(grades)
    assert (pair.first, pair.second, pair.n) == ("ann", "ben", 4)
    disagreements = [(both.passage.name, both.first, both.second) for both in pair.disagreements]
    assert disagreements == [("3", 2, 0), ("2", 1, 2)]
    assert count_by_judge(grades) == [("ann", 5), ("ben", 5)]


@given(pairs=st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=1))
def test_kappa_is_symmetric_and_1_only_without_disagreement(pairs: list[tuple[int, int]]) -> None:
    (forth,) = measure_agreement(grades_of(pairs))
    (back,) = measure_agreement(grades_of([(second, first) for first, second in pairs]))
    assert forth.kappa == pytest.approx(back.kappa)
    assert (forth.kappa == 1.0) <= (not forth.disagreements)
    assert forth.kappa is None or forth.kappa <= 1.0


def test_every_two_judges_with_common_passages_are_compared() -> None:
    grades: Grades = {Passage("q", "1"): {None: 2, "ann": 2}, Passage("q", "2"): {"ann": 0, "ben": 1}}
    pairs = [(pair.first, pair.second, pair.n) for pair in measure_agreement(grades)]
    assert pairs == [(None, "ann", 1), ("ann", "ben", 1)]
    assert measure_agreement({}) == []
