"""`pertinent serve`: the HTTP service and the page."""

from __future__ import annotations

from typing import Annotated

import typer

from ...identity import is_loopback
from .error_reporting import say
from .global_options import opened


def serve(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Where to listen: 127.0.0.1 unless set.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(metavar="PORT", help="The port to listen on: 8000 unless set; 0 takes any.")
    ] = None,
    watch: Annotated[
        str | None,
        typer.Option(metavar="SOURCE", help="Index this source first, and again whenever its files change."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="With --watch: as for `pertinent index`.")
    ] = None,
    golden: Annotated[
        str | None, typer.Option(metavar="GOLDEN", help="A golden set to be labelled on the page at /label.")
    ] = None,
) -> None:
    """Serve search over HTTP, and a page to search with.

    The page is at /, validation reports are at /reports, the API's manual at
    /docs. Stop it with Ctrl-C: requests under way are answered first.

    For example:
      pertinent serve --port 8080
      pertinent serve --watch docs/
      pertinent serve --golden golden.yaml
      curl -d '{"query": "joint limits"}' -H 'Content-Type: application/json' localhost:8000/search
    """
    from ..serving import run

    if watch and watch.lower().startswith(("http://", "https://")):
        raise typer.BadParameter(
            "a live site does not tell when it changes; run `pertinent index` from time to time instead",
            param_hint="--watch",
        )
    with opened(context, host=host, port=port, golden=golden) as pertinent:
        settings = pertinent.workspace.settings
        if not is_loopback(settings.host) and not settings.api_keys:
            say(f"warning: {settings.host} can be reached from other machines, and no api_keys are set")
        run(pertinent, watch=watch, base_url=base_url, announce=say)
