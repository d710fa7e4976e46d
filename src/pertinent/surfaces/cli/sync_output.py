"""The output of `pertinent index`: the summary of a sync, and the plan of a dry run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._internal.messages import format_count
from .terminal import make_table, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...indexing.plan import PageChange, SyncPlan
    from ...indexing.sync import SyncSummary
    from ...types import Skipped


def print_summary(out: Console, summary: SyncSummary) -> None:
    """Print how many pages and chunks were added, changed, unchanged and removed, and the time taken."""
    table = make_table("", ">added", ">changed", ">unchanged", ">removed", gap=3)
    pages = (summary.pages_added, summary.pages_changed, summary.pages_unchanged, summary.pages_removed)
    table.add_row("pages", *(f"{number:,}" for number in pages))
    # A chunk is identified by its text: a changed one has a new title or heading above the same text.
    chunks = (summary.chunks_added, summary.chunks_changed, summary.chunks_kept, summary.chunks_removed)
    table.add_row("chunks", *(f"{number:,}" for number in chunks))
    out.print(table)
    print_skipped(out, summary.skipped)
    print_notes(out, summary.notes)
    rate = f", {summary.chunks_per_second:,.0f} chunks a second" if summary.chunks_added else ""
    out.print(f"Done in {summary.seconds:.1f} s{rate}.")


def print_skipped(out: Console, skipped: Sequence[Skipped]) -> None:
    """Print which pages the source skipped on purpose, in case they were wanted."""
    for group in skipped:
        pages = format_count(group.pages, "page")
        out.print(f"skipped: {pages} ({one_line(group.reason)})", soft_wrap=True, markup=False, style="dim")


def print_notes(out: Console, notes: Sequence[str]) -> None:
    """Print what the user should know."""
    for note in notes:
        out.print(f"note: {one_line(note)}", soft_wrap=True, markup=False)


def print_plan(out: Console, plan: SyncPlan) -> None:
    """Print every page that a sync would change, and how many chunks it would embed."""
    from rich.text import Text

    def print_line(mark: str, style: str, text: str) -> None:
        out.print(Text(f"  {mark} {text}", style=style), soft_wrap=True)

    title = f"Plan for {one_line(plan.source)} ({one_line(plan.location)})"
    out.print(Text(title, style="bold"), soft_wrap=True)
    for change in plan.changes:
        if change.exists:
            print_line("~", "yellow", f"{'changed':11}{_format_change(change)}")
        else:
            print_line("+", "green", f"{'added':11}{_format_change(change)}")
    for record in plan.removed:
        print_line("-", "red", f"{'removed':11}{one_line(record.source_path)}: {record.chunks} chunks")
    for page in plan.unreadable:
        print_line("!", "red", f"{'unreadable':11}{one_line(page.source_path)}: {one_line(page.reason)}")
    print_skipped(out, plan.skipped)
    print_notes(out, plan.notes)
    for leftover in plan.leftovers:
        print_line("-", "red", f"{'leftover':11}{one_line(leftover)}, from an interrupted run")
    if plan.nothing_to_do:
        out.print(f"Nothing to do: {plan.pages_unchanged:,} pages are unchanged.")
    else:
        out.print(
            f"{plan.pages_unchanged:,} pages unchanged; {plan.chunks_to_embed:,} chunks to embed, "
            f"{plan.chunks_removed:,} to remove. Nothing was written."
        )


def _format_change(change: PageChange) -> str:
    path = one_line(change.source_path)
    return f"{path}: {change.chunks_to_embed} of {change.chunks} chunks to embed"
