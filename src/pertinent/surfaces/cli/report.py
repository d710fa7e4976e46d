"""What a sync did, or would do, for the eye."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._internal.messages import format_count
from .terminal import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...indexing.plan import PageChange, Plan
    from ...indexing.sync import Summary
    from ...types import Skipped


def print_summary(out: Console, summary: Summary) -> None:
    """Pages and chunks by what became of them, and how long it took."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column("")
    for heading in ("added", "changed", "unchanged", "removed"):
        table.add_column(heading, justify="right")
    pages = (summary.pages_added, summary.pages_changed, summary.pages_unchanged, summary.pages_removed)
    table.add_row("pages", *(f"{number:,}" for number in pages))
    # A chunk is known by its text: changed is one that stands under another title or heading now.
    chunks = (summary.chunks_added, summary.chunks_changed, summary.chunks_kept, summary.chunks_removed)
    table.add_row("chunks", *(f"{number:,}" for number in chunks))
    out.print(table)
    print_skipped(out, summary.skipped)
    rate = f", {summary.chunks_per_second:,.0f} chunks a second" if summary.chunks_added else ""
    out.print(f"Done in {summary.seconds:.1f} s{rate}.")


def print_skipped(out: Console, skipped: Sequence[Skipped]) -> None:
    """What a source left out on purpose, which may not be what was meant."""
    for one in skipped:
        pages = format_count(one.pages, "page")
        out.print(f"skipped: {pages} ({one_line(one.reason)})", soft_wrap=True, markup=False, style="dim")


def print_plan(out: Console, plan: Plan) -> None:
    """Every page that a sync would touch, and what it would cost."""
    from rich.text import Text

    def line(mark: str, style: str, text: str) -> None:
        out.print(Text(f"  {mark} {text}", style=style), soft_wrap=True)

    out.print(
        Text(f"Plan for {one_line(plan.source)} ({one_line(plan.location)})", style="bold"), soft_wrap=True
    )
    for change in plan.changes:
        verb = "changed" if change.exists else "added"
        line(
            "~" if change.exists else "+", "yellow" if change.exists else "green", f"{verb:11}{_cost(change)}"
        )
    for record in plan.removed:
        line("-", "red", f"{'removed':11}{one_line(record.source_path)}: {record.chunks} chunks go")
    for one in plan.unreadable:
        line("!", "red", f"{'unreadable':11}{one_line(one.source_path)}: {one_line(one.reason)}")
    print_skipped(out, plan.skipped)
    for leftover in plan.leftovers:
        line("-", "red", f"{'leftover':11}{one_line(leftover)}, of a run that was broken off")
    if plan.nothing_to_do:
        out.print(f"Nothing to do: {len(plan.unchanged):,} pages are unchanged.")
    else:
        out.print(
            f"{len(plan.unchanged):,} pages unchanged; {plan.chunks_to_embed:,} chunks to embed, "
            f"{plan.chunks_removed:,} to remove. Nothing was written."
        )


def _cost(change: PageChange) -> str:
    path = one_line(change.page.source_path)
    return f"{path}: {len(change.to_embed)} of {len(change.entries)} chunks to embed"
