"""Plot the mean P@5 by query type and category as a heat map."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..._internal.messages import count_queries
from ..report import Mean
from . import display_names
from .svg import NARROW, Figure, drawing, element, text_at

if TYPE_CHECKING:
    from markupsafe import Markup

LEFT, TOP, ROW = 78.0, 22.0, 38.0
MEASURE = "p@5"
ALL = "all"


def plot_heatmap(metrics: Mapping[str, Mapping[str, Mean]]) -> Figure | None:
    """Plot a cell for each type and category, with the means of rows and columns at the edges."""
    types = [name for name in display_names.TYPES if f"type:{name}" in metrics]
    categories = [name for name in display_names.CATEGORIES if f"category:{name}" in metrics]
    if not types:
        return None
    columns, rows = [*categories, ALL], [*types, ALL]
    step = (NARROW - LEFT - 4) / len(columns)
    shapes: list[Markup] = [
        text_at(LEFT + (index + 0.5) * step, 14, column, "axis", "middle")
        for index, column in enumerate(columns)
    ]
    values = []
    for row_index, row in enumerate(rows):
        y = TOP + row_index * ROW
        shapes.append(text_at(LEFT - 8, y + ROW / 2 + 3, row, "axis", "end"))
        for index, column in enumerate(columns):
            mean = metrics.get(_group_name(row, column), {}).get(MEASURE)
            shapes += _draw_cell(LEFT + index * step, y, (step - 3, ROW - 3), f"{row}, {column}", mean)
            if mean is not None:
                values.append(f"{row} {column} {mean.mean:.2f}")
    label = f"P@5 by type and category: {', '.join(values)}"
    caption = "A stronger colour is a higher mean; n is the number of queries."
    chart = drawing(NARROW, TOP + ROW * len(rows) + 2, label, *shapes)
    return Figure("P@5 by type and category", caption, chart)


def _group_name(row: str, column: str) -> str:
    parts = [f"type:{row}"] * (row != ALL) + [f"category:{column}"] * (column != ALL)
    return "/".join(parts) or ALL


def _draw_cell(
    x: float, y: float, size: tuple[float, float], name: str, mean: Mean | None
) -> Iterator[Markup]:
    width, height = size
    if mean is None or not math.isfinite(mean.mean):
        title = element("title", f"{name}: no queries")
        yield element("rect", title, x=x, y=y, width=width, height=height, rx=3, class_="no-heat")
        return
    tooltip = (
        f"{name}: {mean.mean:.2f}, between {mean.low:.2f} and {mean.high:.2f} (95%), {count_queries(mean.n)}"
    )
    yield element(
        "g",
        element("title", tooltip),
        element(
            "rect",
            x=x,
            y=y,
            width=width,
            height=height,
            rx=3,
            class_="heat",
            style=f"--part:{min(max(mean.mean, 0.0), 1.0) ** 2:.3f}",
        ),
        text_at(x + width / 2, y + height / 2, f"{mean.mean:.2f}", "mean", "middle"),
        text_at(x + width / 2, y + height / 2 + 12, f"n {mean.n:,}", "small", "middle"),
    )
