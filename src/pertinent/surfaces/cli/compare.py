"""`pertinent compare`: print two validation reports side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..._internal.messages import count_queries
from .error_reporting import BAD_INPUT, INCOMPLETE, print_notice
from .global_options import JsonFlag
from .terminal import make_table, one_line, print_json, render, symbol, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from ...validation.comparison.compare import Comparison, MeasureChange, StatusChange
    from ...validation.report import Latency

VERDICT_STYLES = {"better": "green", "worse": "bold red"}
BETTER_SAME_WORSE = "+/=/-"
MAX_QUERY_LENGTH = 120
"""How many characters of a query are printed."""
MAX_FINGERPRINT_LENGTH = 24
"""Longer fingerprints are shortened: a reader only needs to tell them apart."""


def compare(
    before_path: Annotated[
        str, typer.Argument(metavar="BEFORE", help="The report of the earlier run.", show_default=False)
    ],
    after_path: Annotated[
        str, typer.Argument(metavar="AFTER", help="The report of the later run.", show_default=False)
    ],
    max_regression: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            min=0.0,
            max=1.0,
            help="Exit with 1 if a mean dropped by more than this, with p below 0.05.",
        ),
    ] = None,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Compare two reports query by query: what improved, what got worse, what is chance.

    Prints precision, MRR and nDCG before and after, with a confidence interval of
    the difference and a paired permutation test, and why queries newly fail. If
    the golden set changed, the queries in both are scored with AFTER's labels.

    For example:
      cd validation_results
      pertinent compare report_20260131_093000.json report_20260201_101500.json
      pertinent compare main.json branch.json --max-regression 0.02
      pertinent compare main.json branch.json --json | jq '.newly_failing[].query'

    Exit codes: 0 success; 1 a significant loss beyond --max-regression; 2 the
    reports can't be compared, or have too few queries for --max-regression.
    """
    from ...validation.comparison import compare as comparing
    from ...validation.report_files import load_report

    comparison = comparing.compare_reports(load_report(before_path), load_report(after_path))
    losses = [] if max_regression is None else comparing.find_regressions(comparison, max_regression)
    if as_json:
        fields = comparison.model_dump(mode="json")
        print_json(fields | {"max_regression": max_regression, "regressions": losses})
    else:
        names = (Path(before_path).name, Path(after_path).name)
        write(render(lambda out: print_comparison(out, comparison, names)))
    for loss in losses:
        print_notice(loss)
    if losses:
        raise typer.Exit(INCOMPLETE)
    if max_regression is not None and (unjudged := comparing.explain_unjudged(comparison.changes)):
        print_notice(unjudged)
        raise typer.Exit(BAD_INPUT)


def print_comparison(out: Console, comparison: Comparison, names: tuple[str, str]) -> None:
    """Print which labels scored the runs, then the measures, then the queries that changed.

    Args:
        out: The console to print to.
        comparison: The two compared runs.
        names: What to call the earlier and the later run.
    """
    from rich.text import Text

    out.print(Text(one_line(comparison.scored_with)))
    out.print()
    out.print(_make_runs_table(comparison, names))
    out.print()
    out.print(_make_changes_table(comparison.changes))
    out.print()
    legend = f"{count_queries(comparison.n)}; {BETTER_SAME_WORSE} counts the better, equal and worse ones."
    if comparison.detectable_difference is not None:
        legend += (
            " With this number of queries, the test notices a difference of "
            f"{comparison.detectable_difference:.2f} in 4 of 5 trials; it may miss a smaller one."
        )
    out.print(legend)
    for note in comparison.notes:
        out.print(Text(f"{symbol('•', '-')} {one_line(note)}", style="yellow"))
    _print_newly_failing(out, comparison.newly_failing)
    if comparison.newly_passing:
        out.print()
        heading = f"{count_queries(len(comparison.newly_passing))} newly passing: "
        passing = ", ".join(one_line(turn.query) for turn in comparison.newly_passing)
        out.print(Text.assemble((heading, "bold green"), passing))
    if comparison.differences:
        out.print()
        out.print(Text("What else differs", style="bold"))
        table = make_table("", "before", "after")
        for difference in comparison.differences:
            values = (_shorten(difference.baseline), _shorten(difference.current))
            table.add_row(one_line(difference.name), *values)
        out.print(table)


def _make_runs_table(comparison: Comparison, names: tuple[str, str]) -> Table:
    table = make_table("", one_line(comparison.golden), "time", "verdict", ">p50/p95 ms")
    runs = (("before", names[0], comparison.baseline), ("after", names[1], comparison.current))
    for label, name, run in runs:
        table.add_row(
            label, one_line(name), one_line(run.timestamp), run.verdict, _format_latency(run.latency)
        )
    return table


def _format_latency(latency: Latency | None) -> str:
    return "" if latency is None else f"{latency.p50:.1f}/{latency.p95:.1f}"


def _make_changes_table(changes: Sequence[MeasureChange]) -> Table:
    from rich.text import Text

    figures = (">before", ">after", ">change", ">95 % interval", f">{BETTER_SAME_WORSE}", ">p")
    table = make_table("measure", *figures, "verdict", gap=1)
    for change in changes:
        table.add_row(
            change.measure,
            f"{change.baseline:.3f}",
            f"{change.current:.3f}",
            _format_signed(change.difference),
            f"{_format_signed(change.low)} {_format_signed(change.high)}",
            f"{change.wins}/{change.ties}/{change.losses}",
            "<.001" if change.p < 0.001 else f"{change.p:.3f}",  # noqa: PLR2004
            Text(change.verdict, style=VERDICT_STYLES.get(change.verdict, "")),
        )
    return table


def _format_signed(value: float) -> str:
    text = f"{value:+.3f}"
    return "0.000" if text in ("+0.000", "-0.000") else text.replace("-", symbol("−", "-"))


def _print_newly_failing(out: Console, turns: Sequence[StatusChange]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    if turns:
        out.print()
        out.print(Text(f"{count_queries(len(turns))} newly failing", style="bold red"))
    for turn in turns:
        text = one_line(turn.text)
        if len(text) > MAX_QUERY_LENGTH:
            text = text[:MAX_QUERY_LENGTH] + symbol("…", "...")
        out.print(Padding(Text.assemble((one_line(turn.query), "bold"), f"  {text}"), (0, 0, 0, 2)))
        reason = f"{turn.baseline} {symbol('→', '->')} {turn.current}: {one_line(turn.reason)}"
        out.print(Padding(Text(reason, style="dim"), (0, 0, 0, 4)))


def _shorten(value: str | None) -> str:
    """Shorten a fingerprint; text with spaces is printed in full."""
    if value is None:
        return symbol("–", "-")
    text = one_line(value)
    is_long = len(text) > MAX_FINGERPRINT_LENGTH and " " not in text
    return f"{text[:12]}{symbol('…', '...')}" if is_long else text
