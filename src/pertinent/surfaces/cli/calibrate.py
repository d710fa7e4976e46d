"""`pertinent calibrate`: propose the threshold from which a hit counts as an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer  # noqa: TC002 - Typer evaluates the annotations

from ..._internal.messages import count_queries
from ...types import Ranking
from .global_options import GoldenArgument, JsonFlag, RankingOption, open_pertinent
from .terminal import make_table, one_line, print_json, render, symbol, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from ...validation.calibration import Calibration
    from ...validation.golden.golden_set import GoldenSet
    from ...validation.target import ValidationTarget

BAR_WIDTH = 13
"""Columns of a full bar: three bars with their figures fit into 80 columns."""

MAX_ROWS = 20
"""Rows of the plot, without those of the proposed and the current threshold."""

STEPS = (0.01, 0.02, 0.025, 0.05)
EIGHTHS = " ▏▎▍▌▋▊▉█"
MEASURES = ("still answered", "relevant kept", "false answers")


def calibrate(
    context: typer.Context,
    golden: GoldenArgument,
    ranking: RankingOption = None,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Propose a score threshold: hits below it do not count as answers.

    Runs every query of the golden set, and finds the threshold that keeps the most
    answers and rejects the most hits of queries without an answer. The golden set
    needs both kinds of queries. Prints what each threshold costs. Changes nothing.

    For example:
      pertinent calibrate golden.yaml
      pertinent calibrate golden.yaml --ranking dense
      pertinent calibrate golden.yaml --json | jq .threshold
    """
    from ...validation.golden.formats import read_golden
    from ..validation_targets import LocalPipeline

    golden_set = read_golden(golden)
    with open_pertinent(context) as pertinent:
        calibration = _run(LocalPipeline(pertinent.workspace), golden_set, ranking)
    if as_json:
        print_json(calibration.model_dump(mode="json"))
    else:
        write(render(lambda out: print_calibration(out, calibration)))


def _run(pipeline: ValidationTarget, golden: GoldenSet, ranking: Ranking | None) -> Calibration:
    from ...validation.calibration import calibrate
    from ...validation.labels.resolve import resolve_labels
    from ...validation.runner import QueryRunner, run_queries
    from .progress import show_progress

    resolved = resolve_labels(golden, pipeline.pages())
    runner = QueryRunner(pipeline, ranking, unit=golden.unit)
    # A broken store or model is reported once here, not for every query.
    runner.warm_up()
    with show_progress() as progress:
        progress.stage("Running queries", len(golden.queries))
        outcomes = run_queries(runner, golden.queries, advance=progress.advance)
    return calibrate(golden, outcomes, resolved)


def print_calibration(out: Console, calibration: Calibration) -> None:
    """Print the plot, the proposed threshold, what it costs, and where to set it."""
    from rich.text import Text

    unscored = f"; {len(calibration.left_out)} gave no score" if calibration.left_out else ""
    out.print(
        f"{one_line(calibration.golden)}, ranking {calibration.ranking}: "
        f"{count_queries(calibration.answerable)} with an answer, "
        f"{calibration.unanswerable} without{unscored}"
    )
    out.print()
    out.print(_make_plot(calibration))
    out.print()
    threshold = _format_threshold(calibration.threshold)
    out.print(
        Text.assemble(
            "Proposed: ",
            (threshold, "bold"),
            f" (95 % interval {calibration.low:.3f} to {calibration.high:.3f}; any threshold above "
            f"{calibration.plateau[0]:.3f} and up to {calibration.plateau[1]:.3f} is equally good)",
        )
    )
    out.print(_make_cost_table(calibration))
    out.print(
        f"AUC {calibration.auc:.3f}: how often a query with an answer scores above one without. "
        f"Rule: {calibration.rule}."
    )
    for warning in calibration.warnings:
        out.print(Text(f"{symbol('⚠', '!')} {one_line(warning)}", style="yellow"))
    out.print()
    out.print("In the golden file:")
    out.print(f"  answer_threshold: {threshold}")
    out.print("In a search:")
    query = symbol("…", "...")
    out.print(f'  pertinent search "{query}" --ranking {calibration.ranking} --threshold {threshold}')


def _make_plot(calibration: Calibration) -> Table:
    table = make_table(">threshold", *MEASURES, "", gap=1)
    for column in table.columns[1:-1]:
        column.width = BAR_WIDTH + len(" 100%")
    for column in table.columns:
        column.no_wrap = True
    marks = {calibration.present.threshold: "present", calibration.threshold: "proposed"}
    for threshold in sorted({*_choose_thresholds(calibration), *marks}):
        point = calibration.point_at(threshold)
        mark = f"{symbol('←', '<-')} {marks[threshold]}" if threshold in marks else ""
        bars = map(_draw_bar, (point.answered, point.kept, point.false_answers))
        table.add_row(_format_threshold(threshold), *bars, mark)
    return table


def _format_threshold(threshold: float) -> str:
    """Format with two decimals, or with more if it has more."""
    return f"{threshold:.2f}" if threshold == round(threshold, 2) else str(threshold)


def _choose_thresholds(calibration: Calibration) -> Sequence[float]:
    """Return evenly spaced thresholds around all scores and both marked thresholds."""
    marked = (calibration.threshold, calibration.present.threshold)
    scores = sorted([*(point.threshold for point in calibration.curve[1:-1]), *marked])
    width = scores[-1] - scores[0]
    step = next((step for step in STEPS if width / step <= MAX_ROWS - 3), STEPS[-1])
    first, last = int(scores[0] / step), int(scores[-1] / step) + 1
    return [round(number * step, 3) for number in range(first, last + 1) if number * step <= 1.0]


def _draw_bar(share: float | None) -> str:
    """Draw a share as a bar, followed by its percentage."""
    if share is None:
        return symbol("–", "-")
    full, eighths = divmod(round(share * BAR_WIDTH * 8), 8)
    unicode_bar = "█" * full + (EIGHTHS[eighths] if eighths else "")
    bar = symbol(unicode_bar, "#" * round(share * BAR_WIDTH))
    return f"{bar:{BAR_WIDTH}}{share:5.0%}"


def _make_cost_table(calibration: Calibration) -> Table:
    table = make_table("", *(f">{measure}" for measure in (*MEASURES, "balanced")))
    for label, point in (("proposed", calibration.proposed), ("present", calibration.present)):
        table.add_row(
            f"{label} {_format_threshold(point.threshold)}",
            _format_share(point.answered, calibration.answerable),
            _format_share(point.kept, calibration.judged),
            _format_share(point.false_answers, calibration.unanswerable),
            f"{point.balanced_accuracy:.1%}",
        )
    return table


def _format_share(share: float | None, total: int) -> str:
    return "" if share is None else f"{round(share * total)} of {total} ({share:.0%})"
