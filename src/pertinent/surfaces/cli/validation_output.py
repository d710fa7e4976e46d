"""The text output of `pertinent validate`: the verdict, its criteria, and the failed queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from ...validation.rendering.averages import TITLE, list_averages
from ...validation.rendering.case_summary import explain_failure, next_step
from ...validation.rendering.criterion_display import state_of
from ...validation.rendering.number_format import format_check_value
from .compare import print_comparison
from .terminal import make_table, one_line, symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...validation.acceptance_checks import AcceptanceCheck
    from ...validation.comparison.compare import Comparison
    from ...validation.criteria import Criterion
    from ...validation.report import Mean, ValidationReport

VERDICT_STYLES = {"PASS": "bold green", "FAIL": "bold red", "INVALID": "bold yellow"}
PASSAGE_MEASURES = ("p@5", "rr_best", "rr", "ndcg@10", "recall@10", "success@5", "span_recall@5", "judged@5")
PAGE_MEASURES = ("ndcg@10", "rr", "recall@10", "recall@100", "success@1", "success@5", "success@10", "map")
NAME_WIDTH = len("span_recall@5")
MAX_FAILED = 10
"""How many failed queries are printed; the report lists all."""
MAX_ISSUES = 12
"""How many issues are printed; the report lists all."""


def print_report(
    out: Console,
    report: ValidationReport,
    written: Sequence[Path],
    comparison: Comparison | None,
) -> None:
    """Print a validation report, verdict first.

    Args:
        out: The console to print to.
        report: The report.
        written: The files that were written.
        comparison: The comparison with the baseline, if there is one.
    """
    verdict, _, summary = report.summary.partition(": ")
    out.print(Text.assemble((verdict, VERDICT_STYLES[report.verdict]), "  ", one_line(summary)))
    out.print("")
    out.print(_make_criteria_table(report))
    out.print(_make_checks_table(report))
    out.print(Text(f"\n{TITLE}", style="bold"))
    out.print(_make_averages_table(report))
    for table in _make_means_tables(report, out.width):
        out.print(table)
    if comparison is not None:
        out.print("")
        print_comparison(out, comparison, ("baseline", "now"))
    _print_failed_queries(out, report)
    _print_issues(out, report)
    out.print("")
    for path in written:
        out.print(f"Written: {path}", soft_wrap=True)


def _print_issues(out: Console, report: ValidationReport) -> None:
    """Print the first issues; faults of the golden set are printed in full, to be fixed at once."""
    issues = [*report.preflight, *report.issues]
    limit = max(MAX_ISSUES, len(report.preflight))
    if issues:
        out.print(Text("\nIssues", style="bold"))
    table = Table.grid(padding=(0, 1, 0, 0))
    for issue in issues[:limit]:
        table.add_row(symbol("•", "-"), one_line(issue))
    out.print(table)
    if len(issues) > limit:
        out.print(f"  and {len(issues) - limit} more in the report")


def _print_failed_queries(out: Console, report: ValidationReport) -> None:
    """Print a line for each failed query: why it failed, and what to do next."""
    failed = [case for case in report.test_cases if not case.has_passed]
    if not failed:
        return
    out.print(Text("\nFailed queries", style="bold"))
    table = Table.grid(padding=(0, 1, 0, 0))
    for case in failed[:MAX_FAILED]:
        line = Text.assemble((one_line(case.query.id), "bold"), "  ", one_line(explain_failure(case)))
        if step := next_step(case):
            line.append(f"\nNext: {step}")
        table.add_row(Text(symbol("✗", "no"), style="red"), line)
    out.print(table)
    if len(failed) > MAX_FAILED:
        out.print(f"  and {len(failed) - MAX_FAILED} more in the report")


def _make_mark(judged: AcceptanceCheck | Criterion) -> Text:
    state = state_of(judged)
    if state == "not judged":
        return Text(symbol("–", "-"))
    return Text(symbol("✓", "ok"), style="green") if state == "met" else Text(symbol("✗", "no"), style="red")


def _make_criteria_table(report: ValidationReport) -> Table:
    figures = (">required", ">actual", ">95 % interval", ">n")
    table = make_table("", "criterion", *figures, title="Criteria")
    for criterion in report.criteria:
        judged = criterion.passed is not None
        value = f"{criterion.value:.4g}" if judged else "not judged"
        interval = _format_interval(criterion) if judged else ""
        required = _format_requirement(criterion)
        table.add_row(_make_mark(criterion), criterion.name, required, value, interval, str(criterion.n))
    return table


def _format_requirement(criterion: Criterion) -> str:
    relations = {"at least": symbol("≥", ">="), "below": "<", "exactly": "="}
    return f"{relations[criterion.comparison]} {criterion.target:g}"


def _format_interval(criterion: Criterion) -> str:
    if criterion.low is None or criterion.high is None:
        return ""
    return f"{criterion.low:.3f} - {criterion.high:.3f}"


def _make_checks_table(report: ValidationReport) -> Table:
    table = make_table(
        "", "check", ">actual", "required", title="\nAcceptance checks (part of the verdict with --strict)"
    )
    for check in report.checks:
        table.add_row(_make_mark(check), check.name, format_check_value(check), check.target)
    return table


def _make_averages_table(report: ValidationReport) -> Table:
    table = make_table("", ">answerable", ">all")
    table.columns[0].min_width = NAME_WIDTH
    for average in list_averages(report):
        table.add_row(average.name, f"{average.answerable:.3f}", f"{average.every_query:.3f}")
    table.add_row("queries", str(report.golden.scored), str(report.total_queries), style="dim")
    return table


def _make_means_tables(report: ValidationReport, width: int) -> list[Table]:
    """Make a table of means by type and category, or one for each where the terminal is narrow."""
    groups = [group for group in report.metrics if "/" not in group]
    types = sorted(group for group in groups if group.startswith("type:"))
    categories = sorted(group for group in groups if group.startswith("category:"))
    columns = ["all", *types, *categories]
    if not groups or sum(map(_column_width, columns)) <= width - NAME_WIDTH:
        return [_make_means_table(report, "Means, answerable queries", columns if groups else [])]
    tables = {
        "Means by type, answerable queries": ["all", *types],
        "Means by category, answerable queries": categories,
    }
    return [_make_means_table(report, title, groups) for title, groups in tables.items() if groups]


def _column_width(group: str) -> int:
    """Return the width of a group's column with its gap; that of `all` includes its interval."""
    return len("  0.000  0.00-0.00") if group == "all" else 2 + len(_group_name(group))


def _group_name(group: str) -> str:
    return group.partition(":")[2] or group


def _make_means_table(report: ValidationReport, title: str, groups: Sequence[str]) -> Table:
    table = make_table("", title=f"\n{title}")
    table.columns[0].min_width = NAME_WIDTH
    for group in groups:
        table.add_column(_group_name(group), justify="right", no_wrap=True)
        if group == "all":
            table.add_column("95 %", justify="right", style="dim", no_wrap=True)
    for name in PAGE_MEASURES if report.golden.unit == "page" else PASSAGE_MEASURES:
        row = [name]
        for group in groups:
            mean = report.metrics[group][name]
            row += [f"{mean.mean:.3f}", *([_format_short_interval(mean)] if group == "all" else [])]
        table.add_row(*row)
    counts = []
    for group in groups:
        counts += [str(next(iter(report.metrics[group].values())).n), *([""] if group == "all" else [])]
    table.add_row("queries", *counts, style="dim")
    return table


def _format_short_interval(mean: Mean) -> str:
    return f"{mean.low:.2f}-{mean.high:.2f}"
