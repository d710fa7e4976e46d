"""A validation report for a person at a terminal: the verdict, what it rests on, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from ...validation.rendering.averages import TITLE, list_averages
from ...validation.rendering.case_summary import explain_failure, has_passed, next_step
from ...validation.rendering.criterion_display import state_of
from ...validation.rendering.number_format import format_check_value
from .compare import print_comparison
from .terminal import one_line, sign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...validation.acceptance_checks import AcceptanceCheck
    from ...validation.comparison.compare import Comparison
    from ...validation.criteria import Criterion
    from ...validation.report import Mean, ValidationReport

COLOURS = {"PASS": "bold green", "FAIL": "bold red", "INVALID": "bold yellow"}
PASSAGE_MEASURES = ("p@5", "rr_best", "rr", "ndcg@10", "recall@10", "success@5", "span_recall@5", "judged@5")
PAGE_MEASURES = ("ndcg@10", "rr", "recall@10", "recall@100", "success@1", "success@5", "success@10", "map")
NAMES = len("span_recall@5")
FAILED = 10
"""How many failed queries are listed here; the report has all."""
ISSUES = 12
"""How many issues are told here; the report has all."""


def print_verdict(
    out: Console,
    report: ValidationReport,
    written: Sequence[Path],
    compared: Comparison | None,
) -> None:
    """Everything, verdict first."""
    verdict, _, reason = report.summary.partition(": ")
    out.print(Text.assemble((verdict, COLOURS[report.verdict]), "  ", one_line(reason)))
    out.print("")
    out.print(_criteria(report))
    out.print(_checks(report))
    out.print(Text(f"\n{TITLE}", style="bold"))
    out.print(_averages(report))
    for table in _means(report, out.width):
        out.print(table)
    if compared is not None:
        out.print("")
        print_comparison(out, compared, ("baseline", "now"))
    _print_failed(out, report)
    told = [*report.preflight, *report.issues]
    # What is wrong with the golden set is listed in full, to be mended at once.
    limit = max(ISSUES, len(report.preflight))
    if told:
        out.print(Text("\nIssues", style="bold"))
    points = Table.grid(padding=(0, 1, 0, 0))
    for issue in told[:limit]:
        points.add_row(sign("•", "-"), one_line(issue))
    out.print(points)
    if len(told) > limit:
        out.print(f"  and {len(told) - limit} more in the report")
    out.print("")
    for path in written:
        out.print(f"Written: {path}", soft_wrap=True)


def _print_failed(out: Console, report: ValidationReport) -> None:
    """Print a line for each failed query: why it failed, and what to do next."""
    failed = [case for case in report.test_cases if not has_passed(case)]
    if not failed:
        return
    out.print(Text("\nFailed queries", style="bold"))
    table = Table.grid(padding=(0, 1, 0, 0))
    for case in failed[:FAILED]:
        line = Text.assemble((one_line(case.query.id), "bold"), "  ", one_line(explain_failure(case)))
        if step := next_step(case):
            line.append(f"\nNext: {step}")
        table.add_row(Text(sign("✗", "no"), style="red"), line)
    out.print(table)
    if len(failed) > FAILED:
        out.print(f"  and {len(failed) - FAILED} more in the report")


def _mark(judged: AcceptanceCheck | Criterion) -> Text:
    state = state_of(judged)
    if state == "not judged":
        return Text(sign("–", "-"))
    return Text(sign("✓", "ok"), style="green") if state == "met" else Text(sign("✗", "no"), style="red")


def _criteria(report: ValidationReport) -> Table:
    table = Table(box=None, pad_edge=False, title="Criteria", title_justify="left", title_style="bold")
    for name, justify in (("", "left"), ("criterion", "left"), ("target", "right"), ("result", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("95 % interval", justify="right")
    table.add_column("n", justify="right")
    for one in report.criteria:
        judged = one.passed is not None
        value, interval = (f"{one.value:.4g}", _interval(one)) if judged else ("not judged", "")
        table.add_row(_mark(one), one.name, _wanted(one), value, interval, str(one.n))
    return table


def _wanted(one: Criterion) -> str:
    signs = {"at least": sign("≥", ">="), "below": "<", "exactly": "="}
    return f"{signs[one.comparison]} {one.wanted:g}"


def _interval(one: Criterion | Mean) -> str:
    return "" if one.low is None or one.high is None else f"{one.low:.3f} - {one.high:.3f}"


def _checks(report: ValidationReport) -> Table:
    table = Table(
        box=None,
        pad_edge=False,
        title="\nAcceptance checks (they count with --strict)",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("")
    table.add_column("check")
    table.add_column("result", justify="right")
    table.add_column("target")
    for one in report.checks:
        table.add_row(_mark(one), one.name, format_check_value(one), one.wanted)
    return table


def _averages(report: ValidationReport) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("", min_width=NAMES)
    table.add_column("answerable", justify="right")
    table.add_column("all", justify="right")
    for average in list_averages(report):
        table.add_row(average.name, f"{average.answerable:.3f}", f"{average.every_query:.3f}")
    table.add_row("queries", str(report.golden.scored), str(report.total_queries), style="dim")
    return table


def _means(report: ValidationReport, width: int) -> list[Table]:
    """A row for each measure, a column for each kind of query; categories apart where it is narrow."""
    groups = [group for group in report.metrics if "/" not in group]
    types = sorted(group for group in groups if group.startswith("type:"))
    categories = sorted(group for group in groups if group.startswith("category:"))
    together = ["all", *types, *categories]
    if not groups or sum(map(_width, together)) <= width - NAMES:
        return [_table_of_means(report, "Means, answerable queries", together if groups else [])]
    titles = {
        "Means by type, answerable queries": ["all", *types],
        "Means by category, answerable queries": categories,
    }
    return [_table_of_means(report, title, some) for title, some in titles.items() if some]


def _width(group: str) -> int:
    """How wide the column of a group is, with its gap; that of all has its interval beside it."""
    return len("  0.000  0.00-0.00") if group == "all" else 2 + len(_name(group))


def _name(group: str) -> str:
    return group.partition(":")[2] or group


def _table_of_means(report: ValidationReport, title: str, groups: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, title=f"\n{title}", title_justify="left", title_style="bold")
    table.add_column("", no_wrap=True, min_width=NAMES)
    for group in groups:
        table.add_column(_name(group), justify="right", no_wrap=True)
        if group == "all":
            table.add_column("95 %", justify="right", style="dim", no_wrap=True)
    for name in PAGE_MEASURES if report.golden.unit == "page" else PASSAGE_MEASURES:
        row = [name]
        for group in groups:
            mean = report.metrics[group][name]
            row += [f"{mean.mean:.3f}", *([_narrow(mean)] if group == "all" else [])]
        table.add_row(*row)
    counts = []
    for group in groups:
        counts += [str(next(iter(report.metrics[group].values())).n), *([""] if group == "all" else [])]
    table.add_row("queries", *counts, style="dim")
    return table


def _narrow(mean: Mean) -> str:
    return f"{mean.low:.2f}-{mean.high:.2f}"
