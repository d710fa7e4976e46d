"""Measures: how good a ranking is, given what people said about its results.

A measure is called by its name in the literature, `ndcg@10`: a family, and where it cuts the list.
Queries are rows and places are columns, so that ten thousand queries are measured at once. Label 0 is
judged and irrelevant; no label is unjudged. A query without results scores 0 and is never dropped.
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
"""The lowest label that counts as an answer."""

FULL = 2
"""The label of a full answer, and the highest there is."""

UNJUDGED = -1
"""What stands in a row where nobody gave a label, or where the list has ended."""

WHOLE = sys.maxsize
"""A cutoff beyond every list."""

MEASURES = (
    *("p@3", "p@5", "p@10"),
    *("rr", "rr_full", "rr_best", "rr@10"),
    *("ndcg@5", "ndcg@10", "map"),
    *("recall@5", "recall@10", "recall@100", "rcap@5"),
    *("success@1", "success@5", "success@10"),
    *("judged@5", "judged@10"),
)
"""What every run is measured by, and can be read off a ranking."""

SPAN_RECALL = "span_recall@5"
"""What every run is measured by too; it needs the places of the results, not only their order."""

Column = NDArray[np.float64]
Counts = NDArray[np.int64]
Found = NDArray[np.bool_]
Span = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Judged:
    """Rankings as the labels of their results, a query a row, and how many labels each query has."""

    labels: NDArray[np.int8]
    retrieved: Counts
    relevant: Counts
    full: Counts

    @classmethod
    def of(cls, rankings: Sequence[Iterable[str]], judgments: Sequence[Mapping[str, int]]) -> Judged:
        """The rankings as labels; an id that is listed twice counts at its first place."""
        _check_labels(judgments)
        rows = [
            [given.get(one, UNJUDGED) for one in dict.fromkeys(ranking)]
            for ranking, given in zip(rankings, judgments, strict=True)
        ]
        retrieved = np.array([len(row) for row in rows], dtype=np.int64)
        labels = np.full((len(rows), retrieved.max(initial=1)), UNJUDGED, dtype=np.int8)
        listed = np.arange(labels.shape[1]) < retrieved[:, None]
        labels[listed] = np.fromiter(chain.from_iterable(rows), dtype=np.int8)
        return cls(labels, retrieved, _count(judgments, RELEVANT), _count(judgments, FULL))

    def hits(self, k: int) -> Counts:
        """How many of the first k results are relevant."""
        return _true(self.labels[:, :k] >= RELEVANT)


def precision(judged: Judged, k: int) -> Column:
    """Relevant results in the first k, divided by k: also where fewer were retrieved."""
    return judged.hits(k) / k


def recall(judged: Judged, k: int) -> Column:
    """The share of all relevant results that the first k hold."""
    return _share(judged.hits(k), judged.relevant)


def capped_recall(judged: Judged, k: int) -> Column:
    """Recall, where a query with more than k answers can reach 1 too."""
    return _share(judged.hits(k), np.minimum(judged.relevant, k))


def success(judged: Judged, k: int) -> Column:
    """Whether any of the first k is relevant."""
    return (judged.hits(k) > 0).astype(np.float64)


def judged_share(judged: Judged, k: int) -> Column:
    """The share of the first k results that has a label at all."""
    labelled = _true(judged.labels[:, :k] != UNJUDGED)
    return _share(labelled, np.minimum(judged.retrieved, k))


def reciprocal_rank(judged: Judged, k: int) -> Column:
    """One divided by the rank of the first relevant result."""
    return _first(judged.labels[:, :k] >= RELEVANT)


def reciprocal_rank_full(judged: Judged, k: int) -> Column:
    """One divided by the rank of the first full answer."""
    return _first(judged.labels[:, :k] >= FULL)


def reciprocal_rank_best(judged: Judged, k: int) -> Column:
    """One divided by the rank of the first result with the highest label among the first k."""
    labels = judged.labels[:, :k]
    highest = labels.max(axis=1, initial=RELEVANT)
    return _first(labels == highest[:, None])


def average_precision(judged: Judged, k: int) -> Column:
    """The mean, over all relevant results, of the precision at the rank of each."""
    found = judged.labels[:, :k] >= RELEVANT
    precisions = np.cumsum(found, axis=1) / np.arange(1, found.shape[1] + 1)
    return _share(_added(precisions * found), judged.relevant)


def ndcg(judged: Judged, k: int) -> Column:
    """Discounted gain with the labels as gains, beside that of the best list that all labels allow."""
    places = np.arange(min(k, judged.relevant.max(initial=1)))
    ideal = (places < judged.relevant[:, None]).astype(np.int8) + (places < judged.full[:, None])
    return _share(_discounted(judged.labels[:, :k].clip(min=0)), _discounted(ideal))


FAMILIES: dict[str, Callable[[Judged, int], Column]] = {
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
"""The families that mean something over the whole list."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A family of measures and where it cuts the list."""

    family: str
    cutoff: int = WHOLE

    @classmethod
    def parse(cls, name: str) -> Measure:
        """The measure of a name such as `p@7`, or an error that says which there are."""
        parts = re.fullmatch(r"([a-z_]+)(?:@([1-9][0-9]{0,5}))?", name)
        family, cutoff = parts.groups() if parts else ("", None)
        if family not in FAMILIES:
            known = ", ".join((*MEASURES, SPAN_RECALL))
            raise InvalidInput(
                "measure", f"{name!r} is not known; there are {known}, and most with another cutoff too"
            )
        if cutoff is None and family not in WITHOUT_CUTOFF:
            raise InvalidInput("measure", f"{name!r} needs a cutoff, such as {family}@5")
        return cls(family, int(cutoff or WHOLE))

    def of(self, judged: Judged) -> Column:
        """The value for each query."""
        return FAMILIES[self.family](judged, self.cutoff)


def check_measure(name: str) -> None:
    """Refuse what is no measure, with those that there are."""
    if name != SPAN_RECALL:
        Measure.parse(name)


def evaluate_all(
    rankings: Sequence[Sequence[str]],
    judgments: Sequence[Mapping[str, int]],
    measures: Sequence[str] = MEASURES,
) -> dict[str, Column]:
    """The measures of many queries, by name: a column each, with a value for every query."""
    judged = Judged.of(rankings, judgments)
    return {name: Measure.parse(name).of(judged) for name in measures}


def precision_at_k(labels: Sequence[int | None], k: int) -> float:
    """Seed 000's P@k: relevant results in the first k, divided by k. None is unjudged."""
    return sum(label is not None and label >= RELEVANT for label in labels[:k]) / k


def rank_of_best(labels: Sequence[int | None]) -> int | None:
    """Seed 000's: the rank of the first result with the highest label; None where none is relevant."""
    highest = max((label or 0 for label in labels), default=0)
    return labels.index(highest) + 1 if highest >= RELEVANT else None


def rank_of_first_relevant(labels: Sequence[int | None]) -> int | None:
    """The rank of the first relevant result; None where none is relevant."""
    return next((rank for rank, label in enumerate(labels, start=1) if (label or 0) >= RELEVANT), None)


def mean_reciprocal_rank(ranks: Sequence[int | None]) -> float:
    """Seed 000's MRR: a query without a rank counts 0; 0 where there are no queries."""
    return sum(1.0 / rank if rank else 0.0 for rank in ranks) / len(ranks) if ranks else 0.0


def median_grade(grades: Iterable[int]) -> int:
    """The grade that several judges give together: the lower median."""
    ordered = sorted(grades)
    return ordered[(len(ordered) - 1) // 2]


def ceiling(judgments: Mapping[str, int], k: int) -> float:
    """The highest P@k that any ranking can reach with these labels."""
    return min(k, sum(label >= RELEVANT for label in judgments.values())) / k


def span_recall(wanted: Sequence[Span], found: Sequence[Span]) -> float:
    """The share of the wanted characters that was found; a character counts once, however often it is.

    A span is a page, its first character and the one after its last. Where nothing is wanted it is 0,
    as recall is.
    """
    length = _length(wanted)
    covered = length + _length(found) - _length([*wanted, *found])
    return covered / length if length else 0.0


def overlap(first: Sequence[str], second: Sequence[str], k: int = 3) -> float:
    """The share of the first k results that two lists have in common, in any order.

    It is a share of k, or of the longer list where both are shorter; two empty lists have nothing in
    common.
    """
    one, other = ({*list(dict.fromkeys(ids))[:k]} for ids in (first, second))
    return len(one & other) / max(1, len(one), len(other))


def group_overlap(lists: Sequence[Sequence[str]], k: int = 3) -> float | None:
    """The mean overlap of every two lists of a paraphrase group; None where there are not two."""
    shares = [overlap(one, other, k) for one, other in combinations(lists, 2)]
    return sum(shares) / len(shares) if shares else None


def _check_labels(judgments: Sequence[Mapping[str, int]]) -> None:
    strange = {label for given in judgments for label in given.values()} - {*range(FULL + 1)}
    if strange:
        raise InvalidInput("judgments", f"a label is 0, 1 or 2, not {strange.pop()!r}")


def _count(judgments: Sequence[Mapping[str, int]], lowest: int) -> Counts:
    """How many labels of each query are at least `lowest`."""
    return np.array([sum(label >= lowest for label in given.values()) for given in judgments], dtype=np.int64)


def _true(found: Found) -> Counts:
    """How many of each row are true."""
    counts: Counts = np.count_nonzero(found, axis=1)
    return counts


def _share(part: Counts | Column, whole: Counts | Column) -> Column:
    """One divided by the other; 0 where there is nothing to have a share of."""
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)


def _first(found: Found) -> Column:
    """One divided by the rank of the first that is true in each row, 0 where none is."""
    return np.where(found.any(axis=1), 1 / (found.argmax(axis=1) + 1), 0.0)


def _discounted(gains: NDArray[np.int8]) -> Column:
    return _added(gains / np.log2(np.arange(2, gains.shape[1] + 2)))


def _added(values: Column) -> Column:
    """The sum of each row, from left to right: so a row's sum does not depend on how wide the table is."""
    return np.cumsum(values, axis=1)[:, -1]


def _length(spans: Iterable[Span]) -> int:
    """How many characters the spans cover together."""
    total, page, reached = 0, None, 0
    for name, start, end in sorted(spans):
        if name != page:
            page, reached = name, start
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total
