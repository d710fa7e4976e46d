"""How the figures of a golden set, asked in one way, went from report to report: a small plot each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from ...validation.rendering import number_format
from ...validation.rendering.svg import NARROW, Figure, drawing, element, line, text_at, ticks
from .report_list import SHARE, Short

LEFT, RIGHT, TOP, BOTTOM = 44.0, NARROW - 14.0, 14.0, 128.0
RADIUS = 4.0
MOST = 60
"""How many reports a plot shows, the latest."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What is plotted, how it is told, and on which scale."""

    criterion: str
    """How the name of the criterion begins that it must meet."""
    value: Callable[[Short], float | None]
    told: Callable[[float], str]
    mark: str
    """How a value is written at the scale."""
    end: float | None = None
    """Where the scale ends; None is somewhat above the highest value."""


MEASURES = (
    Measure(SHARE, lambda one: one.share, number_format.format_share, "{:.0%}", 1.0),
    Measure("MRR (answerable)", lambda one: one.mrr_answerable, number_format.format_number, "{:g}", 1.0),
    Measure("p95 latency", lambda one: one.p95_latency_ms, number_format.format_milliseconds, "{:,g} ms"),
)


class Point(NamedTuple):
    """A report's value, and where it is drawn."""

    report: Short
    value: float
    x: float
    y: float


def trend(reports: Sequence[Short]) -> list[Figure]:
    """The plots of reports of one golden set, the oldest first; a line needs two of them.

    A measure that none of them was judged by has no plot.
    """
    latest = reports[-MOST:]
    if len(latest) <= 1:
        return []
    measures = [
        measure for measure in MEASURES if any(measure.value(report) is not None for report in latest)
    ]
    return [_plot(measure, latest) for measure in measures]


def _plot(measure: Measure, reports: Sequence[Short]) -> Figure:
    values = [measure.value(one) for one in reports]
    end = measure.end or 1.15 * max([1e-3, *(one for one in values if one and math.isfinite(one))])
    points = [
        Point(report, value, LEFT + (RIGHT - LEFT) * place / (len(reports) - 1), _height(value / end))
        for place, (report, value) in enumerate(zip(reports, values, strict=True))
        if value is not None and math.isfinite(value)
    ]
    criterion = reports[-1].criterion(measure.criterion)
    name = (criterion.name if criterion else measure.criterion).removesuffix(" (ms)")
    inside = _scale(measure, end)
    if criterion and 0 < criterion.wanted <= end:
        y = _height(criterion.wanted / end)
        inside.append(line(LEFT, y, RIGHT, y, "limit"))
    run = " ".join(f"{point.x:.1f},{point.y:.1f}" for point in points)
    inside += [element("polyline", points=run, class_="run"), *(_dot(measure, point) for point in points)]
    for x, anchor, report in ((LEFT, "start", reports[0]), (RIGHT, "end", reports[-1])):
        inside.append(
            text_at(x, BOTTOM + 18, number_format.format_time(report.timestamp)[:10], "axis", anchor)
        )
    ends = [measure.told(point.value) for point in (*points[:1], *points[-1:])]
    told = " at first, ".join(ends) + " at last" if ends else "not known"
    title = name[0].upper() + name[1:] if name.startswith("q") else name
    return Figure(title, told, drawing(NARROW, BOTTOM + 24, f"{title}: {told}", *inside))


def _height(part: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * min(max(part, 0.0), 1.0)


def _scale(measure: Measure, end: float) -> list[Markup]:
    drawn = []
    for tick in (0.0, 0.5, 1.0) if measure.end else ticks(end, most=3):
        y = _height(tick / end)
        name = text_at(LEFT - 6, y + 4, measure.mark.format(tick), "axis", "end")
        drawn += [line(LEFT, y, RIGHT, y, "grid"), name]
    return drawn


def _dot(measure: Measure, point: Point) -> Markup:
    report = point.report
    told = element(
        "title",
        f"{number_format.format_time(report.timestamp)}: {measure.told(point.value)}, {report.verdict}",
    )
    return element("circle", told, cx=point.x, cy=point.y, r=RADIUS, class_=report.verdict.lower())
