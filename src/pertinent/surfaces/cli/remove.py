"""`pertinent remove`: remove a source from the index."""

from __future__ import annotations

from typing import Annotated

import typer

from ..._internal.messages import format_count
from .global_options import open_pertinent
from .terminal import write


def remove(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The name of the source, as in `pertinent list`.", show_default=False
        ),
    ],
) -> None:
    """Remove a source and all its pages from the index.

    For example: pertinent remove https://example.org/docs
    """
    with open_pertinent(context) as pertinent:
        pages = pertinent.remove(name)
    write(f"Removed {name}: {format_count(pages, 'page')}.\n")
