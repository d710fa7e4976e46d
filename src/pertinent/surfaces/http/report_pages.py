"""Pages of validation reports: the list with trends, one report, and two reports compared."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from ...errors import InvalidInput
from ...validation.report import ValidationReport
from ...validation.report_files import load_report
from .errors import ApiError
from .report_folder import ReportFolder, group_comparable
from .service import get_service
from .templates import render_template

router = APIRouter(prefix="/reports", include_in_schema=False)

# A report is a self-contained page, with its styles inside and no script.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)

MAX_TRENDS = 3
"""How many trends are shown, each for one golden set with one ranking and the same options."""


@router.get("")
async def list_reports(request: Request) -> Response:
    """Show all reports of the folder, and the trends of their figures."""
    folder = _get_folder(request)
    return await get_service(request).run_in_thread(
        lambda: _respond("reports.html.jinja", **_collect_reports(folder))
    )


@router.get("/compare")
async def compare_reports(
    request: Request,
    before_name: Annotated[str, Query(alias="before", max_length=100)],
    after_name: Annotated[str, Query(alias="after", max_length=100)],
) -> Response:
    """Show two reports side by side."""
    folder = _get_folder(request)
    return await get_service(request).run_in_thread(lambda: _compare(folder, before_name, after_name))


@router.get("/{name}")
async def read_report(request: Request, name: str) -> Response:
    """Show one report."""
    folder = _get_folder(request)

    def render() -> Response:
        from ...validation import rendering

        page = rendering.render_html(_load_report(folder, name))
        return HTMLResponse(page, headers={"content-security-policy": REPORT_POLICY})

    return await get_service(request).run_in_thread(render)


def _get_folder(request: Request) -> ReportFolder:
    folder: ReportFolder = request.app.state.report_folder
    return folder


def _collect_reports(folder: ReportFolder) -> dict[str, Any]:
    from .report_trend import plot_trend

    reports, unreadable = folder.list_reports()
    series = [group for group in group_comparable(reports) if len(group) > 1]
    last_two = [summary.name for summary in series[0][-2:]] if series else [None, None]
    return {
        "reports": reports,
        "unreadable": unreadable,
        "trends": [(group[-1].title, plot_trend(group)) for group in series[:MAX_TRENDS]],
        "before": last_two[0],
        "after": last_two[1],
    }


def _load_report(folder: ReportFolder, name: str) -> ValidationReport:
    path = folder.find_path(name)
    if path is None:
        raise ApiError(404, "not_found", f"there is no report {name!r}")
    try:
        return load_report(path)
    except InvalidInput as error:
        raise ApiError(404, "not_found", f"{name} can't be read as a report") from error


def _compare(folder: ReportFolder, before_name: str, after_name: str) -> Response:
    from ...validation.comparison.compare import compare_reports as make_comparison

    old, new = _load_report(folder, before_name), _load_report(folder, after_name)
    comparison = refusal = None
    try:
        comparison = make_comparison(old, new)
    except InvalidInput as error:
        refusal = str(error).removeprefix(f"{error.field}: ")
    sides = [("Before", before_name, old), ("After", after_name, new)]
    return _respond("compare.html.jinja", root="../", sides=sides, comparison=comparison, refusal=refusal)


def _respond(template: str, **values: Any) -> Response:
    return HTMLResponse(render_template(template, **values), headers={"cache-control": "no-cache"})
