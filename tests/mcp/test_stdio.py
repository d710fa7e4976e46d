"""`pertinent mcp` as an agent starts it: it leaves the index to others between two calls."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from mcp import Client
from pertinent.surfaces.mcp.index_folder import LOCK_SECONDS

from ..cli.conftest import Run, docs, indexed, run
from ..cli.test_running_service import hold_index
from ..http.test_server import Server
from ..servers.forked import ForkedCommand, run_to_end
from .conftest import COMMAND, ask_server, read_text, stdio_server

__all__ = ["docs", "indexed", "run"]  # fixtures

pytestmark = pytest.mark.slow  # every test starts processes

FRICTION = "https://robots.example/docs/joints#friction"


@pytest.fixture(autouse=True)
def _embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERTINENT_EMBEDDER", "testing:hashed-words")


def ask_folder(folder: Path, work: Callable[[Client], Awaitable[None]]) -> None:
    ask_server(stdio_server(folder, PERTINENT_CHUNK_TOKENS="200"), work)


async def find_best(client: Client, query: str = "friction slows a joint") -> str | None:
    """Search; return the address of the best passage."""
    result = await client.call_tool("search", {"query": query})
    assert not result.is_error, result.content
    return next((passage["url"] for passage in result.structured_content["results"]), None)


def test_index_is_free_between_calls_and_changes_are_seen(run: Run, docs: Path, indexed: Path) -> None:
    async def check(client: Client) -> None:
        assert await find_best(client) == FRICTION
        assert await find_best(client, "the backlash of a gearbox") is None
        (docs / "gearbox.md").write_text("# Gearbox\n\nThe backlash of a gearbox.\n", encoding="utf-8")
        arguments = ("index", docs, "--base-url", "https://robots.example/docs", "--name", "robots")
        await to_thread.run_sync(lambda: run(*arguments, exits=0))
        assert await find_best(client, "the backlash of a gearbox") == "https://robots.example/docs/gearbox"

    ask_folder(indexed, check)


def test_two_agents_use_one_folder(indexed: Path) -> None:
    async def ask_repeatedly() -> None:
        async with Client(stdio_server(indexed, PERTINENT_CHUNK_TOKENS="200")) as client:
            for _ in range(3):
                assert await find_best(client) == FRICTION

    async def check() -> None:
        async with anyio.create_task_group() as agents:
            for _ in range(2):
                agents.start_soon(ask_repeatedly)

    anyio.run(check)


def test_service_that_has_the_index_open_is_asked(indexed: Path) -> None:
    async def check(client: Client) -> None:
        assert await find_best(client) == FRICTION
        server = Server("--folder", str(indexed))
        try:
            assert await find_best(client) == FRICTION
            assert len((await client.list_resources()).resources) == 4
            entry = await to_thread.run_sync(lambda: server.wait_for_entry("search"))
            assert entry["query"] == "friction slows a joint"
        finally:
            server.end()
        assert await find_best(client) == FRICTION

    ask_folder(indexed, check)


def test_process_that_is_no_service_is_an_error_after_a_while(indexed: Path) -> None:
    holder = hold_index()
    try:

        async def check_search(client: Client) -> None:
            result = await client.call_tool("search", {"query": "joints"})
            assert result.is_error
            assert "another process" in read_text(result.content[0])
            assert "`pertinent serve` answers many callers" in read_text(result.content[0])

        async def check(client: Client) -> None:
            # Calls that wait for each other don't add up their waits.
            with anyio.fail_after(2.5 * LOCK_SECONDS):
                async with anyio.create_task_group() as calls:
                    for _ in range(3):
                        calls.start_soon(check_search, client)
            # Pages are read from the catalog, which is not locked.
            listed = await client.call_tool("list_pages", {})
            assert listed.structured_content["total"] == 4

        ask_folder(indexed, check)
    finally:
        holder.kill()
        holder.communicate()


def start(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run_to_end(ForkedCommand("mcp", *map(str, arguments)))


def test_missing_index_is_an_error_at_the_start(tmp_path: Path) -> None:
    process = start("--folder", tmp_path / "nothing")
    assert process.returncode == 2
    assert process.stderr.startswith("pertinent: nothing is indexed in ")
    assert process.stdout == ""


def test_server_ends_with_its_input(indexed: Path) -> None:
    process = start("--folder", indexed)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")


def test_terminal_says_that_an_agent_starts_the_server(indexed: Path) -> None:
    terminal, stdin = os.openpty()
    process = subprocess.Popen(
        [str(COMMAND), "mcp", "--folder", str(indexed)], stdin=stdin, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        command = f"claude mcp add docs -- pertinent mcp --folder {indexed.resolve()}"
        expected = (
            f"{indexed} is ready; let your agent start this command, as with `{command}`. Ctrl-D ends it"
        )
        assert line == f"pertinent: {expected}\n"
    finally:
        process.terminate()
        process.communicate()
        os.close(terminal)
        os.close(stdin)


def test_address_without_http_is_refused(run: Run) -> None:
    result = run("mcp", "--port", "8080", exits=2)
    assert result.stderr == "pertinent: --port: is for --http; over stdio there is no address\n"


def test_missing_sdk_names_its_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = run("mcp", exits=2)
    assert result.stderr == "pertinent: MCP needs its SDK: pip install 'pertinent[mcp]'\n"


def test_http_serves_at_mcp(indexed: Path) -> None:
    process = subprocess.Popen(
        [str(COMMAND), "mcp", "--http", "--port", "0"], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        announced = process.stderr.readline()
        address = announced.split()[3]
        assert address.startswith("http://127.0.0.1:")

        async def check(client: Client) -> None:
            assert await find_best(client) == FRICTION

        ask_server(f"{address}/mcp", check)
    finally:
        process.terminate()
        process.communicate()


def test_http_names_the_service_that_has_the_index_open(indexed: Path) -> None:
    server = Server("--folder", str(indexed))
    try:
        process = start("--http", "--folder", indexed)
        assert process.returncode == 3
        assert f"the service at http://127.0.0.1:{server.port} has the index open" in process.stderr
    finally:
        server.end()
