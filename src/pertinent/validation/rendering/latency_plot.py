"""Plot the latencies as a cumulative curve, with the percentiles marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..._internal.messages import count_queries
from ..report import Latency, TestCase
from .number_format import format_milliseconds
from .svg import BARS, MANY, NARROW, Figure, drawing, element, grid_line, line, text_at, ticks

if TYPE_CHECKING:
    from markupsafe import Markup

LEFT, RIGHT, TOP, BOTTOM = 38.0, NARROW - 12.0, 12.0, 168.0
LOGARITHMIC_ABOVE = 20.0
"""The scale is logarithmic where the slowest query took more than so many times the median."""
LARGEST_RATIO = 1e6
"""The largest ratio of the longest to the shortest time on a logarithmic scale."""
LABEL_LEFT_BEYOND = 0.68
"""Beyond this part of the width, a label is put to the left of its mark."""


def plot_latencies(cases: Sequence[TestCase], latency: Latency | None) -> Figure | None:
    """Plot the share of queries answered within each time; None where no time was measured."""
    times = sorted(case.latency_ms for case in cases if math.isfinite(case.latency_ms))
    if latency is None or not times or times[-1] <= 0:
        return None
    scale = TimeScale(times)
    shapes = [grid_line(part, LEFT, (TOP, BOTTOM), RIGHT, f"{part:.0%}") for part in (0, 0.5, 1)]
    for tick in scale.ticks:
        x = scale.x(tick)
        shapes += [
            line(x, BOTTOM, x, BOTTOM + 4, "grid"),
            text_at(x, BOTTOM + 17, f"{tick:,g}", "axis", "middle"),
        ]
    shapes.append(element("path", d=_draw_path(times, scale), class_="curve"))
    percentiles = [(50, latency.p50), (95, latency.p95), (99, latency.p99)]
    marks = [(part, value, scale.x(value)) for part, value in percentiles if math.isfinite(value)]
    shapes += [line(x, _height(part / 100), x, BOTTOM, "mark") for part, _, x in marks]
    for row, (part, value, x) in enumerate(marks):
        shapes.append(element("circle", cx=x, cy=_height(part / 100), r=3, class_="dot"))
        shapes.append(_label_mark(x, BOTTOM - 52 + 20 * row, f"p{part} {format_milliseconds(value)}"))
    caption = _write_caption(len(times), latency, scale)
    return Figure("Latency", caption, drawing(NARROW, BOTTOM + 26, f"Latency. {caption}", *shapes))


class TimeScale:
    """The horizontal scale of times: linear, or logarithmic where a few are far slower than most."""

    def __init__(self, times: Sequence[float]) -> None:
        median, longest = times[len(times) // 2], times[-1]
        self.logarithmic = 0 < LOGARITHMIC_ABOVE * median < longest
        shortest = next(time for time in times if time > 0)
        self._low = max(shortest / 2, longest / LARGEST_RATIO) if self.logarithmic else 0.0
        self._high = longest * 1.04

    @property
    def ticks(self) -> Sequence[float]:
        """Round times to label the scale with."""
        if not self.logarithmic:
            return ticks(self._high)
        powers = range(math.ceil(math.log10(self._low)), math.floor(math.log10(self._high)) + 1)
        return [10.0**power for power in powers]

    def x(self, time: float) -> float:
        """Return the horizontal position of a time."""
        if self.logarithmic:
            part = math.log(max(time, self._low) / self._low) / math.log(self._high / self._low)
        else:
            part = time / self._high
        return LEFT + (RIGHT - LEFT) * min(part, 1.0)


def _write_caption(n: int, latency: Latency, scale: TimeScale) -> str:
    caption = (
        f"The share of {count_queries(n)} answered within a time in milliseconds: "
        f"p50 {format_milliseconds(latency.p50)} and p95 {format_milliseconds(latency.p95)} (interpolated), "
        f"slowest {format_milliseconds(latency.max)}."
    )
    return f"{caption} The scale is logarithmic." if scale.logarithmic else caption


def _draw_path(times: Sequence[float], scale: TimeScale) -> str:
    n = len(times)
    step = math.ceil(n / BARS) if n > MANY else 1
    climb = [f"L{scale.x(times[i]):.1f} {_height((i + 1) / n):.1f}" for i in range(0, n, step)]
    start = f"M{LEFT:.1f} {BOTTOM:.1f}H{scale.x(times[0]):.1f}"
    return "".join([start, *climb, f"L{scale.x(times[-1]):.1f} {TOP:.1f}H{RIGHT:.1f}"])


def _height(part: float) -> float:
    return BOTTOM - part * (BOTTOM - TOP)


def _label_mark(x: float, y: float, label: str) -> Markup:
    flipped = x > NARROW * LABEL_LEFT_BEYOND
    return text_at(x - 5 if flipped else x + 5, y, label, "bold halo", "end" if flipped else None)
