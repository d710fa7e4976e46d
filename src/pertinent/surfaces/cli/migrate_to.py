"""`pertinent migrate-to qdrant`: copy the embedded index to a server, without embedding again."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ...errors import InvalidInput
from .global_options import get_global_options, print_retries
from .terminal import write


def migrate_to(
    context: typer.Context,
    target: Annotated[
        Literal["qdrant"], typer.Argument(metavar="qdrant", help="The kind of server: qdrant.")
    ],
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The Qdrant server, or the peers of a cluster separated by commas. Default: QDRANT_URL.",
        ),
    ] = None,
    database_url: Annotated[
        str | None,
        typer.Option(
            "--database-url", metavar="URL", help="A PostgreSQL database, to copy the catalog there, too."
        ),
    ] = None,
) -> None:
    """Copy the embedded index to a Qdrant server, without embedding anything again.

    The embedded index is not changed. After an interruption, run the same command
    again. The settings of the new collection (shards, replicas, quantisation) come
    from pertinent.toml and the environment.

    For example:
      pertinent migrate-to qdrant --url http://qdrant:6333
      pertinent migrate-to qdrant --url http://a:6333,http://b:6333 --database-url postgresql://…
    """
    from ...workspace.workspace import Workspace
    from ..library import Pertinent
    from .progress import show_progress

    del target  # there is only one
    settings = get_global_options(context).load_settings().settings
    server = url or settings.qdrant_url
    if server is None:
        raise InvalidInput("--url", "name the Qdrant server with --url, or set QDRANT_URL")
    print_retries()
    embedded = settings.model_copy(update={"qdrant_url": None})
    with Pertinent(Workspace(embedded)) as pertinent, show_progress() as progress:
        chunks = pertinent.migrate_to(server, database_url, progress)
    lines = [f'qdrant_url = "{server}"'] + (["DATABASE_URL, in the environment"] if database_url else [])
    outcome = f"Copied {chunks} chunks." if chunks else "The copy is already complete."
    write(f"{outcome} To use it, set:\n" + "".join(f"  {line}\n" for line in lines))
