"""Which kinds of query do well: the mean P@5 by type and category."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..._internal.messages import count_queries
from ..report import Mean
from . import words
from .svg import Figure, drawing, element
from .svg import words as at

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH = 360.0
MEASURE = "p@5"


def heat_map(metrics: Mapping[str, Mapping[str, Mean]]) -> Figure | None:
    """The map, with the means over rows and columns at its edges."""
    types = [kind for kind in words.TYPES if f"type:{kind}" in metrics]
    categories = [name for name in words.CATEGORIES if f"category:{name}" in metrics]
    if not types:
        return None
    left, top, tall = 78.0, 22.0, 38.0
    columns, rows = [*categories, "all"], [*types, "all"]
    step = (WIDTH - left - 4) / len(columns)
    inside: list[Markup] = []
    for place, column in enumerate(columns):
        inside.append(at(left + (place + 0.5) * step, 14, column, "axis", "middle"))
    for down, row in enumerate(rows):
        y = top + down * tall
        inside.append(at(left - 8, y + tall / 2 + 3, row, "axis", "end"))
        for place, column in enumerate(columns):
            found = metrics.get(_group(row, column), {}).get(MEASURE)
            inside += _cell(left + place * step, y, (step - 3, tall - 3), f"{row}, {column}", found)
    cells = ((f"{row} {column}", metrics.get(_group(row, column), {})) for row in rows for column in columns)
    said = ", ".join(f"{name} {found[MEASURE].mean:.2f}" for name, found in cells if MEASURE in found)
    told = "The stronger the colour, the better; n is how many queries a mean is of."
    shape = drawing(WIDTH, top + tall * len(rows) + 2, f"P@5 by type and category: {said}", *inside)
    return Figure("P@5 by type and category", told, shape)


def _group(row: str, column: str) -> str:
    parts = [f"type:{row}"] * (row != "all") + [f"category:{column}"] * (column != "all")
    return "/".join(parts) or "all"


def _cell(x: float, y: float, size: tuple[float, float], name: str, found: Mean | None) -> Iterator[Markup]:
    width, height = size
    if found is None or not math.isfinite(found.mean):
        title = element("title", f"{name}: no queries")
        yield element("rect", title, x=x, y=y, width=width, height=height, rx=3, class_="no-heat")
        return
    interval = f"between {found.low:.2f} and {found.high:.2f} (95%)"
    told = f"{name}: {found.mean:.2f}, {interval}, {count_queries(found.n)}"
    yield element(
        "g",
        element("title", told),
        element(
            "rect",
            x=x,
            y=y,
            width=width,
            height=height,
            rx=3,
            class_="heat",
            style=f"--part:{min(max(found.mean, 0.0), 1.0) ** 2:.3f}",
        ),
        at(x + width / 2, y + height / 2, f"{found.mean:.2f}", "mean", "middle"),
        at(x + width / 2, y + height / 2 + 12, f"n {found.n:,}", "small", "middle"),
    )
