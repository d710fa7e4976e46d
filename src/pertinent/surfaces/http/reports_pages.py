"""Reports of validations for the eye: all of them, one of them, two side by side."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from ...errors import InvalidInput
from ...validation import report
from ...validation.report import ValidationReport
from ..web import STATIC
from .answering import in_thread
from .problems import Problem
from .report_list import ReportList, comparable

router = APIRouter(prefix="/reports", include_in_schema=False)

# A report is a page of its own, with its styles in it and no script.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)

TRENDS = 3
"""Of how many golden sets, or ways to ask one, the trend is shown."""

Name = Annotated[str, Query(max_length=100)]


@router.get("")
async def all_reports(request: Request) -> Response:
    """Every report of the folder, and how the figures went."""
    return await in_thread(request, lambda: _page("reports.html.jinja", **_listed(_reports(request))))


@router.get("/compare")
async def two_reports(request: Request, before: Name, after: Name) -> Response:
    """Two reports side by side."""
    return await in_thread(request, lambda: _compared(_reports(request), before, after))


@router.get("/{name}")
async def one_report(request: Request, name: str) -> Response:
    """A report as its own page."""

    def rendered() -> Response:
        from ...validation import rendering

        page = rendering.render_html(_loaded(_reports(request), name))
        return HTMLResponse(page, headers={"content-security-policy": REPORT_POLICY})

    return await in_thread(request, rendered)


def _reports(request: Request) -> ReportList:
    found: ReportList = request.app.state.reports
    return found


def _listed(reports: ReportList) -> dict[str, Any]:
    from .trend import trend

    shorts, unreadable = reports.read()
    lines = [group for group in comparable(shorts) if len(group) > 1]
    last_two = [one.name for one in lines[0][-2:]] if lines else [None, None]
    return {
        "reports": shorts,
        "unreadable": unreadable,
        "trends": [(group[-1].title, trend(group)) for group in lines[:TRENDS]],
        "before": last_two[0],
        "after": last_two[1],
    }


def _loaded(reports: ReportList, name: str) -> ValidationReport:
    path = reports.path(name)
    if path is None:
        raise Problem(404, "not_found", f"there is no report {name!r}")
    try:
        return report.load(path)
    except InvalidInput as error:
        raise Problem(404, "not_found", f"{name} can't be read as a report") from error


def _compared(reports: ReportList, before: str, after: str) -> Response:
    from ...validation.comparison.compare import compare_reports

    old, new = _loaded(reports, before), _loaded(reports, after)
    comparison = refused = None
    try:
        comparison = compare_reports(old, new)
    except InvalidInput as error:
        refused = str(error).removeprefix(f"{error.field}: ")
    sides = [("Before", before, old), ("After", after, new)]
    return _page("compare.html.jinja", root="../", sides=sides, comparison=comparison, refused=refused)


def _page(template: str, **values: Any) -> Response:
    from ...validation.rendering.safe_text import make_printable

    page = _templates().get_template(template).render(**{"root": "", **values})
    return HTMLResponse(make_printable(page), headers={"cache-control": "no-cache"})


@cache
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from ...validation.rendering import display_names, number_format

    made = Environment(
        loader=FileSystemLoader(STATIC),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "share": number_format.format_share,
        "number": number_format.format_number,
        "milliseconds": number_format.format_milliseconds,
        "when": number_format.format_time,
        "measure": display_names.measure_name,
        "sign": display_names.SIGNS.__getitem__,
    }
    return made
