"""`pertinent show`: one chunk, and the text around it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ...limits import check_count
from .global_options import number, opened
from .terminal import clean, layout, one_line, print_json, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...types import Chunk


def show(
    context: typer.Context,
    chunk_id: Annotated[
        str, typer.Argument(metavar="CHUNK_ID", help="The id, as search --json gives it.", show_default=False)
    ],
    around: Annotated[
        str, typer.Option(metavar="N", help="How many chunks before and after it to show too (0-100).")
    ] = "0",
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Show a chunk by its id, with what stands around it.

    For example: pertinent show nodes-1a2b3c4d-0123456789ab --around 1
    """
    from ..library import MOST_AROUND

    wide = check_count("around", number(around), MOST_AROUND, least=0)
    with opened(context) as pertinent:
        chunks = pertinent.chunk(chunk_id, wide)
    if as_json:
        print_json(
            {
                "chunk_id": chunk_id,
                "chunks": [asdict(chunk) | {"citation": chunk.citation} for chunk in chunks],
            }
        )
    else:
        write(layout(lambda out: _show(out, chunks, chunk_id)))


def _show(out: Console, chunks: Sequence[Chunk], chunk_id: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    for number_, chunk in enumerate(chunks):
        if number_:
            out.print()
        asked = chunk.chunk_id == chunk_id
        out.print(Text(one_line(chunk.breadcrumb), style="bold" if asked else "dim"))
        out.print(Text(clean(chunk.citation), style="cyan" if asked else "dim"), soft_wrap=True)
        if asked:
            place = f"chunk {chunk.position} of its page, characters {chunk.start}-{chunk.end}"
            out.print(Text(f"{clean(chunk.chunk_id)}, {place}, {one_line(chunk.source_path)}", style="dim"))
        out.print(Padding(Text(clean(chunk.text), style="" if asked else "dim"), (0, 0, 0, 4)))
