"""What figures can be trusted for: percentiles, intervals, tests of a difference, agreement.

Everything that draws at random is seeded, so the same figures give the same report.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidInput

Column = NDArray[np.float64]
Method = Literal["linear"]
Weights = Literal["quadratic", "linear"]

METHOD: Method = "linear"
"""How numpy is to place a percentile between two values."""

BLOCK = 1_000_000
"""How many numbers are drawn at once: memory stays small, however many queries there are."""

EXACT = 14
"""Up to how many differences every combination of signs is tried."""

ROUNDING = 1e-10
"""How far apart two sums may be, as a share of what was added, and still count as equal."""

Z_95 = 1.959964
"""Within how many standard deviations of the mean 95 % of a normal distribution lie."""

Z_80 = 0.841621
"""Below how many standard deviations over the mean 80 % of a normal distribution lie."""

SPREAD = 0.34
"""The standard deviation that a measure usually has over queries: 20 of them give about ±0.15."""

PAIRED_SPREAD = 0.2
"""The standard deviation that the difference of two runs usually has over queries."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """Times in milliseconds in short, and how the percentiles were interpolated."""

    n: int
    mean: float
    p50: float
    p95: float
    p99: float
    max: float
    method: Method = METHOD


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean of n values, and between what it may well lie."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two judges agree beyond chance over n pairs of labels; 1 is fully, 0 is as chance would.

    None where that is not defined: there are no pairs, or both gave one and the same label throughout,
    which chance explains as well as care.
    """

    kappa: float | None
    n: int


def latency_summary(milliseconds: ArrayLike) -> Latencies | None:
    """The times in short; None where none were taken."""
    times = _column(milliseconds)
    if not times.size:
        return None
    p50, p95, p99 = np.percentile(times, [50, 95, 99], method=METHOD).tolist()
    return Latencies(
        n=times.size,
        mean=float(times.mean()),
        p50=p50,
        p95=p95,
        p99=p99,
        max=float(times.max()),
    )


def intervals(
    table: Mapping[str, ArrayLike], seed: int = 0, resamples: int = 2000, confidence: float = 0.95
) -> dict[str, Interval]:
    """The mean of each column with its percentile bootstrap interval; nothing for a table without rows.

    Whole rows are drawn, so the columns share the drawing, and must be of one length.
    """
    rows = _rows(table)
    if not rows.size:
        return {}
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(_resampled_means(rows, seed, resamples), ends, axis=0, method=METHOD)
    means = _within(rows, rows.mean(axis=0))
    return {
        name: Interval(float(means[place]), float(low[place]), float(high[place]), len(rows))
        for place, name in enumerate(table)
    }


def wilson(hits: int, n: int) -> Interval:
    """The share of hits among n, and Wilson's 95 % interval: it has a width also where all are hits, or none.

    The bootstrap of values that are all the same can only draw that value.
    """
    share, weight = hits / n, Z_95**2 / n
    middle = (share + weight / 2) / (1 + weight)
    reach = Z_95 / (1 + weight) * math.sqrt(share * (1 - share) / n + weight / (4 * n))
    # Rounding must not carry an end past the share itself.
    return Interval(share, min(share, max(0.0, middle - reach)), max(share, min(1.0, middle + reach)), n)


def permutation_test(differences: ArrayLike, seed: int = 0, resamples: int = 9999) -> float:
    """How likely a mean difference this far from 0 is if the two runs were as good as each other.

    The signs of the paired differences are flipped: in every way for few of them, at random for many,
    where what was observed counts as one more draw. 1 where nothing differs.
    """
    changed = _column(differences)
    changed = changed[changed != 0]
    if not changed.size:
        return 1.0
    limit = abs(changed.sum()) - ROUNDING * np.abs(changed).sum()
    exact = changed.size <= EXACT
    signs = _every_sign(changed.size) if exact else _some_signs(changed.size, resamples, seed)
    # Flipping the chosen ones takes them away twice.
    sums = (changed.sum() - 2 * (flipped @ changed) for flipped in signs)
    extreme = sum(int(np.count_nonzero(np.abs(some) >= limit)) for some in sums)
    return float(extreme / 2**changed.size if exact else (extreme + 1) / (resamples + 1))


def weighted_kappa(
    first: Sequence[int], second: Sequence[int], categories: int = 3, weights: Weights = "quadratic"
) -> Agreement:
    """Cohen's kappa of two judges' labels; the further apart two labels, the more a pair counts."""
    if len(first) != len(second):
        raise InvalidInput("labels", f"must come in pairs, but there are {len(first)} and {len(second)}")
    if not {*first, *second} <= {*range(categories)}:
        raise InvalidInput("labels", f"must be between 0 and {categories - 1}")
    pairs = np.zeros((categories, categories), dtype=np.int64)
    np.add.at(pairs, (np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)), 1)
    apart = np.abs(np.subtract.outer(np.arange(categories), np.arange(categories)))
    weight = apart**2 if weights == "quadratic" else apart
    by_chance = int((weight * np.outer(pairs.sum(axis=1), pairs.sum(axis=0))).sum())
    observed = int((weight * pairs).sum()) * len(first)
    return Agreement(1 - observed / by_chance if by_chance else None, len(first))


def half_width(n: int, sd: float = SPREAD) -> float:
    """By how much a mean of n values in [0, 1] may be off either way, with 95 % confidence; at most 1."""
    return min(1.0, Z_95 * sd / math.sqrt(n)) if n else 1.0


def _column(values: ArrayLike) -> Column:
    column = np.asarray(values, dtype=np.float64)
    if not np.isfinite(column).all():
        raise InvalidInput("values", "hold one that is not a finite number")
    return column


def _rows(table: Mapping[str, ArrayLike]) -> Column:
    """The columns of the table side by side."""
    columns = [_column(column) for column in table.values()]
    if len({len(column) for column in columns}) > 1:
        raise InvalidInput("table", "has columns of different lengths")
    return np.column_stack(columns) if columns else np.empty((0, 0))


def _resampled_means(rows: Column, seed: int, resamples: int) -> Column:
    """The mean of each column, for each resample of the rows."""
    sums = [drawn @ rows for drawn in _draws(len(rows), resamples, seed)]
    return _within(rows, np.concatenate(sums) / len(rows))


def _within(rows: Column, means: Column) -> Column:
    """The means, none of them carried by rounding past the values that it is the mean of."""
    return means.clip(rows.min(axis=0), rows.max(axis=0))


def _sizes(rows: int, width: int) -> Iterator[int]:
    """The rows in parts, each of about a block of numbers."""
    most = max(1, BLOCK // width)
    for start in range(0, rows, most):
        yield min(most, rows - start)


def _draws(n: int, resamples: int, seed: int) -> Iterator[Column]:
    """How often each of n rows was drawn, a resample a row, block by block."""
    random = np.random.default_rng(seed)
    for rows in _sizes(resamples, n):
        drawn = random.integers(0, n, size=(rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def _every_sign(n: int) -> Iterator[Column]:
    """Every way to choose among n, as one block."""
    yield (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)


def _some_signs(n: int, resamples: int, seed: int) -> Iterator[Column]:
    """Ways to choose among n at random, block by block."""
    random = np.random.default_rng(seed)
    for rows in _sizes(resamples, n):
        packed = random.integers(0, 256, size=(rows, -(-n // 8)), dtype=np.uint8)
        yield np.unpackbits(packed, axis=1, count=n).astype(np.float64)
