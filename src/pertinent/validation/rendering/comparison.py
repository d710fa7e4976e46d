"""Two reports compared, as Markdown for the page of a CI job."""

from __future__ import annotations

from ..._internal.messages import count_queries
from ..comparison.compare import Comparison
from .markdown import plain

HEADINGS = ("Measure", "Before", "After", "Change", "95% interval", "p", "Verdict")


def markdown_comparison(compared: Comparison) -> str:
    """The labels that count, the figures of both runs, and which queries turned."""
    lines = [
        "### Compared with the baseline",
        "",
        plain(compared.scored_with),
        "",
        f"{count_queries(compared.n)} in common.",
        "",
        f"| {' | '.join(HEADINGS)} |",
        "|:--|--:|--:|--:|--:|--:|:--|",
    ]
    for change in compared.changes:
        cells = (
            change.measure,
            f"{change.baseline:.3f}",
            f"{change.current:.3f}",
            f"{change.difference:+.3f}",
            f"{change.low:+.3f} to {change.high:+.3f}",
            f"{change.p:.3f}",
            change.verdict,
        )
        lines.append(f"| {' | '.join(map(plain, cells))} |")
    points = [
        *compared.notes,
        *(f"newly failing: {turn.query}: {turn.reason}" for turn in compared.newly_failing),
        *(f"newly passing: {turn.query}" for turn in compared.newly_passing),
    ]
    if points:
        lines += ["", *(f"- {plain(point)}" for point in points)]
    return "\n".join(lines) + "\n"
