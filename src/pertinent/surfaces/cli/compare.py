"""`pertinent compare`: two reports side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..._internal.messages import count_queries
from ...errors import InvalidInput
from .failures import INCOMPLETE, say
from .opening import number
from .terminal import layout, one_line, print_json, sign, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from ...validation.comparison.compare import Comparison, MeasureChange, StatusChange
    from ...validation.report import Latency

COLOURS = {"better": "green", "worse": "bold red"}
BETTER_SAME_WORSE = "+/=/-"
ASKED = 120
"""How much of a query is shown, in characters."""
LONG = 24
"""A fingerprint longer than this is shortened: it is there to be told apart, not to be read."""


def compare(
    before: Annotated[
        str, typer.Argument(metavar="BEFORE", help="The report of the earlier run.", show_default=False)
    ],
    after: Annotated[
        str, typer.Argument(metavar="AFTER", help="The report of the later run.", show_default=False)
    ],
    max_regression: Annotated[
        str | None,
        typer.Option(
            metavar="X", help="Exit with 1 where a mean has lost more than this, 0.0-1.0, with p below 0.05."
        ),
    ] = None,
    *,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Compare two reports query by query: what is better, what worse, what chance.

    Precision, MRR and nDCG before and after, with the interval of the difference
    and a paired permutation test; the queries that newly fail, and why. Where the
    golden set changed, the queries in both are scored with the labels of AFTER.

    For example:
      cd validation_results
      pertinent compare report_20260131_093000.json report_20260201_101500.json
      pertinent compare main.json branch.json --max-regression 0.02
      pertinent compare main.json branch.json --json | jq '.newly_failing[].query'

    Exit codes: 0; 1 a significant loss beyond --max-regression; 2 refused.
    """
    from ...validation.comparison import compare as comparing
    from ...validation.report import load

    allowed = None if max_regression is None else _allowed(max_regression)
    compared = comparing.compare_reports(load(before), load(after))
    losses = [] if allowed is None else comparing.find_regressions(compared, allowed)
    if json_:
        told = compared.model_dump(mode="json")
        print_json(told | {"max_regression": allowed, "regressions": losses})
    else:
        write(layout(lambda out: print_comparison(out, compared, (Path(before).name, Path(after).name))))
    for loss in losses:
        say(loss)
    if losses:
        raise typer.Exit(INCOMPLETE)


def _allowed(text: str) -> float:
    value = number(text)
    if isinstance(value, str) or not 0.0 <= value <= 1.0:
        raise InvalidInput("max_regression", f"must be a number from 0.0 to 1.0, not {text!r}")
    return float(value)


def print_comparison(out: Console, compared: Comparison, names: tuple[str, str]) -> None:
    """Everything, the measures first."""
    from rich.text import Text

    out.print(Text(one_line(compared.scored_with)))
    out.print()
    out.print(_runs(compared, names))
    out.print()
    out.print(_changes(compared.changes))
    out.print()
    out.print(
        f"{count_queries(compared.n)}; {BETTER_SAME_WORSE} counts those that are better, the same and worse. "
        f"So many show a difference of {compared.detectable_difference:.2f} in 4 of 5 trials, and may miss a "
        "smaller one."
    )
    for note in compared.notes:
        out.print(Text(f"{sign('•', '-')} {one_line(note)}", style="yellow"))
    _print_failing(out, compared.newly_failing)
    if compared.newly_passing:
        out.print()
        passing = ", ".join(one_line(one.query) for one in compared.newly_passing)
        out.print(
            Text.assemble(
                (f"{count_queries(len(compared.newly_passing))} newly passing: ", "bold green"), passing
            )
        )
    if compared.differences:
        out.print()
        out.print(Text("What else differs", style="bold"))
        out.print(_differs(compared))


def _runs(compared: Comparison, names: tuple[str, str]) -> Table:
    table = _table("", one_line(compared.golden), "made", "verdict", ">p50/p95 ms", gap=2)
    for when, name, run in (("before", names[0], compared.baseline), ("after", names[1], compared.current)):
        made = one_line(run.timestamp)
        table.add_row(when, one_line(name), made, run.verdict, _latency(run.latency))
    return table


def _latency(latency: Latency | None) -> str:
    return "" if latency is None else f"{latency.p50:.1f}/{latency.p95:.1f}"


def _changes(changes: Sequence[MeasureChange]) -> Table:
    from rich.text import Text

    table = _table(
        "measure", ">before", ">after", ">change", ">95 % interval", f">{BETTER_SAME_WORSE}", ">p", "verdict"
    )
    for one in changes:
        table.add_row(
            one.measure,
            f"{one.baseline:.3f}",
            f"{one.current:.3f}",
            _signed(one.difference),
            f"{_signed(one.low)} {_signed(one.high)}",
            f"{one.wins}/{one.ties}/{one.losses}",
            "<.001" if one.p < 0.001 else f"{one.p:.3f}",  # noqa: PLR2004
            Text(one.verdict, style=COLOURS.get(one.verdict, "")),
        )
    return table


def _signed(value: float) -> str:
    shown = f"{value:+.3f}"
    return "0.000" if shown in ("+0.000", "-0.000") else shown.replace("-", sign("−", "-"))


def _print_failing(out: Console, turns: Sequence[StatusChange]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    if turns:
        out.print()
        out.print(Text(f"{count_queries(len(turns))} newly failing", style="bold red"))
    for one in turns:
        text = one_line(one.text)
        asked = text if len(text) <= ASKED else text[:ASKED] + sign("…", "...")
        out.print(Padding(Text.assemble((one_line(one.query), "bold"), f"  {asked}"), (0, 0, 0, 2)))
        told = f"{one.baseline} {sign('→', '->')} {one.current}: {one_line(one.reason)}"
        out.print(Padding(Text(told, style="dim"), (0, 0, 0, 4)))


def _differs(compared: Comparison) -> Table:
    table = _table("", "before", "after", gap=2)
    for one in compared.differences:
        table.add_row(one_line(one.name), _short(one.baseline), _short(one.current))
    return table


def _short(value: str | None) -> str:
    if value is None:
        return sign("–", "-")
    text = one_line(value)
    return f"{text[:12]}{sign('…', '...')}" if len(text) > LONG and " " not in text else text


def _table(*headings: str, gap: int = 1) -> Table:
    """A table as the other commands have it; a heading that begins with > is over figures."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")
    for heading in headings:
        right = heading.startswith(">")
        justify: Literal["left", "right"] = "right" if right else "left"
        table.add_column(heading.removeprefix(">"), justify=justify, no_wrap=right, overflow="fold")
    return table
