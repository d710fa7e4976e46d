"""Drawings in text: elements whose attributes and words are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from sys import float_info

from markupsafe import Markup, escape

NARROW = 360.0
"""The width of a drawing that stands beside another one, in units that are about a pixel."""
WIDE = 2 * NARROW
MANY = 1000
"""Beyond so many queries a bar or a point stands for several of them."""
BARS = 300
KEY = (("passed", "passed"), ("failed", "failed"))

Value = str | float | None


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot with what it is called, what it shows in words, and the key to its colours."""

    title: str
    told: str
    drawing: Markup
    key: tuple[tuple[str, str], ...] = ()
    """Pairs of a class and what it stands for."""
    wide: bool = False


def element(name: str, *inside: str | Markup, **attributes: Value) -> Markup:
    """An element; `class_` is its class, and an underscore in a name is a hyphen."""
    given = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), plain(value))
        for key, value in attributes.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, given, Markup("").join(map(escape, inside)))


def plain(value: str | float) -> str:
    """A coordinate with no more decimals than an eye can see."""
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def drawing(width: float, height: float, told: str, *inside: Markup) -> Markup:
    """A whole drawing, which says in words what it shows."""
    box = f"0 0 {plain(width)} {plain(height)}"
    return element("svg", *inside, viewBox=box, role="img", aria_label=told)


def words(x: float, y: float, text: str, class_: str | None = None, anchor: str | None = None) -> Markup:
    """Words at a place."""
    return element("text", text, x=x, y=y, class_=class_, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def level(value: float, x: float, span: tuple[float, float], end: float, told: str | None = None) -> Markup:
    """A line of the grid, with its value at its left."""
    top, bottom = span
    y = bottom - value * (bottom - top)
    return line(x, y, end, y, "grid") + words(x - 3, y + 4, told or f"{value:g}", "axis", "end")


def ticks(end: float, most: int = 5) -> Sequence[float]:
    """Round numbers from 0 to the end, a step of 1, 2 or 5 apart."""
    rough = max(end / most, float_info.min)  # the smallest numbers there are divide to 0
    power = 10.0 ** floor(log10(rough))
    step = next(power * one for one in (1, 2, 5, 10) if power * one >= rough * (1 - 1e-9))
    return [step * place for place in range(int(end / step * (1 + 1e-9)) + 1)]
