"""An answer for the eye: ranked hits with their addresses and the query's words marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .highlight import pattern
from .terminal import clean, one_line, sign

if TYPE_CHECKING:
    from rich.console import Console

    from ...types import Answer, Hit, Scores

INDENT = 4
MARK = "bold underline"
_GAPS = re.compile(r"\n\s*\n\s*\n+")


def print_hits(out: Console, answer: Answer, *, parts: bool) -> None:
    """Every hit, best first; with `parts`, what its score is made of."""
    words = pattern(answer.query)
    for rank, hit in enumerate(answer.hits, start=1):
        if rank > 1:
            out.print()
        _print_hit(out, rank, hit, words, parts=parts)


def _print_hit(out: Console, rank: int, hit: Hit, words: re.Pattern[str] | None, *, parts: bool) -> None:
    from rich.padding import Padding
    from rich.text import Text

    print_head(out, f"{rank}.", hit)
    if parts:
        out.print(Text(" " * INDENT + components(hit.scores), style="dim"))
    passage = Text(_GAPS.sub("\n\n", clean(hit.chunk.text)).strip("\n"))
    if words is not None:
        passage.highlight_regex(words, MARK)
    out.print(Padding(passage, (0, 0, 0, INDENT)))


def print_head(out: Console, label: str, hit: Hit) -> None:
    """Where the hit stands, its score, and its address."""
    from rich.table import Table
    from rich.text import Text

    head = Table.grid(expand=True)
    head.add_column(width=INDENT, no_wrap=True)
    head.add_column(ratio=1, overflow="fold")
    head.add_column(justify="right", no_wrap=True)
    # The list is in the order of the score, so it stands where the eye can run down it.
    score = Text(f"  {hit.score:.3f}", style="green")
    head.add_row(Text(label, style="dim"), Text(breadcrumb(hit), style="bold"), score)
    out.print(head)
    # Soft-wrapped: an address that is broken into lines can't be clicked or copied.
    out.print(Text(" " * INDENT + clean(hit.chunk.citation), style="cyan"), soft_wrap=True)


def breadcrumb(hit: Hit) -> str:
    """Title and section on one line."""
    return one_line(hit.chunk.breadcrumb).replace("›", sign("›", ">"))


def components(scores: Scores) -> str:
    """Both parts of a score in words."""
    named = (("cosine", scores.cosine), ("lexical", scores.lexical))
    return ", ".join(f"{name} {'none' if part is None else f'{part:.3f}'}" for name, part in named)


def print_none(out: Console, answer: Answer, *, filtered: bool) -> None:
    """Say that there is no hit, and how near the nearest came."""
    nearest = answer.excluded[0].hit if answer.excluded else None
    if nearest is None:
        out.print("No passage passes the filter." if filtered else "No passage was found.")
        return
    out.print(f"No passage scores {answer.threshold:g} or more. The nearest:")
    print_head(out, "", nearest)
