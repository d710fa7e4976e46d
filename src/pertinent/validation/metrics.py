"""Measures of retrieval quality, computed from rankings and labels.

A measure has the name that the literature gives it, such as `ndcg@10`: a family, and the rank at which it
cuts the list. Queries are rows and ranks are columns, so that thousands of queries are measured at once.
`labels` are the grades of results: 0 means judged and not relevant, none means unjudged. A query without
results scores 0.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput

RELEVANT = 1
"""The lowest grade that counts as relevant."""

FULL = 2
"""The grade of a full answer, and the highest there is."""

UNJUDGED = -1
"""The entry of a result without a label, and of a rank beyond the end of the list."""

NO_CUTOFF = sys.maxsize
"""A cutoff beyond the end of every list."""

MEASURES = (
    *("p@3", "p@5", "p@10"),
    *("rr", "rr_full", "rr_best", "rr@10"),
    *("ndcg@5", "ndcg@10", "map"),
    *("recall@5", "recall@10", "recall@100", "rcap@5"),
    *("success@1", "success@5", "success@10"),
    *("judged@5", "judged@10"),
)
"""The measures of every run that a ranking suffices for."""

SPAN_RECALL = "span_recall@5"
"""A further measure of every run; it needs the spans of the results, not only their order."""

Column = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
PageSpan = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class LabeledRankings:
    """The grades of ranked results, one query to a row, and the number of labels of each query."""

    labels: NDArray[np.int8]
    retrieved: Counts
    relevant: Counts
    full: Counts

    @classmethod
    def from_judgments(
        cls, rankings: Sequence[Iterable[str]], judgments: Sequence[Mapping[str, int]]
    ) -> LabeledRankings:
        """Look up the grade of each result; an id that is listed twice counts at its first rank.

        Args:
            rankings: The ids of the results of each query, best first.
            judgments: The grades of each query by id.
        """
        _check_labels(judgments)
        rows = [
            [labels.get(name, UNJUDGED) for name in dict.fromkeys(ranking)]
            for ranking, labels in zip(rankings, judgments, strict=True)
        ]
        retrieved = np.array([len(row) for row in rows], dtype=np.int64)
        labels = np.full((len(rows), retrieved.max(initial=1)), UNJUDGED, dtype=np.int8)
        filled = np.arange(labels.shape[1]) < retrieved[:, None]
        labels[filled] = np.fromiter(chain.from_iterable(rows), dtype=np.int8)
        return cls(labels, retrieved, _count_labels(judgments, RELEVANT), _count_labels(judgments, FULL))

    def hits(self, k: int) -> Counts:
        """Count the relevant results among the first k of each query."""
        return _count_true(self.labels[:, :k] >= RELEVANT)


def precision(judged: LabeledRankings, k: int) -> Column:
    """Relevant results in the first k, divided by k even where fewer were retrieved."""
    return judged.hits(k) / k


def recall(judged: LabeledRankings, k: int) -> Column:
    """The share of all relevant results that are in the first k."""
    return _share(judged.hits(k), judged.relevant)


def capped_recall(judged: LabeledRankings, k: int) -> Column:
    """Recall, but a query with more than k relevant results can reach 1 too."""
    return _share(judged.hits(k), np.minimum(judged.relevant, k))


def success(judged: LabeledRankings, k: int) -> Column:
    """Whether any of the first k is relevant."""
    return (judged.hits(k) > 0).astype(np.float64)


def judged_share(judged: LabeledRankings, k: int) -> Column:
    """The share of the first k results that have a label."""
    labeled = _count_true(judged.labels[:, :k] != UNJUDGED)
    return _share(labeled, np.minimum(judged.retrieved, k))


def reciprocal_rank(judged: LabeledRankings, k: int) -> Column:
    """One divided by the rank of the first relevant result."""
    return _reciprocal_of_first(judged.labels[:, :k] >= RELEVANT)


def reciprocal_rank_full(judged: LabeledRankings, k: int) -> Column:
    """One divided by the rank of the first full answer."""
    return _reciprocal_of_first(judged.labels[:, :k] >= FULL)


def reciprocal_rank_best(judged: LabeledRankings, k: int) -> Column:
    """One divided by the rank of the first result with the highest grade among the first k."""
    labels = judged.labels[:, :k]
    highest = labels.max(axis=1, initial=RELEVANT)
    return _reciprocal_of_first(labels == highest[:, None])


def average_precision(judged: LabeledRankings, k: int) -> Column:
    """The mean, over all relevant results, of the precision at the rank of each."""
    relevant = judged.labels[:, :k] >= RELEVANT
    precisions = np.cumsum(relevant, axis=1) / np.arange(1, relevant.shape[1] + 1)
    return _share(_sum_rows(precisions * relevant), judged.relevant)


def ndcg(judged: LabeledRankings, k: int) -> Column:
    """Discounted gain with the grades as gains, divided by that of the best list that the labels allow."""
    ranks = np.arange(min(k, judged.relevant.max(initial=1)))
    ideal = (ranks < judged.relevant[:, None]).astype(np.int8) + (ranks < judged.full[:, None])
    return _share(_discounted_gain(judged.labels[:, :k].clip(min=0)), _discounted_gain(ideal))


FAMILIES: dict[str, Callable[[LabeledRankings, int], Column]] = {
    "p": precision,
    "recall": recall,
    "rcap": capped_recall,
    "success": success,
    "judged": judged_share,
    "rr": reciprocal_rank,
    "rr_full": reciprocal_rank_full,
    "rr_best": reciprocal_rank_best,
    "map": average_precision,
    "ndcg": ndcg,
}

WITHOUT_CUTOFF = {"rr", "rr_full", "rr_best", "map", "ndcg"}
"""The families that are defined without a cutoff."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A family of measures and its cutoff.

    Examples:
        >>> Measure.parse("ndcg@10")
        Measure(family='ndcg', cutoff=10)
    """

    family: str
    cutoff: int = NO_CUTOFF

    @classmethod
    def parse(cls, name: str) -> Measure:
        """Parse a name such as `p@7`; the error for an unknown name lists the measures."""
        parts = re.fullmatch(r"([a-z_]+)(?:@([1-9][0-9]{0,5}))?", name)
        family, cutoff = parts.groups() if parts else ("", None)
        if family not in FAMILIES:
            names = ", ".join((*MEASURES, SPAN_RECALL))
            raise InvalidInput(
                "measure", f"{name!r} is unknown; use one of {names}; most of them with any cutoff"
            )
        if cutoff is None and family not in WITHOUT_CUTOFF:
            raise InvalidInput("measure", f"{name!r} needs a cutoff, such as {family}@5")
        return cls(family, int(cutoff or NO_CUTOFF))

    def compute(self, judged: LabeledRankings) -> Column:
        """Compute the value of each query."""
        return FAMILIES[self.family](judged, self.cutoff)


def check_measure(name: str) -> None:
    """Raise an error that lists the measures where the name is unknown."""
    if name != SPAN_RECALL:
        Measure.parse(name)


def evaluate_all(
    rankings: Sequence[Sequence[str]],
    judgments: Sequence[Mapping[str, int]],
    measures: Sequence[str] = MEASURES,
) -> dict[str, Column]:
    """Compute measures by name: each is a column with the value of every query."""
    judged = LabeledRankings.from_judgments(rankings, judgments)
    return {name: Measure.parse(name).compute(judged) for name in measures}


def precision_at_k(labels: Sequence[int | None], k: int) -> float:
    """Return seed 000's P@k: relevant results in the first k, divided by k. None means unjudged."""
    return sum(label is not None and label >= RELEVANT for label in labels[:k]) / k


def rank_of_best(labels: Sequence[int | None]) -> int | None:
    """Return the rank of the first result with the highest grade; None where none is relevant (seed 000)."""
    highest = max((label or 0 for label in labels), default=0)
    return labels.index(highest) + 1 if highest >= RELEVANT else None


def rank_of_first_relevant(labels: Sequence[int | None]) -> int | None:
    """Return the rank of the first relevant result; None where none is relevant."""
    return next((rank for rank, label in enumerate(labels, start=1) if (label or 0) >= RELEVANT), None)


def mean_reciprocal_rank(ranks: Sequence[int | None]) -> float:
    """Return seed 000's MRR: a query without a rank counts as 0; 0 where there are no queries."""
    return sum(1.0 / rank if rank else 0.0 for rank in ranks) / len(ranks) if ranks else 0.0


def median_grade(grades: Iterable[int]) -> int:
    """Combine the grades of several judges: the lower median."""
    ordered = sorted(grades)
    return ordered[(len(ordered) - 1) // 2]


def ceiling(judgments: Mapping[str, int], k: int) -> float:
    """Return the highest P@k that any ranking can reach with these labels."""
    return min(k, sum(label >= RELEVANT for label in judgments.values())) / k


def span_recall(labeled: Sequence[PageSpan], retrieved: Sequence[PageSpan]) -> float:
    """Return the share of the labelled characters that were retrieved; 0 where none is labelled.

    A span is a page, its first character and the one after its last. Each character counts once, however
    many spans cover it.
    """
    length = _covered_length(labeled)
    covered = length + _covered_length(retrieved) - _covered_length([*labeled, *retrieved])
    return covered / length if length else 0.0


def overlap(first: Sequence[str], second: Sequence[str], k: int = 3) -> float:
    """Return the share of the first k results that two lists have in common, in any order.

    It is a share of k, or of the longer list where both are shorter; that of two empty lists is 0.
    """
    first_ids, second_ids = ({*list(dict.fromkeys(ids))[:k]} for ids in (first, second))
    return len(first_ids & second_ids) / max(1, len(first_ids), len(second_ids))


def group_overlap(lists: Sequence[Sequence[str]], k: int = 3) -> float | None:
    """Return the mean overlap of all pairs of lists; None where there are fewer than two lists."""
    shares = [overlap(first, second, k) for first, second in combinations(lists, 2)]
    return sum(shares) / len(shares) if shares else None


def _check_labels(judgments: Sequence[Mapping[str, int]]) -> None:
    invalid = {label for labels in judgments for label in labels.values()} - {*range(FULL + 1)}
    if invalid:
        raise InvalidInput("judgments", f"a label is 0, 1 or 2, not {invalid.pop()!r}")


def _count_labels(judgments: Sequence[Mapping[str, int]], lowest: int) -> Counts:
    """Count the labels of each query that are at least `lowest`."""
    counts = [sum(label >= lowest for label in labels.values()) for labels in judgments]
    return np.array(counts, dtype=np.int64)


def _count_true(flags: Flags) -> Counts:
    """Count the true values of each row."""
    counts: Counts = np.count_nonzero(flags, axis=1)
    return counts


def _share(part: Counts | Column, total: Counts | Column) -> Column:
    """Divide the first by the second; 0 where the second is 0."""
    return np.divide(part, total, out=np.zeros(len(total)), where=total > 0)


def _reciprocal_of_first(flags: Flags) -> Column:
    """Return one divided by the rank of the first true value of each row; 0 where there is none."""
    return np.where(flags.any(axis=1), 1 / (flags.argmax(axis=1) + 1), 0.0)


def _discounted_gain(gains: NDArray[np.int8]) -> Column:
    return _sum_rows(gains / np.log2(np.arange(2, gains.shape[1] + 2)))


def _sum_rows(values: Column) -> Column:
    """Sum each row from left to right, so that the result does not depend on the width of the table."""
    return np.cumsum(values, axis=1)[:, -1]


def _covered_length(spans: Iterable[PageSpan]) -> int:
    """Count the characters that the spans cover together."""
    total, page, reached = 0, None, 0
    for name, start, end in sorted(spans):
        if name != page:
            page, reached = name, start
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total
