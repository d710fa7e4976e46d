"""The service that has an embedded index open, as other processes find it.

One process at a time can open an embedded index. The service that has it open leaves its address and a
private token in the data folder, in a file that only its user can read. Commands in that folder ask it. The
service locks the file as long as it runs. A file without a lock was left by a killed service, whose port
another process may have.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import PertinentError, SettingsError
from ..settings import Settings

if TYPE_CHECKING:
    from .client.folder_client import FolderClient

FILE_NAME = "service.json"

TOKEN_PREFIX = "pertinent-folder-"  # noqa: S105 - not a token itself
"""Marks a token of a folder: a service refuses that of another folder, even if it needs no API key."""

PROBE_SECONDS = 5.0
"""How long to wait for a service that may not run any more."""

REQUEST_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class RunningService:
    """The address of a service, its private token, and the settings that its answers depend on."""

    url: str
    token: str = field(repr=False)
    embedder: str
    language: str
    watches: str | None = None
    """The source that the service syncs by itself."""
    reranking: str | None = None
    """The reranker of the service, as `describe_reranking` returns it."""


def make_token() -> str:
    """Return a new private token."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def format_url(host: str, port: int) -> str:
    """Return the address of a service; an address of IPv6 needs brackets."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def local_url(host: str, port: int) -> str:
    """Return the address at which this machine reaches a service that listens on the host."""
    address = ip_address(host)
    if address.is_unspecified:
        host = "127.0.0.1" if address.version == 4 else "::1"  # noqa: PLR2004 - of IP
    return format_url(host, port)


@contextmanager
def publish_address(folder: Path, service: RunningService, warn: Callable[[str], None]) -> Iterator[None]:
    """Keep the file with the address in the folder, and remove it at the end.

    Args:
        folder: The data folder.
        service: What the file says.
        warn: Receives a message if the file can't be written; the service runs without it.
    """
    path = folder / FILE_NAME
    lock = ExitStack()
    try:
        lock.callback(_write_address(path, service).close)
    except OSError as error:
        warn(f"warning: can't write {path} ({error.strerror}); commands in this folder can't use the service")
    try:
        yield
    finally:
        lock.close()
        with suppress(OSError, ValueError):
            if json.loads(path.read_text(encoding="utf-8")) == asdict(service):
                path.unlink()


def _write_address(path: Path, service: RunningService) -> TextIO:
    """Write the file so that only its owner can read it, and nobody reads half of it; return it locked.

    It is locked before it gets its name, so that no command sees it without its lock.
    """
    descriptor, temporary = tempfile.mkstemp(prefix=FILE_NAME, dir=path.parent)  # with mode 0600
    file = os.fdopen(descriptor, "w", encoding="utf-8")
    try:
        json.dump(asdict(service), file)
        file.flush()
        if not _try_lock(descriptor):
            file.close()  # Windows can't rename an open file
        Path(temporary).replace(path)
    except OSError:
        file.close()
        Path(temporary).unlink(missing_ok=True)
        raise
    return file


def _try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file until it is closed, unless a process has locked it; return whether it is locked now.

    Commands use a shared lock, so that they don't take each other for the service.
    """
    try:
        import fcntl
    except ImportError:  # Windows, where a file is not locked in this way
        return False
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:  # a process has locked it, or the file system has no locks
        return False
    return True


def find_service(settings: Settings, warn: Callable[[str], None]) -> RunningService | None:
    """Return the service that has the embedded index of these settings open; None without one.

    A file that a killed service has left is ignored, and so is a service with another embedder or language.

    Args:
        settings: The settings that name the index.
        warn: Receives a message about a file that can't be used.
    """
    service = _find_any_service(settings, warn)
    if service is None or service.embedder != settings.embedder:
        return None
    return service if settings.language in (None, service.language) else None


def _find_any_service(settings: Settings, warn: Callable[[str], None]) -> RunningService | None:
    """Return the service that has the embedded index open, whatever its embedder and language."""
    if settings.qdrant_url is not None:
        return None
    service = _read_address(settings.folder / FILE_NAME, warn)
    return service if service is not None and _answers(service) else None


def advise_on_running_service(settings: Settings) -> str | None:
    """Return what to do about the service that has the embedded index open; None if there is none."""
    service = _find_any_service(settings, lambda _: None)
    if service is None:
        return None
    syncs = (
        f"It indexes {service.watches} by itself whenever a file changes"
        if service.watches
        else "To index while it runs, start it with `pertinent serve --watch SOURCE`"
    )
    return (
        f"the service at {service.url} has the index open. {syncs}. For anything else, stop the service "
        "(Ctrl-C) and run this again"
    )


def describe_reranking(settings: Settings) -> str | None:
    """Return what identifies the reranking of these settings; None without a reranker."""
    if settings.reranker is None:
        return None
    return f"{settings.reranker} depth={settings.rerank_depth} share={settings.rerank_share:g}"


def _check_reranking(service: RunningService, settings: Settings) -> None:
    """Refuse a service with another reranker than that of the settings: a request can't choose one.

    Raises:
        SettingsError: The reranking differs.
    """
    if service.reranking != (expected := describe_reranking(settings)):
        raise SettingsError(
            f"the service at {service.url}, which has the index open, has the reranker "
            f"{service.reranking or 'none'}, and the settings have {expected or 'none'}: restart the "
            "service, or restore the settings that it was started with"
        )


def connect(service: RunningService, settings: Settings) -> FolderClient:
    """Return a client of the service with all rights of an API key."""
    from .client.folder_client import FolderClient

    return FolderClient(
        service.url,
        service.token,
        service.language,
        settings.ranking,
        partial(_check_reranking, service, settings),
        timeout=REQUEST_SECONDS,
    )


def _read_address(path: Path, warn: Callable[[str], None]) -> RunningService | None:
    try:
        with path.open(encoding="utf-8") as file:
            if problem := _find_access_problem(os.fstat(file.fileno())):
                warn(f"ignored {path}: {problem}")
                return None
            service = RunningService(**json.load(file))
            # No lock: the service was killed, and another process may have its port.
            return None if _try_lock(file.fileno(), shared=True) else service
    except FileNotFoundError:
        return None
    except PermissionError:
        warn(f"ignored {path}: it belongs to the service of another user")
    except (OSError, ValueError, TypeError):
        warn(f"ignored {path}: it can't be read; restart the service to replace it")
    return None


def _find_access_problem(status: os.stat_result) -> str | None:
    """Return why a file can't be trusted: others may have written it, or may know the token."""
    if not hasattr(os, "getuid"):
        return None  # Windows has neither owners nor modes of this kind
    if status.st_uid not in (os.getuid(), 0):
        return "it belongs to another user"
    if stat.S_IMODE(status.st_mode) & 0o077:
        return "other users have access to it; run `chmod 600` on it"
    return None


def _answers(service: RunningService) -> bool:
    """Whether the service at the address accepts the token; another one may have taken the port."""
    from .client import PertinentClient

    try:
        with PertinentClient(service.url, service.token, timeout=PROBE_SECONDS, retries=0) as client:
            client.suggest("", limit=1)
    except PertinentError:
        return False
    return True
