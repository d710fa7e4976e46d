"""Trends: how the figures of comparable reports developed, one small SVG plot for each measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from ...validation.rendering import number_format
from ...validation.rendering.svg import NARROW, Figure, drawing, element, line, text_at, ticks
from .report_folder import P_AT_5_CRITERION, ReportSummary

X_START, X_END, Y_TOP, Y_BOTTOM = 44.0, NARROW - 14.0, 14.0, 128.0
DOT_RADIUS = 4.0
MAX_DOTS = 60
"""How many reports a plot shows, the latest."""


@dataclass(frozen=True, slots=True)
class TrendMeasure:
    """A figure of a report that is plotted."""

    criterion: str
    """How the name of its criterion starts."""
    value: Callable[[ReportSummary], float | None]
    format_value: Callable[[float], str]
    tick_format: str
    maximum: float | None = None
    """Where the scale ends; None is somewhat above the highest value."""


MEASURES = (
    TrendMeasure(P_AT_5_CRITERION, lambda report: report.share, number_format.format_share, "{:.0%}", 1.0),
    TrendMeasure(
        "MRR (answerable)", lambda report: report.mrr_answerable, number_format.format_number, "{:g}", 1.0
    ),
    TrendMeasure(
        "p95 latency", lambda report: report.p95_latency_ms, number_format.format_milliseconds, "{:,g} ms"
    ),
)


class Dot(NamedTuple):
    """The value of a report, and its position in the plot."""

    report: ReportSummary
    value: float
    x: float
    y: float


def plot_trend(reports: Sequence[ReportSummary]) -> list[Figure]:
    """Plot each measure over comparable reports.

    Args:
        reports: At least two, the oldest first.

    Returns:
        The plots of the measures that at least one report has.

    """
    latest = reports[-MAX_DOTS:]
    return [
        _plot_measure(measure, latest)
        for measure in MEASURES
        if any(measure.value(report) is not None for report in latest)
    ]


def _plot_measure(measure: TrendMeasure, reports: Sequence[ReportSummary]) -> Figure:
    values = [measure.value(report) for report in reports]
    maximum = measure.maximum or 1.15 * max(
        [1e-3, *(value for value in values if value and math.isfinite(value))]
    )
    dots = [
        Dot(report, value, X_START + (X_END - X_START) * number / (len(reports) - 1), _to_y(value / maximum))
        for number, (report, value) in enumerate(zip(reports, values, strict=True))
        if value is not None and math.isfinite(value)
    ]
    criterion = reports[-1].find_criterion(measure.criterion)
    name = (criterion.name if criterion else measure.criterion).removesuffix(" (ms)")
    marks = _draw_scale(measure, maximum)
    if criterion and 0 < criterion.target <= maximum:
        y = _to_y(criterion.target / maximum)
        marks.append(line(X_START, y, X_END, y, "limit"))
    polyline = " ".join(f"{dot.x:.1f},{dot.y:.1f}" for dot in dots)
    marks += [element("polyline", points=polyline, class_="run"), *(_draw_dot(measure, dot) for dot in dots)]
    for x, anchor, report in ((X_START, "start", reports[0]), (X_END, "end", reports[-1])):
        marks.append(
            text_at(x, Y_BOTTOM + 18, number_format.format_time(report.timestamp)[:10], "axis", anchor)
        )
    first_and_last = [measure.format_value(dot.value) for dot in (*dots[:1], *dots[-1:])]
    caption = "first {}, latest {}".format(*first_and_last) if first_and_last else "not known"
    title = name[0].upper() + name[1:] if name.startswith("q") else name
    return Figure(title, caption, drawing(NARROW, Y_BOTTOM + 24, f"{title}: {caption}", *marks))


def _to_y(share: float) -> float:
    return Y_BOTTOM - (Y_BOTTOM - Y_TOP) * min(max(share, 0.0), 1.0)


def _draw_scale(measure: TrendMeasure, maximum: float) -> list[Markup]:
    marks = []
    for tick in (0.0, 0.5, 1.0) if measure.maximum else ticks(maximum, most=3):
        y = _to_y(tick / maximum)
        label = text_at(X_START - 6, y + 4, measure.tick_format.format(tick), "axis", "end")
        marks += [line(X_START, y, X_END, y, "grid"), label]
    return marks


def _draw_dot(measure: TrendMeasure, dot: Dot) -> Markup:
    report = dot.report
    value = measure.format_value(dot.value)
    tooltip = element("title", f"{number_format.format_time(report.timestamp)}: {value}, {report.verdict}")
    return element("circle", tooltip, cx=dot.x, cy=dot.y, r=DOT_RADIUS, class_=report.verdict.lower())
