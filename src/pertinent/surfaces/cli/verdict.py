"""A validation report for a person at a terminal: the verdict, what it rests on, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from .compare import print_comparison
from .terminal import one_line, sign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...validation.compare import Comparison
    from ...validation.criteria import Criterion
    from ...validation.report import Mean, ValidationReport

COLOURS = {"PASS": "bold green", "FAIL": "bold red", "INVALID": "bold yellow"}
PASSAGE_MEASURES = ("p@5", "rr_best", "rr", "ndcg@10", "recall@10", "success@5", "span_recall@5", "judged@5")
PAGE_MEASURES = ("ndcg@10", "rr", "recall@10", "recall@100", "success@1", "success@5", "success@10", "map")
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
    out.print(_means(report))
    if compared is not None:
        out.print("")
        print_comparison(out, compared, ("baseline", "now"))
    told = [*report.preflight, *report.issues]
    if told:
        out.print(Text("\nWhat stands out", style="bold"))
    for issue in told[:ISSUES]:
        out.print(f"{sign('•', '-')} {one_line(issue)}")
    if len(told) > ISSUES:
        out.print(f"  and {len(told) - ISSUES} more in the report")
    out.print("")
    for path in written:
        out.print(f"Written: {path}", soft_wrap=True)


def _mark(*, passed: bool) -> Text:
    return Text(sign("✓", "ok"), style="green") if passed else Text(sign("✗", "no"), style="red")


def _criteria(report: ValidationReport) -> Table:
    table = Table(box=None, pad_edge=False, title="Criteria", title_justify="left", title_style="bold")
    for name, justify in (("", "left"), ("criterion", "left"), ("wanted", "right"), ("found", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("95 % interval", justify="right")
    table.add_column("n", justify="right")
    for one in report.criteria:
        table.add_row(
            _mark(passed=one.passed), one.name, _wanted(one), f"{one.value:.4g}", _interval(one), str(one.n)
        )
    return table


def _wanted(one: Criterion) -> str:
    below = one.name.startswith("p95")
    return f"{'<' if below else '=' if one.name in ('audit', 'baseline') else sign('≥', '>=')} {one.wanted:g}"


def _interval(one: Criterion | Mean) -> str:
    return "" if one.low is None or one.high is None else f"{one.low:.3f} - {one.high:.3f}"


def _checks(report: ValidationReport) -> Table:
    table = Table(
        box=None,
        pad_edge=False,
        title="\nAcceptance (counts with --strict)",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("")
    table.add_column("check")
    table.add_column("found", justify="right")
    table.add_column("wanted")
    for one in report.checks:
        value = "not measured" if one.value is None else f"{one.value:.3g}"
        mark = Text(sign("–", "-")) if one.value is None else _mark(passed=one.passed)
        table.add_row(mark, one.name, value, one.wanted)
    return table


def _means(report: ValidationReport) -> Table:
    """A row for each measure, a column for each kind of query."""
    names = PAGE_MEASURES if report.golden.unit == "page" else PASSAGE_MEASURES
    groups = [group for group in report.metrics if "/" not in group]
    groups.sort(key=lambda group: (group != "all", group.startswith("category")))
    table = Table(box=None, pad_edge=False, title="\nMeans", title_justify="left", title_style="bold")
    table.add_column("", no_wrap=True)
    for group in groups:
        table.add_column(group.partition(":")[2] or group, justify="right")
        if group == "all":
            table.add_column("95 %", justify="right", style="dim", no_wrap=True)
    for name in names:
        row = [name]
        for group in groups:
            row.append(f"{report.metrics[group][name].mean:.3f}")
            if group == "all":
                row.append(_narrow(report.metrics[group][name]))
        table.add_row(*row)
    counts = [str(next(iter(report.metrics[group].values())).n) for group in groups]
    table.add_row("queries", *counts[:1], *([""] if counts else []), *counts[1:], style="dim")
    return table


def _narrow(mean: Mean) -> str:
    return f"{mean.low:.2f}-{mean.high:.2f}"
