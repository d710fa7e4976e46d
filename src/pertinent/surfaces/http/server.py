"""The service as a process: `pertinent serve`."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from urllib.parse import urlsplit

import structlog
import uvicorn

from ..._internal.progress import WaitNotices
from ...errors import PertinentError, SettingsError
from ...identity import is_loopback
from ...indexing.sync import SyncSummary
from ...search.notes import NO_CHUNKS
from ...settings import Settings
from ...workspace.lock_wait import find_writer
from ...workspace.workspace import Workspace
from ..library import Pertinent
from ..running_service import (
    RunningService,
    describe_reranking,
    format_url,
    local_url,
    make_token,
    publish_address,
)
from .app import create_app
from .connection_limits import ConnectionLimits, read_descriptor_limit
from .observability import Observer, configure_logging, create_tracer
from .protocol import create_protocol
from .trusted_proxies import TrustedProxies
from .watch import log_sync, watch_source

GRACE_SECONDS = 30
"""How long a stopping service waits for running requests and a running sync."""

BACKLOG = 2048


def run_server(
    pertinent: Pertinent,
    *,
    watch: str | None,
    base_url: str | None,
    follow_links: bool,
    announce: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or Ctrl-C.

    Args:
        pertinent: The open library; host, port and the rest come from its settings.
        watch: A source to index first, and again whenever it changes. While another process writes to an
            index on a server, that index is served before the source is indexed.
        base_url: The address below which the watched pages are published.
        follow_links: Read symlinks that lead outside the watched source.
        announce: Shows the user the address of the service, and warnings.

    """
    settings = pertinent.workspace.settings
    configure_logging()
    log = structlog.get_logger("pertinent")
    sync = partial(pertinent.index, watch or "", base_url=base_url, follow_links=follow_links)
    if watch:
        _index_first(pertinent.workspace, watch, sync, log, announce)
    # Everything is opened before the first request, so that a misconfiguration shows at start.
    pertinent.workspace.engine().load_words()
    if not pertinent.workspace.engine().probe_index():
        announce(f"warning: {NO_CHUNKS}")
    listener = open_listener(settings)
    stop = threading.Event()
    watcher = threading.Thread(target=watch_source, args=(watch, sync, stop, log), name="watch", daemon=True)
    token = make_token()
    observer = Observer(log, create_tracer(settings))
    limits = ConnectionLimits(
        observer,
        settings.max_connections,
        settings.max_connections_per_address,
        read_descriptor_limit(),
        TrustedProxies(settings.trusted_proxies),
    )
    app = create_app(
        pertinent,
        observer,
        host_names=allowed_host_names(settings),
        folder_token=token,
    )
    config = uvicorn.Config(
        app,
        # uvloop accepts one connection at a time between the other work, so a flood would delay new clients.
        loop="asyncio",
        http=create_protocol(observer, limits),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the application reads them, from trusted proxies only
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    # Uvicorn finishes the running requests, then raises SIGTERM again; the exit code must be 0.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    host, port = listener.getsockname()[:2]
    language = pertinent.workspace.language()
    address = RunningService(
        local_url(host, port), token, settings.embedder, language, watch, describe_reranking(settings)
    )
    # On a server, an index can be opened by many processes.
    is_embedded = settings.qdrant_url is None
    try:
        with publish_address(settings.folder, address, announce) if is_embedded else nullcontext():
            announce(f"serving on {format_url(host, port)} (Ctrl-C stops it)")
            if watch:
                watcher.start()
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        stop.set()
        listener.close()
        if watch:
            # A running sync ends before the caller closes the index.
            watcher.join(GRACE_SECONDS)


def _index_first(
    workspace: Workspace,
    watch: str,
    sync: Callable[..., SyncSummary],
    log: structlog.BoundLogger,
    announce: Callable[[str], None],
) -> None:
    """Index the watched source, unless the index can be served while another process writes to it."""
    if writer := _find_tolerable_writer(workspace):
        announce(f"{writer} is writing to this index: it is served as it is, and {watch} is indexed later")
        return
    log_sync(log, watch, sync(progress=WaitNotices(announce)))


def _find_tolerable_writer(workspace: Workspace) -> str | None:
    """Return the process that is writing to an index that can be served meanwhile; None without one.

    An embedded index can't be, since only one process can open it. Neither can an index that does not open
    with these settings: the other process may be rebuilding it with them.
    """
    if workspace.settings.qdrant_url is None or not workspace.has_pages():
        return None
    writer = find_writer(workspace.writable_catalog())
    if writer is not None:
        try:
            workspace.engine()
        except PertinentError:
            return None
    return writer


def allowed_host_names(settings: Settings) -> set[str] | None:
    """Return the host names that requests may use; None allows any.

    They are restricted only on loopback without API keys: see `AccessMiddleware`.
    """
    if settings.api_keys or not is_loopback(settings.host):
        return None
    return {urlsplit(origin).hostname or "" for origin in settings.cors_origins}


def open_listener(settings: Settings) -> socket.socket:
    """Listen on the host and port of the settings; raise SettingsError if that is not possible."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio sends a response at once (TCP_NODELAY) only if the protocol is named.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        # From here on a client waits until the service has started, and is not refused.
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"can't listen on {settings.host}:{settings.port}: {error.strerror}; "
            "choose another --port or --host"
        ) from error
    return listener
