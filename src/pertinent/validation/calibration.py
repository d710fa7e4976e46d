"""Propose the answer threshold: the score above which a result is likely to be an answer.

The share of queries that still get a result is a step function of the threshold, with a step at each
score. So the best thresholds form a plateau between two scores, and its middle is furthest from a mistake
of either kind.
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
from .golden.golden_set import GoldenQuery, GoldenSet
from .labels.resolve import ResolvedQuery
from .metrics import RELEVANT
from .report_fields import Rate, ReportPart
from .runner import QueryOutcome
from .scoring import result_ids
from .statistics import METHOD, Column

RULE = (
    "the highest balanced accuracy (Youden's J); if many thresholds reach it, the middle of the widest range "
    "of them, rounded as far as the range allows"
)

FEW = 10
"""With fewer queries of a kind, each of them has too much influence."""

SEPARATED = 0.5
"""A lower J (a balanced accuracy below 0.75) does not separate the two kinds."""

NOTHING = -1.0
"""The score of a query without results: it is below every threshold."""

DECIMALS = range(2, 10)
ENDS = (0.025, 0.975)
MAX_NAMED = 10

Counts = NDArray[np.int64]
Score = Annotated[float, Field(ge=0.0, le=1.0)]


class ThresholdPoint(ReportPart):
    """The effects of a threshold."""

    threshold: Score
    answered: Rate = Field(description="Answerable queries whose best result is at or above it")
    kept: Rate | None = Field(
        description="Labelled queries whose best relevant result is; null where there are none"
    )
    false_answers: Rate = Field(description="Unanswerable queries whose best result is")
    youden: float = Field(description="1 where it separates the two kinds perfectly, 0 where it does not")
    balanced_accuracy: Rate = Field(description="The mean of the shares of both kinds that it gets right")


class Calibration(ReportPart):
    """A proposed answer threshold, and its effects."""

    golden: str
    ranking: str = Field(description="Another ranking gives other scores, and needs another threshold")
    answerable: int
    judged: int = Field(description="How many of the answerable have a label of a relevant passage")
    unanswerable: int
    left_out: dict[str, str] = Field(description="Queries that were refused or failed, and why")
    rule: str = RULE
    auc: Rate = Field(description="How often an answerable query scores above an unanswerable one")
    threshold: Score
    plateau: tuple[Score, Score] = Field(
        description="Every threshold above the first and up to the second is equally good"
    )
    low: Score = Field(description="The lower end of the threshold's 95 % bootstrap interval")
    high: Score
    proposed: ThresholdPoint
    present: ThresholdPoint
    curve: list[ThresholdPoint] = Field(
        description="A point at each score; it holds for every threshold above that of the point before"
    )
    warnings: list[str]

    def point_at(self, threshold: float) -> ThresholdPoint:
        """Return the effects of any threshold from 0 to 1."""
        index = bisect_left(self.curve, threshold, key=lambda point: point.threshold)
        return self.curve[index].model_copy(update={"threshold": threshold})


class BestScores(NamedTuple):
    """The best score of every query by kind, in ascending order."""

    answerable: Column
    relevant: Column
    """The best score of a relevant result, for the answerable queries with labels."""
    unanswerable: Column


def calibrate(
    golden: GoldenSet,
    outcomes: Sequence[QueryOutcome],
    resolved: Mapping[str, ResolvedQuery],
    seed: int = 0,
    resamples: int = 1000,
) -> Calibration:
    """Propose the answer threshold.

    Args:
        golden: The golden set, with queries of both kinds.
        outcomes: The outcomes of a run without a threshold.
        resolved: The labels by query id.
        seed: The seed of the bootstrap.
        resamples: The number of its resamples.

    Raises:
        InvalidInput: There are no scores of answerable queries, or none of unanswerable ones.
    """
    considered = [outcome for outcome in outcomes if outcome.query.scored or not outcome.query.answerable]
    # A refusal or an error has no score, so the threshold does not affect it.
    answered = [outcome for outcome in considered if outcome.answer is not None]
    unanswered = [outcome for outcome in considered if outcome.answer is None]
    left_out = {outcome.query.id: outcome.error or outcome.refusal or "" for outcome in unanswered}
    _require_both_kinds([outcome.query for outcome in answered], left_out)
    scores = _collect_scores(golden, answered, resolved)
    plateau = best_plateau(scores.answerable, scores.unanswerable)
    threshold = _round_within(*plateau)
    low, high = _bootstrap_interval(scores, seed, resamples)
    proposed, present, *curve = _list_points(scores, [threshold, golden.answer_threshold, *_steps(*scores)])
    return Calibration(
        golden=golden.name,
        ranking=next(outcome.answer.ranking for outcome in answered if outcome.answer),
        answerable=len(scores.answerable),
        judged=len(scores.relevant),
        unanswerable=len(scores.unanswerable),
        left_out=left_out,
        auc=auc(scores.answerable, scores.unanswerable),
        threshold=threshold,
        plateau=plateau,
        # The threshold is rounded, and may lie just outside of the interval.
        low=min(low, threshold),
        high=max(high, threshold),
        proposed=proposed,
        present=present,
        curve=curve,
        warnings=[*_warn_few(scores), *_warn_overlap(proposed), *_warn_failed(unanswered)],
    )


def best_plateau(answerable: Column, unanswerable: Column) -> tuple[float, float]:
    """Return the widest range of thresholds with the highest J: above the first, up to the second.

    The scores must be sorted. Of equally wide ranges, the lowest is returned: it answers more queries.
    """
    steps = _steps(answerable, unanswerable)
    # J is computed in integers, so that equal values compare as equal.
    right = _count_reaching(answerable, steps) * len(unanswerable)
    wrong = _count_reaching(unanswerable, steps) * len(answerable)
    youden = right - wrong
    best = np.flatnonzero(youden == youden.max())
    runs = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)
    ranges = [(float(steps[max(run[0] - 1, 0)]), float(steps[run[-1]])) for run in runs]
    return max(ranges, key=lambda ends: ends[1] - ends[0])


def auc(answerable: Column, unanswerable: Column) -> float:
    """Return how often a score of the first column is above one of the second; a tie counts half.

    Both columns must be sorted.
    """
    below = np.searchsorted(unanswerable, answerable, side="left")
    not_above = np.searchsorted(unanswerable, answerable, side="right")
    return float((below + not_above).sum() / (2 * len(answerable) * len(unanswerable)))


def _require_both_kinds(queries: Sequence[GoldenQuery], left_out: Mapping[str, str]) -> None:
    for answerable, kind in ((True, "with an answer"), (False, "without an answer (`answerable: false`)")):
        if not any(query.answerable is answerable for query in queries):
            cause = "".join(f"; {name}: {reason}" for name, reason in list(left_out.items())[:1])
            raise InvalidInput(
                "golden", f"a threshold needs scores of queries {kind}, and there are none{cause}"
            )


def _collect_scores(
    golden: GoldenSet, answered: Sequence[QueryOutcome], resolved: Mapping[str, ResolvedQuery]
) -> BestScores:
    answerable = [outcome for outcome in answered if outcome.query.answerable]
    labeled = [outcome for outcome in answerable if _relevant_ids(resolved[outcome.query.id])]
    return BestScores(
        _sort_scores([_best_score(outcome.results) for outcome in answerable]),
        _sort_scores(
            [_best_score(_relevant_hits(outcome, golden, resolved[outcome.query.id])) for outcome in labeled]
        ),
        _sort_scores([_best_score(outcome.results) for outcome in answered if not outcome.query.answerable]),
    )


def _best_score(hits: Sequence[Hit]) -> float:
    return max((hit.score for hit in hits), default=NOTHING)


def _relevant_hits(outcome: QueryOutcome, golden: GoldenSet, resolved: ResolvedQuery) -> list[Hit]:
    relevant = _relevant_ids(resolved)
    names = result_ids(outcome.results, golden.unit)
    return [hit for hit, name in zip(outcome.results, names, strict=True) if name in relevant]


def _relevant_ids(resolved: ResolvedQuery) -> set[str]:
    return {name for name, grade in resolved.judgments.items() if grade >= RELEVANT}


def _sort_scores(scores: Sequence[float]) -> Column:
    column = np.sort(np.array(scores, dtype=np.float64))
    if not ((column == NOTHING) | ((column >= 0.0) & (column <= 1.0))).all():
        raise InvalidInput("score", "must be between 0.0 and 1.0; run `pertinent doctor` to find the cause")
    return column


def _steps(*scores: Column) -> Column:
    """Return every threshold at which a share changes, with 0 and 1."""
    scores_and_ends: Column = np.unique(np.concatenate([*scores, [0.0, 1.0]]))
    return scores_and_ends[scores_and_ends >= 0.0]


def _count_reaching(scores: Column, thresholds: Column) -> Counts:
    """Count the sorted scores that are at or above each threshold."""
    return len(scores) - np.searchsorted(scores, thresholds, side="left")


def _list_points(scores: BestScores, thresholds: Sequence[float]) -> list[ThresholdPoint]:
    levels = np.array(thresholds)
    answered = _count_reaching(scores.answerable, levels) / len(scores.answerable)
    relevant_shares = _count_reaching(scores.relevant, levels) / max(1, len(scores.relevant))
    false_answers = _count_reaching(scores.unanswerable, levels) / len(scores.unanswerable)
    return [
        ThresholdPoint(
            threshold=threshold,
            answered=right,
            kept=relevant if len(scores.relevant) else None,
            false_answers=wrong,
            youden=right - wrong,
            balanced_accuracy=(1 + right - wrong) / 2,
        )
        for threshold, right, relevant, wrong in zip(
            levels.tolist(), answered.tolist(), relevant_shares.tolist(), false_answers.tolist(), strict=True
        )
    ]


def _middle(low: float, high: float) -> float:
    """Return the middle, or the upper end where rounding would give the lower one, which is outside."""
    middle = (low + high) / 2
    return middle if middle > low else high


def _round_within(low: float, high: float) -> float:
    """Round the middle to as few decimals as stay within the range."""
    middle = _middle(low, high)
    candidates = (round(middle, decimals) for decimals in DECIMALS)
    return next((candidate for candidate in candidates if low < candidate <= high), middle)


def _bootstrap_interval(scores: BestScores, seed: int, resamples: int) -> tuple[float, float]:
    """Return the 95 % interval of the threshold over resamples of the queries of each kind."""
    random = np.random.default_rng(seed)

    def resample(column: Column) -> Column:
        return np.sort(random.choice(column, len(column)))

    thresholds = [
        _middle(*best_plateau(resample(scores.answerable), resample(scores.unanswerable)))
        for _ in range(resamples)
    ]
    low, high = np.quantile(thresholds, ENDS, method=METHOD)
    return float(low), float(high)


def _warn_few(scores: BestScores) -> list[str]:
    kinds = (("an answer", scores.answerable), ("no answer", scores.unanswerable))
    return [
        f"only {format_count(len(column), 'query has', 'queries have')} {kind}: one more or less changes its "
        f"share by {1 / len(column):.0%}; use at least {FEW}, better 30"
        for kind, column in kinds
        if len(column) < FEW
    ]


def _warn_overlap(proposed: ThresholdPoint) -> list[str]:
    if proposed.youden >= SEPARATED:
        return []
    return [
        "the scores of queries with and without an answer overlap so much that no threshold separates them: "
        f"the best has a balanced accuracy of {proposed.balanced_accuracy:.0%}, and chance has 50%"
    ]


def _warn_failed(unanswered: Sequence[QueryOutcome]) -> list[str]:
    failed = [outcome.query.id for outcome in unanswered if outcome.error]
    return [f"these searches failed and are left out: {format_list(failed, MAX_NAMED)}"] if failed else []
