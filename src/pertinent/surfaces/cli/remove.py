"""`pertinent remove`: remove a source from the index."""

from __future__ import annotations

from typing import Annotated

import typer

from ..._internal.messages import format_count
from ..._internal.progress import WaitNotices
from .error_reporting import INTERRUPTED, print_notice
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
        try:
            pages = pertinent.remove(name, WaitNotices(print_notice))
        except KeyboardInterrupt:
            print_notice("stopped; some pages may be removed, and the same command removes the others")
            raise typer.Exit(INTERRUPTED) from None
    write(f"Removed {name}: {format_count(pages, 'page')}.\n")
