"""How long the queries took: a curve that climbs to all of them, with its percentiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..._internal.messages import count_queries
from ..report import Latency, TestCase
from .figures import milliseconds
from .svg import BARS, MANY, NARROW, Figure, drawing, element, level, line, ticks
from .svg import words as at

if TYPE_CHECKING:
    from markupsafe import Markup

LEFT, RIGHT, TOP, BOTTOM = 38.0, NARROW - 12.0, 12.0, 168.0
LOGARITHMIC = 20.0
"""Where the slowest query took so many times the median, the scale of times is logarithmic."""
LONGEST = 1e6
"""How many times the shortest time that is drawn the longest is, at most."""
TURN = 0.68
"""Beyond this part of the width, words stand at the left of their mark."""


def latencies(cases: Sequence[TestCase], latency: Latency | None) -> Figure | None:
    """The curve; nothing where no time was measured."""
    times = sorted(case.latency_ms for case in cases if math.isfinite(case.latency_ms))
    if latency is None or not times or times[-1] <= 0:
        return None
    scale = Scale(times)
    inside = [level(part, LEFT, (TOP, BOTTOM), RIGHT, f"{part:.0%}") for part in (0, 0.5, 1)]
    for tick in scale.ticks:
        x = scale.x(tick)
        inside += [line(x, BOTTOM, x, BOTTOM + 4, "grid"), at(x, BOTTOM + 17, f"{tick:,g}", "axis", "middle")]
    inside.append(element("path", d=_path(times, scale), class_="curve"))
    marks = [(50, latency.p50), (95, latency.p95), (99, latency.p99)]
    places = [(part, value, scale.x(value)) for part, value in marks if math.isfinite(value)]
    inside += [line(x, _height(part / 100), x, BOTTOM, "mark") for part, _, x in places]
    for row, (part, value, x) in enumerate(places):
        inside.append(element("circle", cx=x, cy=_height(part / 100), r=3, class_="dot"))
        inside.append(_beside(x, BOTTOM - 52 + 20 * row, f"p{part} {milliseconds(value)}"))
    told = _told(len(times), latency, scale)
    return Figure("Latency", told, drawing(NARROW, BOTTOM + 26, f"Latency. {told}", *inside))


class Scale:
    """Where a time stands from left to right."""

    def __init__(self, times: Sequence[float]) -> None:
        median, longest = times[len(times) // 2], times[-1]
        self.logarithmic = 0 < LOGARITHMIC * median < longest
        shortest = next(time for time in times if time > 0)
        self._low = max(shortest / 2, longest / LONGEST) if self.logarithmic else 0.0
        self._high = longest * 1.04

    @property
    def ticks(self) -> Sequence[float]:
        """Round times."""
        if not self.logarithmic:
            return ticks(self._high)
        powers = range(math.ceil(math.log10(self._low)), math.floor(math.log10(self._high)) + 1)
        return [10.0**power for power in powers]

    def x(self, time: float) -> float:
        """The place of a time."""
        if self.logarithmic:
            part = math.log(max(time, self._low) / self._low) / math.log(self._high / self._low)
        else:
            part = time / self._high
        return LEFT + (RIGHT - LEFT) * min(part, 1.0)


def _told(n: int, latency: Latency, scale: Scale) -> str:
    told = (
        f"The share of {count_queries(n)} answered within a time in milliseconds: "
        f"p50 {milliseconds(latency.p50)} and p95 {milliseconds(latency.p95)} (interpolated), "
        f"the slowest {milliseconds(latency.max)}."
    )
    return f"{told} The scale is logarithmic." if scale.logarithmic else told


def _path(times: Sequence[float], scale: Scale) -> str:
    n = len(times)
    step = math.ceil(n / BARS) if n > MANY else 1
    climb = [f"L{scale.x(times[i]):.1f} {_height((i + 1) / n):.1f}" for i in range(0, n, step)]
    start = f"M{LEFT:.1f} {BOTTOM:.1f}H{scale.x(times[0]):.1f}"
    return "".join([start, *climb, f"L{scale.x(times[-1]):.1f} {TOP:.1f}H{RIGHT:.1f}"])


def _height(part: float) -> float:
    return BOTTOM - part * (BOTTOM - TOP)


def _beside(x: float, y: float, told: str) -> Markup:
    beyond = x > NARROW * TURN
    return at(x - 5 if beyond else x + 5, y, told, "bold halo", "end" if beyond else None)
