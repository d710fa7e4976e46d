"""`pertinent settings`: each value and where it came from."""

from __future__ import annotations

from typing import Annotated

import typer

from .opening import choices
from .terminal import clean, layout, print_json, write


def settings(
    context: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Show every setting and where its value came from, secrets masked.

    A value comes from the first of: a flag, PERTINENT_NAME in the environment,
    a well-known name such as QDRANT_URL, pertinent.toml in this folder or one
    above it, the default.

    For example: PERTINENT_CHUNK_TOKENS=150 pertinent settings
    """
    from ...settings import GIVEN

    shown = [
        one._replace(origin="the command line") if one.origin == GIVEN else one
        for one in choices(context).load().list_origins()
    ]
    if as_json:
        print_json([{"name": one.name, "value": one.value, "origin": one.origin} for one in shown])
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("setting", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", overflow="fold")
    for one in shown:
        unset = Text("not set", style="dim")
        table.add_row(
            one.name,
            Text(clean(one.value)) if one.value else unset,
            Text(clean(one.origin), style="dim" if one.origin == "default" else ""),
        )
    write(layout(lambda out: out.print(table)))
