"""`pertinent mcp` as a process that reads and writes lines: its memory, and what it answers at the end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pertinent.surfaces.mcp.stdio import FINISH_SECONDS

from ..cli.conftest import Run, docs, indexed, run
from .conftest import COMMAND

__all__ = ["docs", "indexed", "run"]  # fixtures

pytestmark = pytest.mark.slow  # every test starts processes

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
WARM_UP = 5
SEARCHES = 40
MAX_GROWTH_MB = 60


def make_search(number: int) -> dict[str, Any]:
    arguments = {"query": f"friction slows joint {number}"}
    params = {"name": "search", "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class LineServer:
    """A running `pertinent mcp`, as its pipes show it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self._stdin, self._stdout = process, process.stdin, process.stdout

    def send(self, *messages: dict[str, Any] | str) -> None:
        """Write each message as a line."""
        for message in messages:
            self._stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        self._stdin.flush()

    def receive(self) -> Any:
        """Read a line; fails if the output has ended."""
        return json.loads(self._stdout.readline())

    def end_input(self) -> dict[int, Any]:
        """Close the input; return all messages until the process ends, by their ids."""
        self._stdin.close()
        messages = [json.loads(line) for line in self._stdout]
        assert self.process.wait() == 0
        return {message["id"]: message for message in messages}

    def read_memory(self) -> int:
        """Return the resident memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) // 1024


@contextmanager
def serving(folder: Path) -> Iterator[LineServer]:
    """Start the server, and greet it."""
    with subprocess.Popen(
        [str(COMMAND), "mcp", "--folder", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            server = LineServer(process)
            server.send(INITIALIZE, INITIALIZED)
            assert server.receive()["id"] == 0
            yield server
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_does_not_grow_with_searches(
    run: Run, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERTINENT_EMBEDDER", "local:all-MiniLM-L6-v2")
    folder = tmp_path / "data"
    run("--folder", folder, "index", docs, "--base-url", "https://robots.example/docs", exits=0)
    memory = []
    with serving(folder) as server:
        for number in range(1, WARM_UP + SEARCHES + 1):
            server.send(make_search(number))
            assert not server.receive()["result"]["isError"]
            memory.append(server.read_memory())
        assert memory[-1] - memory[WARM_UP - 1] < MAX_GROWTH_MB


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{oops", -32700),
        (json.dumps({**make_search(1), "method": "\ud800"}), -32700),
        ("[]", -32600),
        ('{"id": 1}', -32600),
    ],
)
def test_line_that_is_no_message_gets_an_error(indexed: Path, line: str, code: int) -> None:
    with serving(indexed) as server:
        server.send(line)
        response = server.receive()
        assert (response["id"], response["error"]["code"]) == (None, code)
        server.send(make_search(2))
        assert server.receive()["id"] == 2


def test_running_calls_are_answered_after_the_end_of_the_input(indexed: Path) -> None:
    with serving(indexed) as server:
        server.send(make_search(1), make_search(2))
        responses = server.end_input()
        assert [responses[number]["result"]["isError"] for number in (1, 2)] == [False, False]


def test_many_waiting_calls_do_not_delay_the_end(indexed: Path) -> None:
    waiting = 500
    with serving(indexed) as server:
        server.send(*map(make_search, range(1, waiting + 1)))
        begin = time.monotonic()
        responses = server.end_input()
        assert time.monotonic() - begin < 3 * FINISH_SECONDS
        # Waiting calls get an error. The SDK drops the answer of a call that ends while it is cancelled.
        assert len(responses) >= waiting - 1


def test_cancelled_call_does_not_delay_the_end(indexed: Path) -> None:
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    with serving(indexed) as server:
        server.send(make_search(1), make_search(2), cancelled)
        begin = time.monotonic()
        assert server.end_input().keys() == {1}
        assert time.monotonic() - begin < FINISH_SECONDS
