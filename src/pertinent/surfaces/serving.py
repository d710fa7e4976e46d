"""The service as a process: logs, traces, a socket, a graceful stop, and a source that is watched."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
import structlog
import uvicorn

from ..errors import PertinentError, SettingsError
from ..identity import is_loopback
from ..indexing.sync import Summary
from ..search.engine import NO_CHUNKS
from ..settings import Settings
from .http import create_app
from .http.observing import Observer
from .library import Pertinent

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

GRACE_SECONDS = 30
BACKLOG = 2048
LOOK_SECONDS = 1.0
"""How often it is looked whether the folder that is watched is still the same."""


def run(
    pertinent: Pertinent, *, watch: str | None, base_url: str | None, announce: Callable[[str], None]
) -> None:
    """Serve until stopped; with a source to watch, index it first and whenever it changes."""
    settings = pertinent.workspace.settings
    _configure_logs()
    log = structlog.get_logger("pertinent")
    if watch:
        _tell(log, watch, pertinent.index(watch, base_url=base_url))
    # Everything is opened before the first request: what is wrong is said now.
    if not pertinent.workspace.engine().probe_index():
        announce(f"warning: {NO_CHUNKS}")
    listening = _listen(settings)
    stop = threading.Event()
    watching = threading.Thread(
        target=_watch, args=(pertinent, watch, base_url, stop, log), name="watch", daemon=True
    )
    config = uvicorn.Config(
        create_app(pertinent, Observer(log, _tracer(settings)), names=_names(settings)),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    # Uvicorn answers what is under way, then raises the signal again: that must end us, not kill us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    host, port = listening.getsockname()[:2]
    announce(f"serving on http://{f'[{host}]' if ':' in host else host}:{port} (Ctrl-C stops it)")
    try:
        if watch:
            watching.start()
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        stop.set()
        listening.close()
        if watch:
            # A sync under way ends before the index is closed under it.
            watching.join(GRACE_SECONDS)


def _names(settings: Settings) -> set[str] | None:
    """What the service may be called; anything, where others reach it anyway or it asks for a key."""
    if settings.api_keys or not is_loopback(settings.host):
        return None
    return {urlsplit(origin).hostname or "" for origin in settings.cors_origins}


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
        # From here on a client waits to be served, and is not refused.
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise SettingsError(
            f"can't listen on {settings.host}:{settings.port}: {error.strerror}; "
            "choose another --port or --host"
        ) from error
    return listening


def _watch(
    pertinent: Pertinent, source: str, base_url: str | None, stop: threading.Event, log: structlog.BoundLogger
) -> None:
    """Sync whenever a file of the source changes; a sync that fails is told, and the next may do."""
    failed = False
    try:
        for _ in _changes(Path(source.removeprefix("beir:")).expanduser(), stop):
            try:
                summary = pertinent.index(source, base_url=base_url)
            except Exception as error:
                # Whatever it was, it is served on, and the next change may put it right.
                unforeseen = not isinstance(error, PertinentError)
                log.error("sync failed", source=source, detail=str(error), exc_info=unforeseen)
                failed = True
                continue
            changed = summary.pages_added or summary.pages_changed or summary.pages_removed
            if changed or summary.unreadable or failed:
                _tell(log, source, summary)
            failed = False
    except Exception as error:
        # No inotify watches left, say.
        log.error("watching ended", source=source, detail=str(error), exc_info=True)


def _changes(folder: Path, stop: threading.Event) -> Iterator[None]:
    """Whenever something below the folder may have changed.

    That is as soon as it is watched, since it was read some time before; with every change; and when it
    is gone, or another was put in its place.
    """
    from watchfiles import watch

    gone = False
    while not stop.is_set():
        with _held(folder) as known:
            if known is None:
                if not gone:
                    yield
                gone = True
                stop.wait(LOOK_SECONDS)
                continue
            gone, unread = False, True
            try:
                for changes in watch(
                    folder,
                    stop_event=stop,
                    debounce=300,
                    raise_interrupt=False,
                    rust_timeout=int(LOOK_SECONDS * 1000),
                    yield_on_timeout=True,
                ):
                    found = _stat(folder)
                    if found is None or not os.path.samestat(found, known):
                        break
                    if changes or unread:
                        unread = False
                        yield
            except FileNotFoundError:
                stop.wait(LOOK_SECONDS)  # removed since it was looked at


@contextmanager
def _held(path: Path) -> Iterator[os.stat_result | None]:
    """What is at a path, if anything is. While it is held open, nothing new gets its inode."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        yield _stat(path)  # some systems open no folders
        return
    try:
        yield os.fstat(file)
    finally:
        os.close(file)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _tell(log: structlog.BoundLogger, source: str, summary: Summary) -> None:
    log.info(
        "synced",
        source=source,
        added=summary.pages_added,
        changed=summary.pages_changed,
        removed=summary.pages_removed,
        chunks=summary.chunks_added,
        unreadable=[one.source_path for one in summary.unreadable],
    )


def _configure_logs() -> None:
    """One JSON object a line, on stderr."""
    structlog.configure(
        processors=[
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=_as_json),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
    server = logging.getLogger("uvicorn")
    server.handlers = [_AsLine(logging.WARNING)]
    server.propagate = False


class _AsLine(logging.Handler):
    """What the server below has to say, such as of bytes that are no HTTP, in the form of all other lines."""

    def emit(self, record: logging.LogRecord) -> None:
        log = structlog.get_logger("pertinent")
        told = log.error if record.levelno >= logging.ERROR else log.warning
        told("server", detail=record.getMessage(), exc_info=record.exc_info)


def _as_json(event: Any, default: Callable[[Any], Any]) -> bytes:
    try:
        return orjson.dumps(event, default=default)
    except orjson.JSONEncodeError:
        # Half a surrogate pair, say, in what went wrong: it is told all the same.
        return json.dumps(event, default=default).encode()


def _tracer(settings: Settings) -> Tracer | None:
    """Sends spans to the collector that the settings name."""
    if settings.otel_endpoint is None:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SettingsError("otel_endpoint needs OpenTelemetry: pip install 'pertinent[otel]'") from error
    provider = TracerProvider(resource=Resource.create({"service.name": "pertinent"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.otel_endpoint)))
    return provider.get_tracer("pertinent")
