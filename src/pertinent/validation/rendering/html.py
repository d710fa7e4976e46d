"""Render a report as one HTML page: it loads nothing, runs no script, and fits phones and paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from ..._internal.messages import format_count
from ..report import Mean, ValidationReport
from ..report_defaults import is_answerable
from . import case_summary, criterion_display, display_names, number_format, safe_text
from .averages import list_averages
from .criterion_display import CriterionDisplay
from .environment import create_environment
from .plots import list_plots
from .query_selection import QuerySelection

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent
STYLES = ("report.css", "figures.css", "queries.css")
OPEN_LINES = 8
"""How many lines of a list are visible before it is unfolded."""
MAX_LINES = 1000
"""How many lines of a list are on the page at all."""
SHORT_HASH = 12
"""How many characters of a fingerprint are shown."""

_BACKTICKS = re.compile("`([^`\n]+)`")
_HEX = re.compile(r"[0-9a-f]{32,}")


def render_html(report: ValidationReport) -> str:
    """Render the page."""
    selection = QuerySelection.from_cases(report.test_cases)
    linked = {query.index for query in selection.full}
    page = _ENVIRONMENT.get_template("report.html.jinja").render(
        report=report,
        summary=report.summary.removeprefix(f"{report.verdict}: "),
        criteria=[CriterionDisplay.from_criterion(criterion) for criterion in report.criteria],
        selection=selection,
        anchors={query.case.query.id: query.anchor for query in reversed(selection.full)},
        figures=list_plots(report, linked),
        groups=list_groups(report),
        passed=sum(case.has_passed for case in report.test_cases),
    )
    return safe_text.make_printable(page)


def shorten_hash(value: str) -> str:
    """Return the beginning of a hash; other values unchanged."""
    return value[:SHORT_HASH] if _HEX.fullmatch(value) else value


def split_query_id(detail: str, anchors: dict[str, str]) -> tuple[str, str, str]:
    """Split a line such as `id: what is wrong` into the id, its anchor on the page, and what follows.

    Id and anchor are empty where the line does not start with the id of a query on the page.
    """
    name, colon, text = detail.partition(":")
    is_query = colon and name.strip() and name in anchors
    return (name, anchors[name], colon + text) if is_query else ("", "", detail)


def mark_code(text: str) -> Markup:
    """Escape the text, with `code` elements for what is between backticks."""
    parts = _BACKTICKS.split(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )


def format_mean(mean: Mean | None) -> str:
    """Format a mean without its interval."""
    return number_format.format_number(mean.mean if mean else None)


def list_groups(report: ValidationReport) -> list[str]:
    """List the groups of the table of means: all, then types, then categories."""
    names = [
        "all",
        *(f"type:{name}" for name in display_names.TYPES),
        *(f"category:{name}" for name in display_names.CATEGORIES),
    ]
    further = [name for name in report.metrics if name not in names and "/" not in name]
    return [name for name in [*names, *further] if report.metrics.get(name)]


def list_measures(report: ValidationReport) -> list[str]:
    """List the measures of all groups, in the order of their first appearance."""
    return list(dict.fromkeys(name for group in report.metrics.values() for name in group))


def load_styles() -> Markup:
    """Load the style sheets of the page."""
    parts = [(HERE / name).read_text(encoding="utf-8") for name in STYLES]
    return Markup("\n".join(parts))  # noqa: S704 - the files are ours


def _create_environment() -> Environment:
    environment = create_environment(HERE)
    environment.filters |= {
        "number": number_format.format_number,
        "share": number_format.format_share,
        "count": number_format.format_integer,
        "format_count": format_count,
        "milliseconds": number_format.format_milliseconds,
        "check_value": number_format.format_check_value,
        "time": number_format.format_time,
        "short_hash": shorten_hash,
        "line": safe_text.shorten_line,
        "mean": format_mean,
        "measure": display_names.measure_name,
        "meaning": display_names.measure_meaning,
        "code": mark_code,
    }
    environment.globals |= {
        "link_target": safe_text.link_target,
        "averages": list_averages,
        "breadcrumb": safe_text.format_breadcrumb,
        "split_query_id": split_query_id,
        "measures": list_measures,
        "styles": load_styles,
        "facts": display_names.FACTS,
        "signs": display_names.SIGNS,
        "labels": display_names.LABELS,
        "reasons": display_names.REASONS,
        "is_answerable": is_answerable,
        "is_strict": criterion_display.is_strict,
        "state_of": criterion_display.state_of,
        "next_step": case_summary.next_step,
        "precision_at_5": case_summary.precision_at_5,
        "open_lines": OPEN_LINES,
        "max_lines": MAX_LINES,
    }
    return environment


_ENVIRONMENT = _create_environment()
