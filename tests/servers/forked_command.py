"""`pertinent` as a process of its own, forked from one that has imported its modules.

The imports of `pertinent serve` take 1.5 s of CPU time, longer than most tests of it. Like the installed
command, which other tests start, the process has its own arguments, environment, signals and exit code.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from multiprocessing.connection import Connection

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "pertinent.stores.catalog.catalog",
        "pertinent.stores.edge",
        "pertinent.surfaces.cli.app",
        "pertinent.surfaces.http.server",
        "pertinent.surfaces.mcp.server",
        "pertinent.testing.embedder",
        "mcp.server.streamable_http_manager",
    ]
)


class ForkedCommand:
    """A running `pertinent`, with what tests use of `subprocess.Popen`; its stdout is discarded."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        reader, writer = _CONTEXT.Pipe(duplex=False)
        with reader, writer:
            self._process = _CONTEXT.Process(
                target=_run, args=(arguments, {**os.environ, **environment}, writer)
            )
            self._process.start()
            self.stderr = os.fdopen(os.dup(reader.fileno()), encoding="utf-8")

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        exit_code = self._process.exitcode
        if exit_code is None:
            raise subprocess.TimeoutExpired("pertinent", timeout or 0)
        return exit_code

    def send_signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _run(arguments: tuple[str, ...], environment: dict[str, str], stderr: Connection) -> None:
    """Run the command in the forked process, which is in the present folder of the test already."""
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(stderr.fileno(), 2)
    stderr.close()
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - until the process ends
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = ["pertinent", *arguments]
    from pertinent.surfaces.cli import main

    main()
