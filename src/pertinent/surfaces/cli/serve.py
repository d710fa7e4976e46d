"""`pertinent serve`: the HTTP service and the search page."""

from __future__ import annotations

from typing import Annotated

import typer

from ...errors import InvalidInput
from ...identity import is_loopback
from .error_reporting import print_notice
from .global_options import open_pertinent

HostOption = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="The address to listen on. Default: 127.0.0.1.")
]
PortOption = Annotated[
    int | None,
    typer.Option(
        metavar="PORT",
        min=0,
        max=65535,
        help="The port to listen on; 0 chooses a free one. Default: 8000.",
    ),
]


def serve(
    context: typer.Context,
    host: HostOption = None,
    port: PortOption = None,
    watch: Annotated[
        str | None,
        typer.Option(metavar="SOURCE", help="Index this folder first, and again whenever a file changes."),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="With --watch: the public address of the pages."),
    ] = None,
    golden: Annotated[
        str | None, typer.Option(metavar="GOLDEN", help="The golden set to label on the page at /label.")
    ] = None,
    *,
    follow_links: Annotated[
        bool,
        typer.Option("--follow-links", help="With --watch: read symlinks that lead outside the folder."),
    ] = False,
) -> None:
    """Serve search over HTTP, with a web page to search from.

    The search page is at /, validation reports at /reports, the API documentation
    at /docs. Stop it with Ctrl-C: running requests are answered first.

    For example:
      pertinent serve --port 8080
      pertinent serve --watch docs/
      pertinent serve --golden golden.yaml
      curl -d '{"query": "joint limits"}' -H 'Content-Type: application/json' localhost:8000/search
    """
    from ..http.server import run_server

    if watch == "":
        raise InvalidInput("--watch", "must name a folder, but is empty")
    if watch and watch.lower().startswith(("http://", "https://")):
        raise InvalidInput(
            "--watch", "can't watch a live site; run `pertinent index` from time to time instead"
        )
    with open_pertinent(context, host=host, port=port, golden=golden) as pertinent:
        settings = pertinent.workspace.settings
        if not is_loopback(settings.host) and not settings.api_keys:
            print_notice(
                f"warning: {settings.host} can be reached from other machines, and no api_keys are set"
            )
        run_server(
            pertinent, watch=watch, base_url=base_url, follow_links=follow_links, announce=print_notice
        )
