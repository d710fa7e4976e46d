"""Render the comparison of two reports as Markdown for the page of a CI job."""

from __future__ import annotations

from ..._internal.messages import count_queries
from ..comparison.compare import Comparison
from .markdown import escape_markdown, format_table

HEADINGS = ("Measure", "Before", "After", "Change", "95% interval", "p", "Verdict")


def render_markdown_comparison(compared: Comparison) -> str:
    """Render the labels that were used, the measures of both runs, and the queries that changed."""
    rows = (
        [
            change.measure,
            f"{change.baseline:.3f}",
            f"{change.current:.3f}",
            f"{change.difference:+.3f}",
            f"{change.low:+.3f} to {change.high:+.3f}",
            f"{change.p:.3f}",
            change.verdict,
        ]
        for change in compared.changes
    )
    points = [
        *compared.notes,
        *(f"newly failing: {turn.query}: {turn.reason}" for turn in compared.newly_failing),
        *(f"newly passing: {turn.query}" for turn in compared.newly_passing),
    ]
    parts = [
        "### Compared with the baseline",
        escape_markdown(compared.scored_with),
        f"{count_queries(compared.n)} in both reports.",
        format_table(HEADINGS, "lrrrrrl", [[escape_markdown(cell) for cell in row] for row in rows]),
        "\n".join(f"- {escape_markdown(point)}" for point in points),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
