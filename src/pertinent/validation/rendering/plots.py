"""A report's figures as drawings; the two that are plain bars are drawn here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ..defaults import is_answerable
from ..report import TestCase, ValidationReport
from . import words
from .cases import is_good
from .curve import latencies
from .heatmap import heat_map
from .strip import precision
from .svg import KEY, NARROW, Figure, drawing, element, line
from .svg import words as at

if TYPE_CHECKING:
    from markupsafe import Markup

LEFT, RIGHT, TOP, BOTTOM = 8.0, NARROW - 8.0, 22.0, 168.0
RANKS = 10
NONE = "none"
ROW = 36.0


def plots(report: ValidationReport, linked: Collection[int]) -> list[Figure]:
    """Every figure that the report has something for; `linked` are the places of queries shown in full."""
    scored = [case for case in report.test_cases if is_answerable(case)]
    found = [
        precision(report, linked),
        ranks(scored),
        latencies(report.test_cases, report.latency),
        heat_map(report.metrics),
        reasons(report.test_cases),
    ]
    return [one for one in found if one is not None]


def ranks(cases: Sequence[TestCase]) -> Figure | None:
    """How many queries have their best answer at each rank."""
    if not cases:
        return None
    names = [str(rank) for rank in range(1, RANKS + 1)]
    if any((case.rank_of_best or 0) > RANKS for case in cases):
        names.append(f">{RANKS}")
    names.append(NONE)
    found = Counter((_rank(case), is_good(case)) for case in cases)
    counts = [(name, found[name, True], found[name, False]) for name in names]
    told = (
        f"Best answer first: {sum(counts[0][1:]):,} of {len(cases):,} queries. "
        f"Not among the results: {sum(counts[-1][1:]):,}."
    )
    inside = [line(LEFT, BOTTOM, RIGHT, BOTTOM, "base"), *_columns(counts)]
    shape = drawing(NARROW, BOTTOM + 26, f"Rank of the best answer. {told}", *inside)
    return Figure("Rank of the best answer", told, shape, KEY)


def reasons(cases: Sequence[TestCase]) -> Figure | None:
    """How many queries failed for each main reason."""
    found = Counter(case.diagnosis.kind for case in cases if case.diagnosis is not None)
    if not found:
        return None
    ordered = [
        (words.REASONS[kind], n) for kind, n in sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
    inside: list[Markup] = []
    for row, (reason, n) in enumerate(ordered):
        y = 14.0 + row * ROW
        width = max(0.85 * NARROW * n / ordered[0][1], 2.0)
        inside.append(at(LEFT, y, reason))
        inside.append(element("rect", x=LEFT, y=y + 6, width=width, height=9, class_="failed"))
        inside.append(at(LEFT + width + 7, y + 15, f"{n:,}", "bold"))
    told = ", ".join(f"{reason}: {n:,}" for reason, n in ordered)
    shape = drawing(NARROW, ROW * len(ordered) + 4, f"Why queries failed. {told}", *inside)
    return Figure("Why queries failed", "The main reason of each failed query.", shape)


def _rank(case: TestCase) -> str:
    if case.rank_of_best is None:
        return NONE
    return str(case.rank_of_best) if case.rank_of_best <= RANKS else f">{RANKS}"


def _columns(counts: Sequence[tuple[str, int, int]]) -> Iterator[Markup]:
    """Failed on top of passed, with their sum above."""
    step = (RIGHT - LEFT) / len(counts)
    unit = (BOTTOM - TOP) / max(passed + failed for _, passed, failed in counts)
    for place, (name, passed, failed) in enumerate(counts):
        x, y = LEFT + (place + 0.12) * step, BOTTOM
        for state, n in (("passed", passed), ("failed", failed)):
            if n:
                y -= n * unit
                where = "no rank" if name == NONE else f"rank {name}"
                title = element("title", f"{where}: {n:,} {state}")
                yield element("rect", title, x=x, y=y, width=0.76 * step, height=n * unit, class_=state)
        if passed + failed:
            yield at(x + 0.38 * step, y - 5, f"{passed + failed:,}", "bold", "middle")
        yield at(x + 0.38 * step, BOTTOM + 17, name, "axis", "middle")
