"""Show a criterion: its target, value and interval as text, and their positions on a scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..._internal.messages import format_apart
from ..acceptance_checks import AcceptanceCheck
from ..criteria import Comparison, Criterion
from ..report import ValidationReport
from . import display_names, number_format

Quantity = Literal["share", "mean", "time", "count"]

_SIGNS: dict[Comparison, str] = {"at least": "≥ ", "below": "< ", "exactly": ""}
_SHARES = ("queries with", "metadata completeness", "hash validation")


@dataclass(frozen=True, slots=True)
class CriterionDisplay:
    """A criterion with the formats that fit its quantity.

    Examples:
        >>> CriterionDisplay.from_criterion(criterion).target
        '≥ 80%'
    """

    criterion: Criterion
    quantity: Quantity

    @classmethod
    def from_criterion(cls, criterion: Criterion) -> CriterionDisplay:
        """Choose the formats by the criterion's name: a report stores nothing else to choose by."""
        if criterion.comparison == "below":
            return cls(criterion, "time")
        if criterion.comparison == "exactly":
            return cls(criterion, "count")
        return cls(criterion, "share" if criterion.name.startswith(_SHARES) else "mean")

    @property
    def target(self) -> str:
        """The value to reach, with its sign."""
        limit = self.criterion.target
        fewest = {"share": 0, "mean": 2, "time": 0, "count": 0}[self.quantity]
        exact = next((n for n in range(fewest, 6) if math.isclose(round(limit, n + 2), limit)), 6)
        return _SIGNS[self.criterion.comparison] + self._format(
            limit, fewest if self.quantity == "mean" else exact
        )

    @property
    def value(self) -> str:
        """The measured value, with enough digits to tell it from a target that it missed."""
        digits = {"share": 1, "mean": 3, "time": 1, "count": 0}[self.quantity]
        return format_apart(self._format, self.criterion.value, self.criterion.target, digits)

    @property
    def interval(self) -> str | None:
        """The confidence interval; None where the criterion has none."""
        low, high = self.criterion.low, self.criterion.high
        if low is None or high is None:
            return None
        digits = {"share": 0, "mean": 2, "time": 0, "count": 0}[self.quantity]
        unit = "%" if self.quantity == "share" else ""
        return f"{self._format(low, digits).removesuffix(unit)} to {self._format(high, digits)}"

    @property
    def undecided(self) -> bool:
        """Whether the interval includes the target, so that other queries could change the result."""
        low, high = self.criterion.low, self.criterion.high
        return low is not None and high is not None and low < self.criterion.target <= high

    def position(self, value: float | None) -> float:
        """Return the position of a value on the scale, in percent of its length."""
        if value is None or math.isnan(value):
            return 0.0
        return round(100 * min(max(value / self._scale_end, 0.0), 1.0), 2)

    @property
    def _scale_end(self) -> float:
        if self.quantity in ("share", "mean"):
            return 1.0
        values = [value for value in (self.criterion.target, self.criterion.value) if math.isfinite(value)]
        return 1.25 * max([*values, 0.8])

    def _format(self, value: float, digits: int) -> str:
        if self.quantity == "share":
            return number_format.format_share(value, digits)
        if self.quantity == "time":
            return number_format.format_milliseconds(value, digits)
        if self.quantity == "mean":
            return number_format.format_number(value, digits)
        return number_format.format_integer(value)


def state_of(judged: AcceptanceCheck | Criterion) -> str:
    """Return `met`, `not met` or `not judged`; a check without a value is not judged."""
    return display_names.STATES[None if judged.value is None else judged.passed]


def is_strict(report: ValidationReport) -> bool:
    """Return whether the acceptance checks count in the verdict."""
    return bool(_read_criterion(report, "strict"))


def target_precision(report: ValidationReport) -> float | None:
    """Return the P@5 that each query should reach; None where the report does not say."""
    value = _read_criterion(report, "precision_at_5")
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def _read_criterion(report: ValidationReport, name: str) -> Any:
    criteria = report.options.get("criteria")
    return criteria.get(name) if isinstance(criteria, Mapping) else None
