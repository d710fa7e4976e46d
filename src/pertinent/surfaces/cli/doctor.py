"""`pertinent doctor`: the checks as lines, and what to run for each finding."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._internal.messages import format_count
from .failures import INCOMPLETE, PART_FAILED
from .opening import choices
from .terminal import layout, one_line, print_json, sign, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...health.doctor import Check
    from ...sources.site.anchors import SiteAnchors


def doctor(
    context: typer.Context,
    *,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Mark the damaged pages, so that the next `pertinent index` writes them anew."
        ),
    ] = False,
    links: Annotated[
        bool,
        typer.Option("--links", help="Ask the site, too, whether every stored url#anchor exists."),
    ] = False,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="With --links: where a copy of the site is served, such as a preview."
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="With --at: the address that the copy has on the web."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Check settings, model, stores and every chunk; says what to run.

    Exits with 0 when all is sound, with 1 when something was found, and with 3
    when a store, the model or a page can't be reached at all.

    For example:
      pertinent doctor --repair && pertinent index docs/
      pertinent doctor --links
      pertinent doctor --links --at http://localhost:3000/docs --base-url https://example.org/docs
    """
    from ...health.doctor import Doctor
    from .progress import progress

    if at and not links:
        raise typer.BadParameter("goes with --links", param_hint="--at")
    if base_url and not at:
        raise typer.BadParameter("goes with --at", param_hint="--base-url")
    checks: list[Check] = []
    with ExitStack() as open_until_done:
        anchors_of = open_until_done.enter_context(_site(at, base_url)) if links else None
        told = open_until_done.enter_context(progress()) if links else None
        patient = Doctor(choices(context).load, anchors_of, told)
        open_until_done.callback(patient.close)
        for check in patient.examine():
            checks.append(check)
            if not as_json:
                write(layout(partial(_print_check, check=check)))
        marked = patient.repair(checks) if repair else []
    if as_json:
        print_json(_as_data(checks, marked))
    else:
        write(layout(lambda out: _print_end(out, checks, marked, repair=repair)))
    if any(check.failed for check in checks):
        raise typer.Exit(PART_FAILED)
    if any(check.findings for check in checks) and not _all_marked(checks, marked):
        raise typer.Exit(INCOMPLETE)


def _site(at: str | None, base_url: str | None) -> SiteAnchors:
    from ...sources.site.anchors import SiteAnchors

    return SiteAnchors(at, base_url)


def _print_check(out: Console, check: Check) -> None:
    from rich.table import Table
    from rich.text import Text

    sound = not check.findings
    line = Table.grid(padding=(0, 1), expand=True)
    line.add_column(width=4 if sign("✓", "") == "" else 1)
    line.add_column(width=18, no_wrap=True)
    line.add_column(ratio=1, overflow="fold")
    line.add_column(justify="right", no_wrap=True)
    line.add_row(
        Text(sign("✓", "ok"), style="green") if sound else Text(sign("✗", "BAD"), style="bold red"),
        Text(check.name, style="bold"),
        Text(one_line(check.summary)) if sound else Text(""),
        Text(f"{check.seconds:.2f} s", style="dim"),
    )
    for one in check.findings:
        line.add_row("", "", Text(one_line(one.problem)))
        line.add_row("", "", Text(f"{sign('→', '->')} {one_line(one.remedy)}", style="yellow"))
    out.print(line)


def _print_end(out: Console, checks: Sequence[Check], marked: Sequence[str], *, repair: bool) -> None:
    found = sum(len(check.findings) for check in checks)
    if not found:
        out.print("All is sound.")
    elif marked:
        pages = format_count(len(marked), "page is", "pages are")
        out.print(
            f"{pages} marked. Now run `pertinent index SOURCE`, with the options it was indexed with: "
            "it writes them anew."
        )
    else:
        out.print(f"{format_count(found, 'finding')}.")
        if repair:
            out.print("None of it can be mended by marking pages.")


def _all_marked(checks: Sequence[Check], marked: Sequence[str]) -> bool:
    return bool(marked) and all(one.pages for check in checks for one in check.findings)


def _as_data(checks: Sequence[Check], marked: Sequence[str]) -> dict[str, Any]:
    return {
        "sound": not any(check.findings for check in checks),
        "checks": [
            {
                "name": check.name,
                "sound": not check.findings,
                "seen": check.summary,
                "seconds": round(check.seconds, 3),
                "findings": [
                    {"problem": one.problem, "run": one.remedy, "pages": sorted(one.pages)}
                    for one in check.findings
                ],
            }
            for check in checks
        ],
        "marked": list(marked),
    }
