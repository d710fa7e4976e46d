"""Python scripts and `pertinent` as processes of their own, forked from one that has imported the modules.

The imports of `pertinent serve` take 1.5 s of CPU time, longer than most tests of it. Like the installed
command, which other tests start, such a process has its own arguments, environment, signals and exit code.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "psycopg",
        "pertinent.stores.edge",
        "pertinent.stores.qdrant.index",
        "pertinent.surfaces.cli.app",
        "pertinent.surfaces.http.server",
        "pertinent.surfaces.mcp.server",
        "pertinent.sources.markdown",
        "pertinent.testing.embedder",
        "pertinent.testing.catalog_suite",
        "pertinent.workspace.migrate",
        "mcp.server.streamable_http_manager",
    ]
)


class ForkedScript:
    """What `python -c SCRIPT ARGUMENTS` starts, with the methods of `subprocess.Popen` and pipes of text."""

    def __init__(self, script: str, *arguments: str, **environment: str) -> None:
        pipes = [_CONTEXT.Pipe(duplex=False) for _ in range(3)]
        (stdin, self_stdin), (self_stdout, stdout), (self_stderr, stderr) = pipes
        self._process = _CONTEXT.Process(
            target=_run,
            args=(script, arguments, {**os.environ, **environment}, (stdin, stdout, stderr)),
            daemon=True,  # it ends with the tests, also if a test forgets it
        )
        self._process.start()
        self.stdin = os.fdopen(os.dup(self_stdin.fileno()), "w", encoding="utf-8")
        self.stdout = os.fdopen(os.dup(self_stdout.fileno()), encoding="utf-8")
        self.stderr = os.fdopen(os.dup(self_stderr.fileno()), encoding="utf-8")
        for connection in (end for pipe in pipes for end in pipe):
            connection.close()

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
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0)
        return exit_code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> ForkedScript:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the pipes, and wait for the end."""
        for pipe in (self.stdin, self.stdout, self.stderr):
            with suppress(BrokenPipeError):
                pipe.close()
        self.wait()


class ForkedCommand(ForkedScript):
    """A running `pertinent`."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        super().__init__("from pertinent.surfaces.cli import main; main()", *arguments, **environment)


def run_to_end(process: ForkedScript) -> subprocess.CompletedProcess[str]:
    """Wait for the end of a process that reads nothing and prints little."""
    with process:
        process.stdin.close()
        stdout, stderr = process.stdout.read(), process.stderr.read()
        return subprocess.CompletedProcess([], process.wait(), stdout, stderr)


def _run(
    script: str, arguments: tuple[str, ...], environment: dict[str, str], streams: tuple[Connection, ...]
) -> None:
    """Run the script in the forked process, which is in the present folder of the test already."""
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
        stream.close()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - until the process ends
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = ["pertinent", *arguments]
    exec(script, {"__name__": "__main__"})  # noqa: S102 - it is the test's own
