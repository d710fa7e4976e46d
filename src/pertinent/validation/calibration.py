"""From which score on a result is an answer: proposed from queries that have one and queries that have none.

Over all thresholds, the shares of queries that still get a result are step functions, with a step at each
score that was seen. So the best thresholds are a plateau between two scores, and its middle is the one
that is furthest from a mistake of either kind.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from .._internal.messages import format_count, format_list
from ..errors import InvalidInput
from ..types import Hit
from .fields import Rate
from .golden.golden_set import GoldenQuery, GoldenSet
from .labels.resolve import ResolvedQuery
from .metrics import RELEVANT
from .report import Part
from .runner import Outcome
from .scoring import found_ids
from .statistics import METHOD, Column

RULE = (
    "the highest balanced accuracy (Youden's J); where many thresholds reach it, the middle of the widest "
    "plateau, with as few decimals as stay on it"
)

FEW = 10
"""Of fewer queries of a kind, each decides too much."""

APART = 0.5
"""A J below it, which is a balanced accuracy below 0.75, is no separation."""

NOTHING = -1.0
"""The score of a query that found nothing: it is below every threshold."""

DECIMALS = range(2, 10)
ENDS = (0.025, 0.975)
TOLD = 10

Counts = NDArray[np.int64]
Score = Annotated[float, Field(ge=0.0, le=1.0)]


class Point(Part):
    """What a threshold does."""

    threshold: Score
    answered: Rate = Field(description="Answerable queries whose best result is at or above it")
    kept: Rate | None = Field(
        description="Those with a known answer whose best relevant result is; null where there are none"
    )
    false_answers: Rate = Field(description="Unanswerable queries whose best result is")
    youden: float = Field(description="1 where it separates the two perfectly, 0 where it is of no use")
    balanced_accuracy: Rate = Field(description="The mean of the shares of both kinds that it treats rightly")


class Calibration(Part):
    """A proposal for the answer threshold, and what it would cost."""

    golden: str
    ranking: str = Field(description="Another ranking gives other scores, and needs another threshold")
    answerable: int
    judged: int = Field(description="How many of the answerable have a passage that is known to answer")
    unanswerable: int
    left_out: dict[str, str] = Field(description="Queries that were refused or failed, and why")
    rule: str = RULE
    auc: Rate = Field(description="How often an answerable query scores above an unanswerable one")
    threshold: Score
    plateau: tuple[Score, Score] = Field(
        description="Every threshold above the first and up to the second is as good"
    )
    low: Score = Field(description="The lower end of the threshold's 95 % bootstrap interval")
    high: Score
    proposed: Point
    present: Point
    curve: list[Point] = Field(
        description="A point at each score; it holds for every threshold above that of the point before"
    )
    warnings: list[str]

    def at(self, threshold: float) -> Point:
        """What any threshold from 0 to 1 does."""
        place = bisect_left(self.curve, threshold, key=lambda point: point.threshold)
        return self.curve[place].model_copy(update={"threshold": threshold})


class Scores(NamedTuple):
    """The best score of every query by its kind, lowest first."""

    answerable: Column
    relevant: Column
    """The best score that a relevant result has, for the answerable queries with a known answer."""
    unanswerable: Column


def calibrate(
    golden: GoldenSet,
    outcomes: Sequence[Outcome],
    resolved: Mapping[str, ResolvedQuery],
    seed: int = 0,
    resamples: int = 1000,
) -> Calibration:
    """Propose the answer threshold, from the outcomes of a run without any threshold."""
    asked = [one for one in outcomes if one.query.scored or not one.query.answerable]
    # A refusal or an error comes before any score, so a threshold has no say in it.
    answered = [one for one in asked if one.answer is not None]
    left_out = {one.query.id: one.error or one.refusal or "" for one in asked if one.answer is None}
    _refuse_one_kind([one.query for one in answered], left_out)
    scores = _scores(golden, answered, resolved)
    plateau = best_plateau(scores.answerable, scores.unanswerable)
    threshold = _rounded(*plateau)
    low, high = _bounds(scores, seed, resamples)
    proposed, present, *curve = _points(scores, [threshold, golden.answer_threshold, *_steps(*scores)])
    return Calibration(
        golden=golden.name,
        ranking=next(one.answer.ranking for one in answered if one.answer),
        answerable=len(scores.answerable),
        judged=len(scores.relevant),
        unanswerable=len(scores.unanswerable),
        left_out=left_out,
        auc=auc(scores.answerable, scores.unanswerable),
        threshold=threshold,
        plateau=plateau,
        low=low,
        high=high,
        proposed=proposed,
        present=present,
        curve=curve,
        warnings=[*_small(scores), *_overlapping(proposed), *_failed(asked)],
    )


def best_plateau(answerable: Column, unanswerable: Column) -> tuple[float, float]:
    """The widest range of thresholds with the highest J: above the first, up to the second.

    The scores are sorted. Of ranges that are equally wide it is the lowest, which answers more.
    """
    steps = _steps(answerable, unanswerable)
    # J in whole numbers, so that equal is equal.
    right = _reaching(answerable, steps) * len(unanswerable)
    wrong = _reaching(unanswerable, steps) * len(answerable)
    youden = right - wrong
    best = np.flatnonzero(youden == youden.max())
    runs = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)
    ranges = [(float(steps[max(run[0] - 1, 0)]), float(steps[run[-1]])) for run in runs]
    return max(ranges, key=lambda ends: ends[1] - ends[0])


def auc(answerable: Column, unanswerable: Column) -> float:
    """How often a score of the first is above one of the second; a tie counts half. Both are sorted."""
    below = np.searchsorted(unanswerable, answerable, side="left")
    not_above = np.searchsorted(unanswerable, answerable, side="right")
    return float((below + not_above).sum() / (2 * len(answerable) * len(unanswerable)))


def _refuse_one_kind(queries: Sequence[GoldenQuery], left_out: Mapping[str, str]) -> None:
    for wanted, told in ((True, "with an answer"), (False, "without one (`answerable: false`)")):
        if not any(query.answerable is wanted for query in queries):
            why = "".join(f"; {name}: {reason}" for name, reason in list(left_out.items())[:1])
            raise InvalidInput(
                "golden", f"a threshold needs scores of queries {told} too, and there are none{why}"
            )


def _scores(golden: GoldenSet, answered: Sequence[Outcome], resolved: Mapping[str, ResolvedQuery]) -> Scores:
    answerable = [one for one in answered if one.query.answerable]
    known = [one for one in answerable if _relevant_ids(resolved[one.query.id])]
    return Scores(
        _sorted([_best(one.shown) for one in answerable]),
        _sorted([_best(_relevant(one, golden, resolved[one.query.id])) for one in known]),
        _sorted([_best(one.shown) for one in answered if not one.query.answerable]),
    )


def _best(hits: Sequence[Hit]) -> float:
    return max((hit.score for hit in hits), default=NOTHING)


def _relevant(outcome: Outcome, golden: GoldenSet, known: ResolvedQuery) -> list[Hit]:
    wanted = _relevant_ids(known)
    names = found_ids(outcome.shown, golden.unit)
    return [hit for hit, name in zip(outcome.shown, names, strict=True) if name in wanted]


def _relevant_ids(known: ResolvedQuery) -> set[str]:
    return {name for name, grade in known.judgments.items() if grade >= RELEVANT}


def _sorted(scores: Sequence[float]) -> Column:
    column = np.sort(np.array(scores, dtype=np.float64))
    if not ((column == NOTHING) | ((column >= 0.0) & (column <= 1.0))).all():
        raise InvalidInput("score", "must be between 0.0 and 1.0; `pertinent doctor` tells what is wrong")
    return column


def _steps(*scores: Column) -> Column:
    """Every threshold at which something changes, and both ends."""
    seen: Column = np.unique(np.concatenate([*scores, [0.0, 1.0]]))
    return seen[seen >= 0.0]


def _reaching(scores: Column, thresholds: Column) -> Counts:
    """How many of the sorted scores are at or above each threshold."""
    return len(scores) - np.searchsorted(scores, thresholds, side="left")


def _points(scores: Scores, thresholds: Sequence[float]) -> list[Point]:
    places = np.array(thresholds)
    answered = _reaching(scores.answerable, places) / len(scores.answerable)
    kept = _reaching(scores.relevant, places) / max(1, len(scores.relevant))
    false_answers = _reaching(scores.unanswerable, places) / len(scores.unanswerable)
    return [
        Point(
            threshold=threshold,
            answered=right,
            kept=relevant if len(scores.relevant) else None,
            false_answers=wrong,
            youden=right - wrong,
            balanced_accuracy=(1 + right - wrong) / 2,
        )
        for threshold, right, relevant, wrong in zip(
            places.tolist(), answered.tolist(), kept.tolist(), false_answers.tolist(), strict=True
        )
    ]


def _middle(low: float, high: float) -> float:
    """Half way up, but above the lower end, which is not on the plateau."""
    middle = (low + high) / 2
    return middle if middle > low else high


def _rounded(low: float, high: float) -> float:
    middle = _middle(low, high)
    short = (round(middle, decimals) for decimals in DECIMALS)
    return next((one for one in short if low < one <= high), middle)


def _bounds(scores: Scores, seed: int, resamples: int) -> tuple[float, float]:
    """The rule applied to queries drawn anew, again and again; of each kind as many as there are."""
    random = np.random.default_rng(seed)

    def drawn(column: Column) -> Column:
        return np.sort(random.choice(column, len(column)))

    found = [
        _middle(*best_plateau(drawn(scores.answerable), drawn(scores.unanswerable))) for _ in range(resamples)
    ]
    low, high = np.quantile(found, ENDS, method=METHOD)
    return float(low), float(high)


def _small(scores: Scores) -> list[str]:
    kinds = (("an answer", scores.answerable), ("none", scores.unanswerable))
    return [
        f"only {format_count(len(column), 'query has', 'queries have')} {what}: one more or less moves its "
        f"share by {1 / len(column):.0%}; at least {FEW} are needed, better 30"
        for what, column in kinds
        if len(column) < FEW
    ]


def _overlapping(proposed: Point) -> list[str]:
    if proposed.youden >= APART:
        return []
    return [
        "the scores of queries with and without an answer overlap so much that no threshold separates them: "
        f"the best is right for {proposed.balanced_accuracy:.0%}, the mean of both kinds, and a coin for 50%"
    ]


def _failed(asked: Sequence[Outcome]) -> list[str]:
    failed = [one.query.id for one in asked if one.error]
    return [f"these searches failed, and are left out: {format_list(failed, TOLD)}"] if failed else []
