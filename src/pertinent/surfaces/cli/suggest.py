"""`pertinent suggest`: print pages and sections whose name fits a text."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ...limits import SUGGESTIONS
from .global_options import JsonFlag, get_global_options, open_reader
from .terminal import clean, one_line, print_json, render, symbol, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...types import Suggestion


def suggest(
    context: typer.Context,
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="The beginning of a name, or words of it.", show_default=False),
    ],
    limit: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=SUGGESTIONS.top_k_max, help="The maximum number of suggestions."
        ),
    ] = 8,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Print the pages and sections whose name fits a text, best first. Typos are allowed.

    For example: pertinent suggest "joint lim" --limit 3
    """
    with open_reader(get_global_options(context).load_settings().settings) as reader:
        suggestions = reader.suggest(text, limit)
    if as_json:
        print_json({"suggestions": [asdict(suggestion) for suggestion in suggestions]})
    else:
        write(render(lambda out: _print_suggestions(out, suggestions)))


def _print_suggestions(out: Console, suggestions: Sequence[Suggestion]) -> None:
    from rich.text import Text

    if not suggestions:
        out.print("No page or section has such a name.")
    for suggestion in suggestions:
        breadcrumb = one_line(suggestion.breadcrumb).replace("›", symbol("›", ">"))
        out.print(Text(breadcrumb, style="bold"))
        out.print(Text(f"    {clean(suggestion.url)}", style="cyan"), soft_wrap=True)
