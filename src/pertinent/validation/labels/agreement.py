"""How far judges agree: every two of them, over the passages that both have judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from ..statistics import weighted_kappa


class Passage(NamedTuple):
    """A passage as the answer to a query, by their ids; where pages are judged, a page."""

    query: str
    name: str


Judge = str | None
"""A judge's name; None is whoever wrote the golden file, or judged without giving a name."""

Views = Mapping[Passage, Mapping[Judge, int]]
"""What each judge has said of each passage."""


class Disagreement(NamedTuple):
    """A passage that two judges gave different grades."""

    passage: Passage
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two judges, and how far they agree: quadratically weighted kappa over n passages."""

    first: Judge
    second: Judge
    kappa: float | None
    n: int
    disagreements: tuple[Disagreement, ...]
    """The widest first."""


def judges(views: Views) -> list[tuple[Judge, int]]:
    """Everybody who has judged, with how many passages; the nameless one first."""
    counts = Counter(judge for grades in views.values() for judge in grades)
    return sorted(counts.items(), key=lambda one: (one[0] is not None, one[0] or ""))


def agreement(views: Views) -> list[Pair]:
    """Every two judges who have passages in common."""
    names = [judge for judge, _ in judges(views)]
    pairs = (_pair(views, first, second) for first, second in combinations(names, 2))
    return [pair for pair in pairs if pair.n]


def _pair(views: Views, first: Judge, second: Judge) -> Pair:
    both = [
        Disagreement(passage, grades[first], grades[second])
        for passage, grades in views.items()
        if first in grades and second in grades
    ]
    found = weighted_kappa([one.first for one in both], [one.second for one in both])
    apart = [one for one in both if one.first != one.second]
    apart.sort(key=lambda one: (-abs(one.first - one.second), one.passage))
    return Pair(first, second, found.kappa, found.n, tuple(apart))
