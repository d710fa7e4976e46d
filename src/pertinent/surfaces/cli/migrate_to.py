"""`pertinent migrate-to qdrant`: from the embedded index to a server, without embedding again."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ...errors import InvalidInput
from .global_options import choices, retries_on_stderr
from .terminal import write


class Target(StrEnum):
    """Where an index can be taken."""

    qdrant = "qdrant"


def migrate_to(
    context: typer.Context,
    target: Annotated[Target, typer.Argument(metavar="qdrant", help="Where to: qdrant.")],
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="The Qdrant server, or its peers with commas; QDRANT_URL unless given."
        ),
    ] = None,
    database_url: Annotated[
        str | None,
        typer.Option(
            "--database-url", metavar="URL", help="Take the catalog to this PostgreSQL database too."
        ),
    ] = None,
) -> None:
    """Take the embedded index to a Qdrant server, without embedding anything again.

    What is here stays as it is. The server's settings (shards, replicas, quantisation)
    are those of pertinent.toml and the environment.

    For example:
      pertinent migrate-to qdrant --url http://qdrant:6333
      pertinent migrate-to qdrant --url http://a:6333,http://b:6333 --database-url postgresql://…
    """
    from ..library import Pertinent
    from .progress import progress

    del target  # there is only one
    settings = choices(context).load().settings
    there = url or settings.qdrant_url
    if there is None:
        raise InvalidInput("url", "name the Qdrant server with --url, or set QDRANT_URL")
    from ...workspace.workspace import Workspace

    retries_on_stderr()
    embedded = settings.model_copy(update={"qdrant_url": None})
    with Pertinent(Workspace(embedded)) as pertinent, progress() as told:
        copied = pertinent.migrate_to(there, database_url, told)
    lines = [f'qdrant_url = "{there}"'] + (["database_url: set DATABASE_URL"] if database_url else [])
    write(f"{copied} chunks were copied. From now on set:\n" + "".join(f"  {line}\n" for line in lines))
