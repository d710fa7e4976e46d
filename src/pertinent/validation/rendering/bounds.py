"""What a criterion asks for, in words and as places on a scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ..._internal.messages import format_apart
from ..criteria import Criterion
from . import figures

Sense = Literal["at least", "below", "exactly"]
Unit = Literal["share", "mean", "time", "count"]

_SIGNS: dict[Sense, str] = {"at least": "≥ ", "below": "< ", "exactly": ""}
_SHARES = ("queries with", "metadata completeness", "hash validation")


@dataclass(frozen=True, slots=True)
class Bound:
    """A criterion as a reader sees it."""

    criterion: Criterion
    sense: Sense
    unit: Unit

    @classmethod
    def of(cls, criterion: Criterion) -> Bound:
        """The bound that its name stands for; a report does not say it otherwise."""
        if criterion.name.startswith("p95"):
            return cls(criterion, "below", "time")
        if criterion.name in ("audit", "damaged points"):
            return cls(criterion, "exactly", "count")
        return cls(criterion, "at least", "share" if criterion.name.startswith(_SHARES) else "mean")

    @property
    def wanted(self) -> str:
        """What was asked for."""
        limit = self.criterion.wanted
        whole = {"share": 0, "mean": 2, "time": 0, "count": 0}[self.unit]
        fine = next((n for n in range(whole, 6) if math.isclose(round(limit, n + 2), limit)), 6)
        return _SIGNS[self.sense] + self._told(limit, whole if self.unit == "mean" else fine)

    @property
    def value(self) -> str:
        """What was found."""
        digits = {"share": 1, "mean": 3, "time": 1, "count": 0}[self.unit]
        return format_apart(self._told, self.criterion.value, self.criterion.wanted, digits)

    @property
    def interval(self) -> str | None:
        """Between what it may lie."""
        low, high = self.criterion.low, self.criterion.high
        if low is None or high is None:
            return None
        digits = {"share": 0, "mean": 2, "time": 0, "count": 0}[self.unit]
        unit = "%" if self.unit == "share" else ""
        return f"{self._told(low, digits).removesuffix(unit)} to {self._told(high, digits)}"

    @property
    def undecided(self) -> bool:
        """Whether the interval holds the limit, so that other queries might have decided otherwise."""
        one = self.criterion
        return one.low is not None and one.high is not None and one.low < one.wanted <= one.high

    def place(self, value: float | None) -> float:
        """Where a value stands on the scale, in percent of its length."""
        end = self._end
        if value is None or math.isnan(value):
            return 0.0
        return round(100 * min(max(value / end, 0.0), 1.0), 2)

    @property
    def _end(self) -> float:
        if self.unit in ("share", "mean"):
            return 1.0
        sizes = [one for one in (self.criterion.wanted, self.criterion.value) if math.isfinite(one)]
        return 1.25 * max([*sizes, 0.8])

    def _told(self, value: float, digits: int) -> str:
        if self.unit == "share":
            return figures.share(value, digits)
        if self.unit == "time":
            return figures.milliseconds(value, digits)
        return figures.number(value, digits) if self.unit == "mean" else figures.count(value)
