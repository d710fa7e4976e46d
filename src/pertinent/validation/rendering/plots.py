"""List the plots of a report; the bar charts of ranks and of reasons are drawn here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ..report import TestCase, ValidationReport
from ..report_defaults import is_answerable
from . import display_names
from .heatmap import plot_heatmap
from .latency_plot import plot_latencies
from .precision_plot import plot_precision
from .svg import KEY, NARROW, Figure, drawing, element, line, text_at

if TYPE_CHECKING:
    from markupsafe import Markup

LEFT, RIGHT, TOP, BOTTOM = 8.0, NARROW - 8.0, 22.0, 168.0
RANKS = 10
NO_RANK = "none"
ROW = 36.0


def list_plots(report: ValidationReport, linked: Collection[int]) -> list[Figure]:
    """List every plot that the report has values for.

    Args:
        report: The report.
        linked: The indices of the queries that the page shows in full.
    """
    scored = [case for case in report.test_cases if is_answerable(case)]
    plots = [
        plot_precision(report, linked),
        plot_ranks(scored),
        plot_latencies(report.test_cases, report.latency),
        plot_heatmap(report.metrics),
        plot_reasons(report.test_cases),
    ]
    return [plot for plot in plots if plot is not None]


def plot_ranks(cases: Sequence[TestCase]) -> Figure | None:
    """Plot how many queries have their best answer at each rank."""
    if not cases:
        return None
    names = [str(rank) for rank in range(1, RANKS + 1)]
    if any((case.rank_of_best or 0) > RANKS for case in cases):
        names.append(f">{RANKS}")
    names.append(NO_RANK)
    tally = Counter((_rank_name(case), case.has_passed) for case in cases)
    counts = [(name, tally[name, True], tally[name, False]) for name in names]
    caption = (
        f"The best answer is first for {sum(counts[0][1:]):,} of {len(cases):,} queries, "
        f"and not among the results for {sum(counts[-1][1:]):,}."
    )
    shapes = [line(LEFT, BOTTOM, RIGHT, BOTTOM, "base"), *_draw_columns(counts)]
    chart = drawing(NARROW, BOTTOM + 26, f"Rank of the best answer. {caption}", *shapes)
    return Figure("Rank of the best answer", caption, chart, KEY)


def plot_reasons(cases: Sequence[TestCase]) -> Figure | None:
    """Plot how many queries failed for each main reason."""
    tally = Counter(case.diagnosis.kind for case in cases if case.diagnosis is not None)
    if not tally:
        return None
    ordered = [
        (display_names.REASONS[kind], n)
        for kind, n in sorted(tally.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
    shapes: list[Markup] = []
    for row, (reason, n) in enumerate(ordered):
        y = 14.0 + row * ROW
        width = max(0.85 * NARROW * n / ordered[0][1], 2.0)
        shapes.append(text_at(LEFT, y, reason))
        shapes.append(element("rect", x=LEFT, y=y + 6, width=width, height=9, class_="failed"))
        shapes.append(text_at(LEFT + width + 7, y + 15, f"{n:,}", "bold"))
    label = ", ".join(f"{reason}: {n:,}" for reason, n in ordered)
    chart = drawing(NARROW, ROW * len(ordered) + 4, f"Why queries failed. {label}", *shapes)
    return Figure("Why queries failed", "The main reason for each failed query.", chart)


def _rank_name(case: TestCase) -> str:
    if case.rank_of_best is None:
        return NO_RANK
    return str(case.rank_of_best) if case.rank_of_best <= RANKS else f">{RANKS}"


def _draw_columns(counts: Sequence[tuple[str, int, int]]) -> Iterator[Markup]:
    """Draw failed on top of passed, with their sum above."""
    step = (RIGHT - LEFT) / len(counts)
    unit = (BOTTOM - TOP) / max(passed + failed for _, passed, failed in counts)
    for index, (name, passed, failed) in enumerate(counts):
        x, y = LEFT + (index + 0.12) * step, BOTTOM
        for state, n in (("passed", passed), ("failed", failed)):
            if n:
                y -= n * unit
                rank = "no rank" if name == NO_RANK else f"rank {name}"
                title = element("title", f"{rank}: {n:,} {state}")
                yield element("rect", title, x=x, y=y, width=0.76 * step, height=n * unit, class_=state)
        if passed + failed:
            yield text_at(x + 0.38 * step, y - 5, f"{passed + failed:,}", "bold", "middle")
        yield text_at(x + 0.38 * step, BOTTOM + 17, name, "axis", "middle")
