"""Statistics: percentiles, confidence intervals, tests of a difference, agreement of judges.

Every random draw is seeded, so the same values give the same report.
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
"""How numpy interpolates a percentile between two values."""

BLOCK = 1_000_000
"""How many numbers are drawn at once: it bounds the memory, however many queries there are."""

EXACT = 14
"""Up to this number of differences, every combination of signs is tried."""

ROUNDING = 1e-10
"""The relative difference below which two sums count as equal."""

Z_95 = 1.959964
"""The number of standard deviations around the mean that cover 95 % of a normal distribution."""

Z_80 = 0.841621
"""The number of standard deviations above the mean below which 80 % of a normal distribution lie."""

SPREAD = 0.34
"""A typical standard deviation of a measure over queries: 20 queries give about ±0.15."""

PAIRED_SPREAD = 0.2
"""A typical standard deviation over queries of the difference between two runs."""


@dataclass(frozen=True, slots=True)
class LatencySummary:
    """A summary of latencies in milliseconds, and the interpolation of its percentiles."""

    n: int
    mean: float
    p50: float
    p95: float
    p99: float
    max: float
    method: Method = METHOD


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean of n values with its confidence interval."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Cohen's kappa of two judges over n pairs of grades: 1 is full agreement, 0 is that of chance.

    None where kappa is not defined: there are no pairs, or both judges gave the same grade throughout.
    """

    kappa: float | None
    n: int


def latency_summary(milliseconds: ArrayLike) -> LatencySummary | None:
    """Summarise latencies; None where there are none."""
    times = _column(milliseconds)
    if not times.size:
        return None
    p50, p95, p99 = np.percentile(times, [50, 95, 99], method=METHOD).tolist()
    return LatencySummary(
        n=times.size, mean=float(times.mean()), p50=p50, p95=p95, p99=p99, max=float(times.max())
    )


def intervals(
    table: Mapping[str, ArrayLike], seed: int = 0, resamples: int = 2000, confidence: float = 0.95
) -> dict[str, Interval]:
    """Compute the mean of each column with its percentile bootstrap interval; empty without rows.

    Args:
        table: Columns of values by name; all must have the same length, since whole rows are drawn.
        seed: The seed of the draws.
        resamples: The number of resamples.
        confidence: The confidence of the interval.
    """
    rows = _rows(table)
    if not rows.size:
        return {}
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(_resampled_means(rows, seed, resamples), ends, axis=0, method=METHOD)
    means = _clip_to_range(rows, rows.mean(axis=0))
    return {
        name: Interval(float(means[index]), float(low[index]), float(high[index]), len(rows))
        for index, name in enumerate(table)
    }


def wilson_interval(hits: int, n: int) -> Interval:
    """Compute the share of hits among n with its Wilson 95 % interval.

    Unlike the bootstrap, it has a width even where all are hits, or none.
    """
    share, weight = hits / n, Z_95**2 / n
    middle = (share + weight / 2) / (1 + weight)
    reach = Z_95 / (1 + weight) * math.sqrt(share * (1 - share) / n + weight / (4 * n))
    # Rounding must not move an end past the share itself.
    return Interval(share, min(share, max(0.0, middle - reach)), max(share, min(1.0, middle + reach)), n)


def permutation_test(differences: ArrayLike, seed: int = 0, resamples: int = 9999) -> float:
    """Return the p-value of the mean of paired differences, by flipping their signs.

    Every combination of signs is tried for few differences. For many, signs are drawn at random, and the
    observed combination counts as one more draw. The p value is 1 where nothing differs.
    """
    changed = _column(differences)
    changed = changed[changed != 0]
    if not changed.size:
        return 1.0
    limit = abs(changed.sum()) - ROUNDING * np.abs(changed).sum()
    exact = changed.size <= EXACT
    signs = _all_signs(changed.size) if exact else _random_signs(changed.size, resamples, seed)
    # Flipping the sign of a value lowers the sum by twice the value.
    sums = (changed.sum() - 2 * (flipped @ changed) for flipped in signs)
    extreme = sum(int(np.count_nonzero(np.abs(batch) >= limit)) for batch in sums)
    return float(extreme / 2**changed.size if exact else (extreme + 1) / (resamples + 1))


def weighted_kappa(
    first: Sequence[int], second: Sequence[int], categories: int = 3, weights: Weights = "quadratic"
) -> Agreement:
    """Compute Cohen's weighted kappa of two judges; a larger difference of two grades counts more."""
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
    """Return the half-width of the 95 % interval of a mean of n values in [0, 1]; at most 1."""
    return min(1.0, Z_95 * sd / math.sqrt(n)) if n else 1.0


def _column(values: ArrayLike) -> Column:
    column = np.asarray(values, dtype=np.float64)
    if not np.isfinite(column).all():
        raise InvalidInput("values", "must all be finite numbers")
    return column


def _rows(table: Mapping[str, ArrayLike]) -> Column:
    """Return the columns of the table as one array."""
    columns = [_column(column) for column in table.values()]
    if len({len(column) for column in columns}) > 1:
        raise InvalidInput("table", "has columns of different lengths")
    return np.column_stack(columns) if columns else np.empty((0, 0))


def _resampled_means(rows: Column, seed: int, resamples: int) -> Column:
    """Compute the mean of each column for each resample of the rows."""
    sums = [drawn @ rows for drawn in _draw_counts(len(rows), resamples, seed)]
    return _clip_to_range(rows, np.concatenate(sums) / len(rows))


def _clip_to_range(rows: Column, means: Column) -> Column:
    """Clip means that rounding moved outside the range of their values."""
    return means.clip(rows.min(axis=0), rows.max(axis=0))


def _batch_sizes(rows: int, width: int) -> Iterator[int]:
    """Split a number of rows into batches of about a block of numbers."""
    most = max(1, BLOCK // width)
    for start in range(0, rows, most):
        yield min(most, rows - start)


def _draw_counts(n: int, resamples: int, seed: int) -> Iterator[Column]:
    """Yield how often each of n rows is drawn, one resample to a row, batch by batch."""
    random = np.random.default_rng(seed)
    for rows in _batch_sizes(resamples, n):
        drawn = random.integers(0, n, size=(rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def _all_signs(n: int) -> Iterator[Column]:
    """Yield every combination of n signs as one batch."""
    yield (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)


def _random_signs(n: int, resamples: int, seed: int) -> Iterator[Column]:
    """Yield random combinations of n signs, batch by batch."""
    random = np.random.default_rng(seed)
    for rows in _batch_sizes(resamples, n):
        packed = random.integers(0, 256, size=(rows, -(-n // 8)), dtype=np.uint8)
        yield np.unpackbits(packed, axis=1, count=n).astype(np.float64)
