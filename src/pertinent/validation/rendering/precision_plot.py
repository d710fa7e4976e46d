"""Plot P@5 of each query as a bar, grouped by query type, with the target as a line."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING

from ..._internal.messages import count_queries
from ..report import TestCase, ValidationReport
from ..report_defaults import is_answerable
from . import display_names, safe_text
from .case_summary import precision_at_5
from .criterion_display import target_precision
from .svg import BARS, KEY, MANY, WIDE, Figure, drawing, element, grid_line, line, text_at

if TYPE_CHECKING:
    from markupsafe import Markup

LEFT, RIGHT, TOP, BOTTOM = 40.0, WIDE - 8.0, 12.0, 184.0
GAP = 16.0
MIN_GROUP_WIDTH = 84.0
"""The least width of a query type, so that its name fits below its bars."""
MIN_BAR_HEIGHT = 2.5
"""The height of a bar for 0, so that it can be seen."""
MAX_BAR_WIDTH = 26.0
TOUCHING_BELOW = 2.0
"""Bars narrower than this touch: a gap between them would only be a blur."""

NumberedCase = tuple[int, TestCase]
"""A test case, and its index in the report."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A query; where there are many, several that are alike."""

    cases: Sequence[NumberedCase]
    passed: bool

    @property
    def precision(self) -> float:
        """The mean P@5."""
        return fmean(precision_at_5(case) for _, case in self.cases)

    @property
    def title(self) -> str:
        """The tooltip."""
        state = "passed" if self.passed else "failed"
        if len(self.cases) > 1:
            return f"{len(self.cases)} queries: mean P@5 {self.precision:.2f}, {state}"
        query = self.cases[0][1].query
        text = safe_text.shorten_line(query.text, 80) or "(empty)"
        return f"{query.id}: P@5 {self.precision:.2f}, {state}\n{text}"


def plot_precision(report: ValidationReport, linked: Collection[int]) -> Figure | None:
    """Plot P@5 of each scored query; None where there is none.

    Args:
        report: The report.
        linked: The indices of the queries that the page shows in full: their bars link there.
    """
    cases = [pair for pair in enumerate(report.test_cases) if is_answerable(pair[1])]
    if not cases:
        return None
    bar_size = math.ceil(len(cases) / BARS) if len(cases) > MANY else 1
    target = target_precision(report)
    shapes = [grid_line(value, LEFT - 6, (TOP, BOTTOM), RIGHT) for value in (0, 0.5, 1)]
    shapes += _draw_types(cases, bar_size, linked)
    if target is not None:
        y = BOTTOM - target * (BOTTOM - TOP)
        shapes += [
            line(LEFT - 6, y, RIGHT, y, "limit"),
            text_at(LEFT - 9, y + 4, f"{target:g}", "bold", "end"),
        ]
    caption = _write_caption(cases, bar_size, target, len(report.test_cases))
    chart = drawing(WIDE, BOTTOM + 32, f"P@5 of each query. {caption}", *shapes)
    return Figure("P@5 of each query", caption, chart, KEY, wide=True)


def _write_caption(cases: Sequence[NumberedCase], bar_size: int, target: float | None, total: int) -> str:
    sentences = [f"{count_queries(len(cases))} by type; passed before failed, then by P@5."]
    if target is not None:
        reached = sum(precision_at_5(case) >= target - 1e-9 for _, case in cases)
        sentences.append(f"{reached:,} of them reach {target:g}, the dashed line.")
    if bar_size > 1:
        sentences.append(f"Each bar is the mean of up to {bar_size} queries.")
    if total > len(cases):
        sentences.append(f"{total - len(cases):,} edge cases and queries without an answer have no P@5.")
    return " ".join(sentences)


def _draw_types(cases: Sequence[NumberedCase], bar_size: int, linked: Collection[int]) -> Iterator[Markup]:
    by_type = {
        query_type: members
        for query_type in display_names.TYPES
        if (members := [pair for pair in cases if pair[1].query.query_type == query_type])
    }
    room = RIGHT - LEFT - GAP * (len(by_type) - 1) - MIN_GROUP_WIDTH * len(by_type)
    x = LEFT
    for query_type, members in by_type.items():
        width = MIN_GROUP_WIDTH + room * len(members) / len(cases)
        yield from _draw_bars(list(_group_bars(members, bar_size)), x, width, linked)
        yield line(x, BOTTOM + 5, x + width, BOTTOM + 5, f"band {query_type}")
        yield text_at(x, BOTTOM + 23, f"{query_type} {len(members):,}")
        x += width + GAP


def _group_bars(cases: Sequence[NumberedCase], bar_size: int) -> Iterator[Bar]:
    """Passed before failed, high before low, `bar_size` queries to a bar."""
    ordered = sorted(cases, key=lambda pair: (not pair[1].has_passed, -precision_at_5(pair[1])))
    for passed, group in groupby(ordered, key=lambda pair: pair[1].has_passed):
        members = list(group)
        for start in range(0, len(members), bar_size):
            yield Bar(members[start : start + bar_size], passed)


def _draw_bars(bars: Sequence[Bar], x: float, width: float, linked: Collection[int]) -> Iterator[Markup]:
    step = min(width / len(bars), MAX_BAR_WIDTH)
    for position, bar in enumerate(bars):
        height = max(bar.precision * (BOTTOM - TOP), MIN_BAR_HEIGHT)
        rectangle = element(
            "rect",
            element("title", bar.title),
            x=x + position * step,
            y=BOTTOM - height,
            width=step if step < TOUCHING_BELOW else 0.86 * step,
            height=height,
            class_="passed" if bar.passed else "failed",
        )
        index = bar.cases[0][0]
        has_link = len(bar.cases) == 1 and index in linked
        yield element("a", rectangle, href=f"#q{index + 1}", tabindex="-1") if has_link else rectangle
