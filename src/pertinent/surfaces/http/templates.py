"""Jinja templates of the error pages and the report pages."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ..web import STATIC

if TYPE_CHECKING:
    from jinja2 import Environment


def render_template(name: str, **values: Any) -> str:
    """Render a template of the `web` folder; characters that HTML or UTF-8 can't hold are replaced."""
    from ...validation.rendering.safe_text import make_printable

    return make_printable(_environment().get_template(name).render(**{"root": "", **values}))


@cache
def _environment() -> Environment:
    from ...validation.rendering import display_names, number_format
    from ...validation.rendering.environment import create_environment

    environment = create_environment(STATIC)
    environment.filters |= {
        "share": number_format.format_share,
        "number": number_format.format_number,
        "milliseconds": number_format.format_milliseconds,
        "when": number_format.format_time,
        "measure": display_names.measure_name,
        "sign": display_names.SIGNS.__getitem__,
    }
    return environment
