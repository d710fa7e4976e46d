"""P@5 of each query: a bar each, by type, with the criterion as a line."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING

from ..._internal.messages import count_queries
from ..defaults import is_answerable
from ..report import TestCase, ValidationReport
from . import text, words
from .cases import is_good, precision_at_5, wanted_precision
from .svg import BARS, KEY, MANY, WIDE, Figure, drawing, element, level, line
from .svg import words as at

if TYPE_CHECKING:
    from markupsafe import Markup

LEFT, RIGHT, TOP, BOTTOM = 40.0, WIDE - 8.0, 12.0, 184.0
GAP = 16.0
LEAST = 84.0
"""The width of a type that has few queries: its name must fit below it."""
STUB = 2.5
"""The height of a bar for 0, which must be seen too."""
WIDEST = 26.0
BLUR = 2.0
"""Bars that are narrower touch, since a gap between them would be only a blur."""

Numbered = tuple[int, TestCase]


@dataclass(frozen=True, slots=True)
class Bar:
    """One query; where there are many, several that are alike."""

    cases: Sequence[Numbered]
    good: bool

    @property
    def precision(self) -> float:
        return fmean(precision_at_5(case) for _, case in self.cases)

    @property
    def title(self) -> str:
        state = "passed" if self.good else "failed"
        if len(self.cases) > 1:
            return f"{len(self.cases)} queries: P@5 {self.precision:.2f} in the mean, {state}"
        query = self.cases[0][1].query
        asked = text.line(query.text, 80) or "(empty)"
        return f"{query.id}: P@5 {self.precision:.2f}, {state}\n{asked}"


def precision(report: ValidationReport, linked: Collection[int]) -> Figure | None:
    """The strip; a bar leads to its query if that is shown in full."""
    cases = [pair for pair in enumerate(report.test_cases) if is_answerable(pair[1])]
    if not cases:
        return None
    size = math.ceil(len(cases) / BARS) if len(cases) > MANY else 1
    wanted = wanted_precision(report)
    inside = [level(value, LEFT - 6, (TOP, BOTTOM), RIGHT) for value in (0, 0.5, 1)]
    inside += _types(cases, size, linked)
    if wanted is not None:
        y = BOTTOM - wanted * (BOTTOM - TOP)
        inside += [line(LEFT - 6, y, RIGHT, y, "limit"), at(LEFT - 9, y + 4, f"{wanted:g}", "bold", "end")]
    told = _told(cases, size, wanted, len(report.test_cases))
    shape = drawing(WIDE, BOTTOM + 32, f"P@5 of each query. {told}", *inside)
    return Figure("P@5 of each query", told, shape, KEY, wide=True)


def _told(cases: Sequence[Numbered], size: int, wanted: float | None, total: int) -> str:
    told = [f"{count_queries(len(cases))} by type, passed before failed, high before low."]
    if wanted is not None:
        reached = sum(precision_at_5(case) >= wanted - 1e-9 for _, case in cases)
        told.append(f"At {wanted:g}, the dashed line, or above: {reached:,}.")
    if size > 1:
        told.append(f"A bar stands for up to {size} queries, with their mean.")
    if total > len(cases):
        told.append(f"{total - len(cases):,} edge cases and queries without an answer have no P@5.")
    return " ".join(told)


def _types(cases: Sequence[Numbered], size: int, linked: Collection[int]) -> Iterator[Markup]:
    by_type = {
        kind: own
        for kind in words.TYPES
        if (own := [pair for pair in cases if pair[1].query.query_type == kind])
    }
    room = RIGHT - LEFT - GAP * (len(by_type) - 1) - LEAST * len(by_type)
    x = LEFT
    for kind, own in by_type.items():
        width = LEAST + room * len(own) / len(cases)
        yield from _facet(list(_bars(own, size)), x, width, linked)
        yield line(x, BOTTOM + 5, x + width, BOTTOM + 5, f"band {kind}")
        yield at(x, BOTTOM + 23, f"{kind} {len(own):,}")
        x += width + GAP


def _bars(cases: Sequence[Numbered], size: int) -> Iterator[Bar]:
    """Passed before failed, high before low, `size` queries a bar."""
    ordered = sorted(cases, key=lambda pair: (not is_good(pair[1]), -precision_at_5(pair[1])))
    for good, some in groupby(ordered, key=lambda pair: is_good(pair[1])):
        same = list(some)
        for start in range(0, len(same), size):
            yield Bar(same[start : start + size], good)


def _facet(bars: Sequence[Bar], x: float, width: float, linked: Collection[int]) -> Iterator[Markup]:
    step = min(width / len(bars), WIDEST)
    for place, bar in enumerate(bars):
        height = max(bar.precision * (BOTTOM - TOP), STUB)
        drawn = element(
            "rect",
            element("title", bar.title),
            x=x + place * step,
            y=BOTTOM - height,
            width=step if step < BLUR else 0.86 * step,
            height=height,
            class_="passed" if bar.good else "failed",
        )
        number = bar.cases[0][0]
        alone = len(bar.cases) == 1 and number in linked
        yield element("a", drawn, href=f"#q{number + 1}", tabindex="-1") if alone else drawn
