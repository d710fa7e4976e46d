"""`pertinent mcp`: the index for agents, over stdio or HTTP."""

from __future__ import annotations

import sys
from contextlib import closing
from functools import partial
from shlex import quote
from typing import Annotated

import typer

from ...errors import InvalidInput
from .error_reporting import print_notice
from .global_options import get_global_options, open_reader
from .serve import HostOption, PortOption, serve


def mcp(
    context: typer.Context,
    host: HostOption = None,
    port: PortOption = None,
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP, at /mcp of the service, not over stdio.")
    ] = False,
) -> None:
    """Serve the index to agents, with the Model Context Protocol (MCP).

    An agent starts this command by itself and talks to it over stdin and stdout.
    With --http it is `pertinent serve`, whose address /mcp an agent connects to.

    For example:
      claude mcp add docs -- pertinent mcp --folder /home/me/docs/.pertinent
      pertinent mcp --http --port 8080
    """
    from ..mcp import require_sdk

    require_sdk()
    if http:
        serve(context, host, port)
        return
    for option, value in (("--host", host), ("--port", port)):
        if value is not None:
            raise InvalidInput(option, "is for --http; over stdio there is no address")
    _serve_stdio(context)


def _serve_stdio(context: typer.Context) -> None:
    from ...workspace.models import Models
    from ...workspace.workspace import Workspace
    from ..book_title import choose_title
    from ..library import Pertinent
    from ..mcp.index_folder import IndexFolder
    from ..mcp.stdio import serve_stdio

    settings = get_global_options(context).load_settings().settings
    # The catalog can be read while another process has the index open; a wrong folder shows at the start.
    with Pertinent(Workspace(settings)) as pertinent:
        title = choose_title(settings, list(pertinent.sources()))
    if sys.stdin.isatty():
        command = f"claude mcp add docs -- pertinent mcp --folder {quote(str(settings.folder.resolve()))}"
        print_notice(
            f"{settings.folder} is ready; let your agent start this command, as with `{command}`. "
            "Ctrl-D ends it"
        )
    with closing(Models(settings)) as models:
        folder = IndexFolder(partial(open_reader, settings, announce=False, models=models))
        serve_stdio(folder, title, settings.mcp_max_tokens)
