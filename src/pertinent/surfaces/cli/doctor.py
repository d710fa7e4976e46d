"""`pertinent doctor`: print the result of each check, and the command that fixes each finding."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._internal.messages import format_count
from ...errors import InvalidInput
from .error_reporting import BACKEND_FAILED, INCOMPLETE
from .global_options import JsonFlag, get_global_options, print_retries
from .terminal import one_line, print_json, render, symbol, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...health.doctor import Check, Repair


def doctor(
    context: typer.Context,
    *,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Mark damaged pages for the next `pertinent index` to rewrite."),
    ] = False,
    links: Annotated[
        bool,
        typer.Option("--links", help="Also check that every stored url#anchor exists on the site."),
    ] = False,
    at: Annotated[
        str | None,
        typer.Option(metavar="URL", help="With --links: check this copy of the site, such as a preview."),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="With --at: the public address of that copy."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check settings, model, stores and every chunk, and say how to fix what is wrong.

    Exit codes: 0 no findings; 1 findings; 3 a store, the model or a page can't be
    reached.

    For example:
      pertinent doctor --repair && pertinent index docs/
      pertinent doctor --links
      pertinent doctor --links --at http://localhost:3000/docs --base-url https://example.org/docs
    """
    from ...health.doctor import Doctor
    from ...sources.site.anchors import SiteAnchors
    from ..running_service import advise_on_running_service
    from .progress import show_progress

    if at and not links:
        raise InvalidInput("--at", "needs --links")
    if base_url and not at:
        raise InvalidInput("--base-url", "needs --at")
    print_retries()
    checks: list[Check] = []
    with ExitStack() as stack:
        site_anchors = stack.enter_context(SiteAnchors(at, base_url)) if links else None
        progress = stack.enter_context(show_progress()) if links else None
        load = get_global_options(context).load_settings
        examiner = Doctor(load, site_anchors, progress, advise_on_running_service)
        stack.callback(examiner.close)
        for check in examiner.examine():
            checks.append(check)
            if not as_json:
                write(render(partial(_print_check, check=check)))
        repaired = examiner.repair(checks) if repair else None
    if as_json:
        print_json(_as_dict(checks, repaired))
    else:
        write(render(lambda out: _print_conclusion(out, checks, repaired)))
    if any(check.failed for check in checks):
        raise typer.Exit(BACKEND_FAILED)
    if any(check.findings for check in checks) and not _are_all_repaired(checks, repaired):
        raise typer.Exit(INCOMPLETE)


def _print_check(out: Console, check: Check) -> None:
    from rich.table import Table
    from rich.text import Text

    passed = not check.findings
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=len(symbol("✓", "BAD")))
    table.add_column(width=18, no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_row(
        Text(symbol("✓", "ok"), style="green") if passed else Text(symbol("✗", "BAD"), style="bold red"),
        Text(check.name, style="bold"),
        Text(one_line(check.summary)) if passed else Text(""),
        Text(f"{check.seconds:.2f} s", style="dim"),
    )
    for finding in check.findings:
        table.add_row("", "", Text(one_line(finding.problem)))
        table.add_row("", "", Text(f"{symbol('→', '->')} {one_line(finding.remedy)}", style="yellow"))
    out.print(table)


def _print_conclusion(out: Console, checks: Sequence[Check], repair: Repair | None) -> None:
    findings = [finding for check in checks for finding in check.findings]
    if not findings:
        out.print("No problems found.")
        return
    if repair and repair.recounted_words:
        out.print("The words were counted again.")
    if repair and any(finding.lacks_commits for finding in findings):
        out.print(
            "The index was compared with the catalog, and can be used again."
            if repair.recorded_commit
            else "The index was not compared with the catalog, since a check failed."
        )
    if repair and repair.marked_pages:
        out.print(
            f"{format_count(len(repair.marked_pages), 'page is', 'pages are')} marked. Now run `pertinent "
            "index SOURCE` with the options that it was indexed with, to rewrite them."
        )
    elif not _are_all_repaired(checks, repair):
        out.print(f"{format_count(len(findings), 'finding')}.")
        if repair:
            out.print("None of them can be repaired by marking pages.")


def _are_all_repaired(checks: Sequence[Check], repair: Repair | None) -> bool:
    """Whether `--repair` ran and handled every finding."""
    findings = [finding for check in checks for finding in check.findings]
    if repair is None:
        return False
    return all(
        finding.is_repairable and (repair.recorded_commit or not finding.lacks_commits)
        for finding in findings
    )


def _as_dict(checks: Sequence[Check], repair: Repair | None) -> dict[str, Any]:
    return {
        "sound": not any(check.findings for check in checks),
        "checks": [
            {
                "name": check.name,
                "sound": not check.findings,
                "seen": check.summary,
                "seconds": round(check.seconds, 3),
                "findings": [
                    {"problem": finding.problem, "run": finding.remedy, "pages": sorted(finding.pages)}
                    for finding in check.findings
                ],
            }
            for check in checks
        ],
        "marked": list(repair.marked_pages) if repair else [],
    }
