"""The text output of `pertinent search`: ranked hits with addresses and highlighted words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .highlight import compile_query_pattern
from .terminal import clean, one_line, symbol

if TYPE_CHECKING:
    from rich.console import Console

    from ...types import Answer, Chunk, Hit, Scores

INDENT = 4
HIGHLIGHT = "bold underline"
_BLANK_LINES = re.compile(r"\n\s*\n\s*\n+")


def print_hits(out: Console, answer: Answer, *, with_scores: bool) -> None:
    """Print every hit, best first; `with_scores` adds the parts of each score."""
    from rich.padding import Padding
    from rich.text import Text

    pattern = compile_query_pattern(answer.query)
    for rank, hit in enumerate(answer.hits, start=1):
        if rank > 1:
            out.print()
        print_hit_heading(out, f"{rank}.", hit)
        if with_scores:
            out.print(Text(" " * INDENT + format_scores(hit.scores), style="dim"))
        passage = Text(_BLANK_LINES.sub("\n\n", clean(hit.chunk.text)).strip("\n"))
        if pattern is not None:
            passage.highlight_regex(pattern, HIGHLIGHT)
        out.print(Padding(passage, (0, 0, 0, INDENT)))


def print_hit_heading(out: Console, label: str, hit: Hit) -> None:
    """Print title, section, score and address of a hit."""
    from rich.table import Table
    from rich.text import Text

    heading = Table.grid(expand=True)
    heading.add_column(width=INDENT, no_wrap=True)
    heading.add_column(ratio=1, overflow="fold")
    heading.add_column(justify="right", no_wrap=True)
    score = Text(f"  {hit.score:.3f}", style="green")
    heading.add_row(Text(label, style="dim"), Text(format_breadcrumb(hit.chunk), style="bold"), score)
    out.print(heading)
    # Soft-wrapped: an address that is broken into lines can't be clicked or copied.
    out.print(Text(" " * INDENT + clean(hit.chunk.citation), style="cyan"), soft_wrap=True)


def format_breadcrumb(chunk: Chunk) -> str:
    """Return title and section on one line."""
    return one_line(chunk.breadcrumb).replace("›", symbol("›", ">"))


def format_scores(scores: Scores) -> str:
    """Return the parts of a score as text."""
    parts = {"cosine": scores.cosine, "lexical": scores.lexical}
    return ", ".join(f"{name} {'none' if part is None else f'{part:.3f}'}" for name, part in parts.items())


def print_no_hits(out: Console, answer: Answer, *, filtered: bool) -> None:
    """Say that nothing was found, and show the best passage below the threshold."""
    if not answer.excluded:
        out.print("No passage matches the filter." if filtered else "No passage was found.")
        return
    out.print(f"No passage scores {answer.threshold:g} or more. The nearest:")
    print_hit_heading(out, "", answer.excluded[0].hit)
