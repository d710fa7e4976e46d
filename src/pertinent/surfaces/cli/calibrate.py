"""`pertinent calibrate`: from which score on a result is an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..._internal.messages import count_queries
from ...types import Ranking
from .opening import opened
from .terminal import layout, one_line, print_json, sign, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from ...validation.calibration import Calibration, ThresholdPoint
    from ...validation.golden.golden_set import GoldenSet
    from ...validation.target import ValidationTarget

BAR = 13
"""How many columns a full bar has: three of them and their figures fit into 80."""

ROWS = 20
"""How many rows the plot has at most, beside the proposed and the present threshold."""

STEPS = (0.01, 0.02, 0.025, 0.05)
EIGHTHS = " ▏▎▍▌▋▊▉█"


def calibrate(
    context: typer.Context,
    golden: Annotated[
        str,
        typer.Argument(
            metavar="GOLDEN",
            help="A golden set with queries that have an answer, and some that have none.",
            show_default=False,
        ),
    ],
    ranking: Annotated[
        Ranking | None,
        typer.Option(metavar="NAME", help="hybrid, dense or lexical; hybrid unless set."),
    ] = None,
    *,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Propose the score from which on a result counts as an answer.

    Asks every query of the golden set, and looks for the threshold that keeps the
    answers and holds back results for queries that have none; shows what each
    threshold costs, and how sure the proposal is. Nothing is changed.

    For example:
      pertinent calibrate golden.yaml
      pertinent calibrate golden.yaml --ranking dense
      pertinent calibrate golden.yaml --json | jq .threshold
    """
    from ...validation.golden.formats import read_golden
    from ..subjects import Local

    asked = read_golden(golden)
    with opened(context) as pertinent:
        found = _run(Local(pertinent.workspace), asked, ranking)
    if json_:
        print_json(found.model_dump(mode="json"))
    else:
        write(layout(lambda out: print_calibration(out, found)))


def _run(subject: ValidationTarget, golden: GoldenSet, ranking: Ranking | None) -> Calibration:
    from ...validation.calibration import calibrate
    from ...validation.labels.resolve import resolve_labels
    from ...validation.runner import QueryRunner, run_queries
    from .progress import progress

    resolved = resolve_labels(golden, subject.pages())
    runner = QueryRunner(subject, ranking, unit=golden.unit)
    # A broken pipeline raises here, before it fails every query.
    runner.warm_up()
    with progress() as bar:
        bar.stage("Running queries", len(golden.queries))
        outcomes = run_queries(runner, golden.queries, advance=bar.advance)
    return calibrate(golden, outcomes, resolved)


def print_calibration(out: Console, found: Calibration) -> None:
    """The curve, the proposal, what it costs, and what to write where."""
    from rich.text import Text

    left_out = f"; {len(found.left_out)} gave no score" if found.left_out else ""
    out.print(
        f"{one_line(found.golden)}, ranking {found.ranking}: {count_queries(found.answerable)} with an "
        f"answer, {found.unanswerable} without{left_out}"
    )
    out.print()
    out.print(_plot(found))
    out.print()
    out.print(
        Text.assemble(
            "Proposed: ",
            (_short(found.threshold), "bold"),
            f" (95 % interval {found.low:.3f} to {found.high:.3f}; "
            f"as good: above {found.plateau[0]:.3f}, up to {found.plateau[1]:.3f})",
        )
    )
    out.print(_costs(found))
    out.print(
        f"AUC {found.auc:.3f}: so often a query with an answer scores above one without. Rule: {found.rule}."
    )
    for warning in found.warnings:
        out.print(Text(f"{sign('⚠', '!')} {one_line(warning)}", style="yellow"))
    out.print()
    out.print("In the golden file:")
    out.print(f"  answer_threshold: {_short(found.threshold)}")
    out.print("In a search:")
    asked = sign("…", "...")
    out.print(f'  pertinent search "{asked}" --ranking {found.ranking} --threshold {_short(found.threshold)}')


def _plot(found: Calibration) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("threshold", justify="right", no_wrap=True)
    for heading in ("still answered", "relevant kept", "false answers"):
        table.add_column(heading, no_wrap=True, width=BAR + 5)
    table.add_column("", no_wrap=True)
    marks = {found.present.threshold: "present", found.threshold: "proposed"}
    for threshold in sorted({*_grid(found), *marks}):
        point = found.at(threshold)
        mark = f"{sign('←', '<-')} {marks[threshold]}" if threshold in marks else ""
        shares = (point.answered, point.kept, point.false_answers)
        table.add_row(_short(threshold), *(_bar(share) for share in shares), mark)
    return table


def _short(threshold: float) -> str:
    """With two decimals, or as many as it has."""
    return f"{threshold:.2f}" if threshold == round(threshold, 2) else str(threshold)


def _grid(found: Calibration) -> Sequence[float]:
    """Even thresholds over the scores that were seen and both thresholds, and one beyond to either side."""
    marked = (found.threshold, found.present.threshold)
    seen = sorted([*(point.threshold for point in found.curve[1:-1]), *marked])
    wide = seen[-1] - seen[0]
    step = next((one for one in STEPS if wide / one <= ROWS - 3), STEPS[-1])
    first, last = int(seen[0] / step), int(seen[-1] / step) + 1
    return [round(place * step, 3) for place in range(first, last + 1) if place * step <= 1.0]


def _bar(share: float | None) -> str:
    """A share as a bar and as a figure."""
    if share is None:
        return sign("–", "-")
    if sign("█", "") == "":
        drawn = "#" * round(share * BAR)
    else:
        whole, part = divmod(round(share * BAR * 8), 8)
        drawn = "█" * whole + (EIGHTHS[part] if part else "")
    return f"{drawn:{BAR}}{share:5.0%}"


def _costs(found: Calibration) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for heading in ("still answered", "relevant kept", "false answers", "balanced"):
        table.add_column(heading, justify="right", no_wrap=True)
    for what, point in (("proposed", found.proposed), ("present", found.present)):
        table.add_row(f"{what} {_short(point.threshold)}", *_cost(point, found))
    return table


def _cost(point: ThresholdPoint, found: Calibration) -> tuple[str, ...]:
    return (
        _of(point.answered, found.answerable),
        _of(point.kept, found.judged),
        _of(point.false_answers, found.unanswerable),
        f"{point.balanced_accuracy:.1%}",
    )


def _of(share: float | None, n: int) -> str:
    return "" if share is None else f"{round(share * n)} of {n} ({share:.0%})"
