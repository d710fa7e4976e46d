"""The text output of `pertinent search`: ranked hits with addresses and highlighted words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .terminal import clean, one_line, symbol

if TYPE_CHECKING:
    from rich.console import Console

    from ...search.snippets import Snippet
    from ...search.terms import Analyzer
    from ...types import Answer, Chunk, Hit, Scores

INDENT = 4
HIGHLIGHT = "bold underline"
_BLANK_LINES = re.compile(r"\n\s*\n\s*\n+")


def print_hits(out: Console, answer: Answer, analyzer: Analyzer, *, full: bool, with_scores: bool) -> None:
    """Print every hit, best first.

    Args:
        out: The console to print to.
        answer: The answer with the hits.
        analyzer: Finds the words to highlight.
        full: Print whole passages, not only the lines that match best.
        with_scores: Add the parts of each score.
    """
    from rich.padding import Padding
    from rich.text import Text

    for rank, hit in enumerate(answer.hits, start=1):
        if rank > 1:
            out.print()
        print_hit_heading(out, f"{rank}.", hit)
        if with_scores:
            out.print(Text(" " * INDENT + format_scores(hit.scores), style="dim"))
        text, highlights = _shorten_passage(hit.chunk.text, answer.searched_for, analyzer, full=full)
        passage = Text(text)
        for start, end in highlights:
            passage.stylize(HIGHLIGHT, start, end)
        out.print(Padding(passage, (0, 0, 0, INDENT)))


def _shorten_passage(passage: str, query: str, analyzer: Analyzer, *, full: bool) -> Snippet:
    from ...search.snippets import Snippet, find_highlights, make_snippet

    text = _BLANK_LINES.sub("\n\n", clean(passage)).strip("\n")
    if full:
        return Snippet(text, find_highlights(text, query, analyzer))
    return make_snippet(text, query, analyzer)


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
    """Return the features of a score as text, for the ranking `hybrid` with what each adds to the match."""
    from ...search.ranking import weigh_features

    added = weigh_features(scores) if scores.page is not None else {}
    return ", ".join(
        f"{name} {value:.3f}" + (f" (+{added[name]:.3f})" if name in added else "")
        for name, value in scores._asdict().items()
        if value is not None
    )


def print_no_hits(out: Console, answer: Answer, *, filtered: bool) -> None:
    """Say that nothing was found, and show the best passage below the threshold."""
    if not answer.excluded:
        out.print("No passage matches the filter." if filtered else "No passage was found.")
        return
    out.print(f"No passage scores {answer.threshold:g} or more. The nearest:")
    print_hit_heading(out, "", answer.excluded[0].hit)
