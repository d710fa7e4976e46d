"""`pertinent remove`: take a source out of the index."""

from __future__ import annotations

from typing import Annotated

import typer

from ..._internal.messages import format_count
from .opening import opened
from .terminal import write


def remove(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The source's name, as `pertinent list` shows it.", show_default=False
        ),
    ],
) -> None:
    """Take a source and all its pages out of the index.

    For example: pertinent remove https://example.org/docs
    """
    with opened(context) as pertinent:
        pages = pertinent.remove(name)
    write(f"Removed {name}: {format_count(pages, 'page')}.\n")
