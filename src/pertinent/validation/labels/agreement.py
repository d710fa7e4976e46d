"""Agreement of judges: every two of them, over the passages that both have judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from ..statistics import weighted_kappa
from .votes import Judge


class Passage(NamedTuple):
    """A passage as an answer to a query."""

    query: str
    """The id of the query."""
    name: str
    """The id of the chunk or, where a golden set judges pages, of the page."""


GradesByPassage = Mapping[Passage, Mapping[Judge, int]]
"""The grade that each judge gave each passage."""


class Disagreement(NamedTuple):
    """A passage that two judges gave different grades."""

    passage: Passage
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """The agreement of two judges: quadratically weighted kappa over n passages."""

    first: Judge
    second: Judge
    kappa: float | None
    """None if both gave one grade throughout."""
    n: int
    disagreements: tuple[Disagreement, ...]
    """The widest first."""


def count_by_judge(grades: GradesByPassage) -> list[tuple[Judge, int]]:
    """Count the passages that each judge has judged, sorted by name; the golden file comes first."""
    counts = Counter(judge for by_judge in grades.values() for judge in by_judge)
    return sorted(counts.items(), key=lambda entry: (entry[0] is not None, entry[0] or ""))


def measure_agreement(grades: GradesByPassage) -> list[PairAgreement]:
    """Measure the agreement of every two judges who have judged the same passages."""
    judges = [judge for judge, _ in count_by_judge(grades)]
    pairs = (_compare_judges(grades, first, second) for first, second in combinations(judges, 2))
    return [pair for pair in pairs if pair.n]


def _compare_judges(grades: GradesByPassage, first: Judge, second: Judge) -> PairAgreement:
    common = [
        Disagreement(passage, by_judge[first], by_judge[second])
        for passage, by_judge in grades.items()
        if first in by_judge and second in by_judge
    ]
    agreement = weighted_kappa([both.first for both in common], [both.second for both in common])
    disagreements = [both for both in common if both.first != both.second]
    disagreements.sort(key=lambda both: (-abs(both.first - both.second), both.passage))
    return PairAgreement(first, second, agreement.kappa, agreement.n, tuple(disagreements))
