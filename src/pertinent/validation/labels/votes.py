"""Merge the grades of all labels on a passage: the most specific label of each judge counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from enum import IntEnum
from typing import NamedTuple, TypeVar

from ..metrics import median_grade

Judge = str | None
"""A judge's name; None stands for the golden file, and for judges who gave no name."""

Name = TypeVar("Name", bound=Hashable)


class Specificity(IntEnum):
    """How much of a page a label is on. Where pages are judged, every label is on its page."""

    PAGE = 0
    SECTION = 1
    PASSAGE = 2


class Vote(NamedTuple):
    """What a label says about a passage, or page, that it covers."""

    judge: Judge
    specificity: Specificity
    grade: int


def merge_by_judge(votes: Iterable[tuple[Name, Vote]]) -> dict[Name, dict[Judge, int]]:
    """Merge the votes on each passage to one grade per judge.

    The most specific vote counts, and the highest of equally specific ones. So a label on a passage or a
    section overrides one on the whole page.
    """
    strongest: dict[Name, dict[Judge, Vote]] = defaultdict(dict)
    for name, vote in votes:
        by_judge = strongest[name]
        by_judge[vote.judge] = max(vote, by_judge.get(vote.judge, vote))
    return {
        name: {judge: vote.grade for judge, vote in by_judge.items()} for name, by_judge in strongest.items()
    }


def merge_votes(votes: Iterable[tuple[Name, Vote]]) -> dict[Name, int]:
    """Merge the votes on each passage to one grade: the lower median of the judges."""
    return {name: median_grade(grades.values()) for name, grades in merge_by_judge(votes).items()}
