"""`pertinent show`: print a chunk and its neighbours."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ...limits import MAX_NEIGHBORS
from .global_options import JsonFlag, get_global_options, open_reader
from .search_output import format_breadcrumb
from .terminal import clean, one_line, print_json, render, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...types import Chunk


def show(
    context: typer.Context,
    chunk_id: Annotated[
        str,
        typer.Argument(
            metavar="CHUNK_ID", help="The id of a chunk, as in search --json.", show_default=False
        ),
    ],
    around: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=MAX_NEIGHBORS, help="Also print this many chunks before and after it."
        ),
    ] = 0,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Print a chunk by its id, with the chunks around it.

    For example: pertinent show nodes-1a2b3c4d-0123456789ab --around 1
    """
    with open_reader(get_global_options(context).load_settings().settings) as reader:
        chunks = reader.chunk(chunk_id, around)
    if as_json:
        print_json(
            {
                "chunk_id": chunk_id,
                "chunks": [asdict(chunk) | {"citation": chunk.citation} for chunk in chunks],
            }
        )
    else:
        write(render(lambda out: _print_chunks(out, chunks, chunk_id)))


def _print_chunks(out: Console, chunks: Sequence[Chunk], chunk_id: str) -> None:
    """Print the chunks in order; all but the requested one are dimmed."""
    from rich.padding import Padding
    from rich.text import Text

    for number, chunk in enumerate(chunks):
        if number:
            out.print()
        requested = chunk.chunk_id == chunk_id
        out.print(Text(format_breadcrumb(chunk), style="bold" if requested else "dim"))
        out.print(Text(clean(chunk.citation), style="cyan" if requested else "dim"), soft_wrap=True)
        if requested:
            position = f"chunk {chunk.position} of its page, characters {chunk.start}-{chunk.end}"
            details = f"{clean(chunk.chunk_id)}, {position}, {one_line(chunk.source_path)}"
            out.print(Text(details, style="dim"))
        out.print(Padding(Text(clean(chunk.text), style="" if requested else "dim"), (0, 0, 0, 4)))
