"""Build SVG drawings as escaped markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from sys import float_info

from markupsafe import Markup, escape

NARROW = 360.0
"""The width of a drawing beside another one, in units of about a pixel."""
WIDE = 2 * NARROW
MANY = 1000
"""Above this number of queries, a bar or a point stands for several of them."""
BARS = 300
KEY = (("passed", "passed"), ("failed", "failed"))

Value = str | float | None


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot with its title, its caption and the key to its colours."""

    title: str
    caption: str
    drawing: Markup
    key: tuple[tuple[str, str], ...] = ()
    """Pairs of a CSS class and its meaning."""
    wide: bool = False


def element(name: str, *children: str | Markup, **attributes: Value) -> Markup:
    """Build an element; text and attribute values are escaped.

    Args:
        name: The name of the tag.
        children: Text, or markup that is escaped already.
        attributes: A trailing underscore is dropped (`class_`), others become hyphens; None is left out.
    """
    rendered = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), format_coordinate(value))
        for key, value in attributes.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, rendered, Markup("").join(map(escape, children)))


def format_coordinate(value: str | float) -> str:
    """Format a number with at most two decimals; text is returned unchanged."""
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def drawing(width: float, height: float, label: str, *children: Markup) -> Markup:
    """Build the `svg` element; `label` describes it to a screen reader."""
    box = f"0 0 {format_coordinate(width)} {format_coordinate(height)}"
    return element("svg", *children, viewBox=box, role="img", aria_label=label)


def text_at(x: float, y: float, text: str, class_: str | None = None, anchor: str | None = None) -> Markup:
    """Build a `text` element."""
    return element("text", text, x=x, y=y, class_=class_, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """Build a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def grid_line(
    value: float, x: float, span: tuple[float, float], end: float, label: str | None = None
) -> Markup:
    """Build a horizontal line of the grid, with its label to the left.

    Args:
        value: Its height, from 0 at the bottom to 1 at the top.
        x: Where the line starts.
        span: The top and the bottom of the plot.
        end: Where the line ends.
        label: The value itself unless given.
    """
    top, bottom = span
    y = bottom - value * (bottom - top)
    return line(x, y, end, y, "grid") + text_at(x - 3, y + 4, label or f"{value:g}", "axis", "end")


def ticks(end: float, most: int = 5) -> Sequence[float]:
    """Return round numbers from 0 to `end`, in steps of 1, 2 or 5 times a power of ten."""
    rough = max(end / most, float_info.min)  # the smallest numbers there are divide to 0
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    return [step * index for index in range(int(end / step * (1 + 1e-9)) + 1)]
