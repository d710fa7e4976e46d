"""The service over real HTTP, in a thread of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from pertinent.settings import Settings
from pertinent.surfaces.http import create_app
from pertinent.surfaces.library import Pertinent
from pertinent.workspace.workspace import Workspace


@contextmanager
def running_service(workspace: Workspace, **settings: Any) -> Iterator[str]:
    """The service on a port of its own; gives its address."""
    workspace.settings = Settings.model_validate({**workspace.settings.model_dump(), **settings})
    app = create_app(Pertinent(workspace))
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, log_config=None, access_log=False, proxy_headers=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
