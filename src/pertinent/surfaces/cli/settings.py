"""`pertinent settings`: print every setting and the origin of its value."""

from __future__ import annotations

import typer  # noqa: TC002 - Typer evaluates the annotations

from .global_options import JsonFlag, get_global_options
from .terminal import clean, make_table, print_json, render, write


def settings(context: typer.Context, *, as_json: JsonFlag = False) -> None:
    """Print every setting and the origin of its value, with secrets masked.

    A value comes from the first of these that has it: a flag, PERTINENT_NAME in
    the environment, a common name such as QDRANT_URL, the nearest pertinent.toml
    in this folder or above, the default.

    For example: PERTINENT_CHUNK_TOKENS=150 pertinent settings
    """
    from ...settings import FROM_CALLER

    rows = [
        setting._replace(origin="the command line") if setting.origin == FROM_CALLER else setting
        for setting in get_global_options(context).load_settings().list_origins()
    ]
    if as_json:
        print_json([setting._asdict() for setting in rows])
        return
    from rich.text import Text

    table = make_table("setting", "value", "origin", gap=3)
    table.columns[0].no_wrap = True
    for setting in rows:
        table.add_row(
            setting.name,
            Text(clean(setting.value)) if setting.value else Text("not set", style="dim"),
            Text(clean(setting.origin), style="dim" if setting.origin == "default" else ""),
        )
    write(render(lambda out: out.print(table)))
