"""A book in real stores, and the SDK's own client of its MCP server: over stdio, HTTP or in this process."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import pytest
from mcp_types import TextContent, TextResourceContents

from mcp import Client, StdioServerParameters
from pertinent.surfaces.library import Pertinent
from pertinent.surfaces.mcp.index_folder import IndexFolder
from pertinent.surfaces.mcp.server import create_server
from pertinent.surfaces.reader import Reader
from pertinent.workspace.workspace import Workspace

from ..http.conftest import open_filled
from ..servers.service import running_service

if TYPE_CHECKING:
    from mcp_types import CallToolResult

COMMAND = Path(sys.executable).with_name("pertinent")
ENVIRONMENT = {"PERTINENT_EMBEDDER": "testing:hashed-words", "PERTINENT_CHUNK_TOKENS": "60"}
TITLE = "Handbook of joints"

Result = TypeVar("Result")
Ask = Callable[[Callable[[Client], Awaitable[Result]]], Result]


def ask_server(server: Any, work: Callable[[Client], Awaitable[Result]], **options: Any) -> Result:
    """Connect the SDK's client to a server, and run work with it."""

    async def connect() -> Result:
        async with Client(server, **options) as client:
            return await work(client)

    return anyio.run(connect)


def stdio_server(folder: Path, *arguments: str, **environment: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=str(COMMAND),
        args=["mcp", "--folder", str(folder), *arguments],
        env={**ENVIRONMENT, **environment},
    )


def call(ask: Ask[CallToolResult], tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that succeeds; return its structured output."""
    result = ask(lambda client: client.call_tool(tool, arguments))
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def call_failing(ask: Ask[CallToolResult], tool: str, **arguments: Any) -> str:
    """Call a tool that fails; return its message."""
    result = ask(lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    (content,) = result.content
    return read_text(content)


def read_text(content: Any) -> str:
    """Return the text of a part of a result."""
    assert isinstance(content, TextContent | TextResourceContents)
    return content.text


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The book, indexed once; no test writes to it."""
    with open_filled(tmp_path_factory.mktemp("book") / "data") as workspace:
        yield workspace


def ask_reader(reader: Reader, max_tokens: int = 8000) -> Ask[Any]:
    """Return a function that asks a server over the reader, in this process."""

    def open_reader() -> AbstractContextManager[Reader]:
        return nullcontext(reader)

    return lambda work: ask_server(create_server(IndexFolder(open_reader), TITLE, max_tokens), work)


@pytest.fixture
def ask(workspace: Workspace) -> Ask[Any]:
    """Ask a server in this process."""
    return ask_reader(Pertinent(workspace))


@pytest.fixture(scope="module")
def closed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the book, which no process has open."""
    with open_filled(tmp_path_factory.mktemp("closed") / "data") as workspace:
        return workspace.settings.folder


@pytest.fixture(scope="module")
def url(workspace: Workspace) -> Iterator[str]:
    """The address of a service over the book."""
    with running_service(workspace) as address:
        yield address


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest) -> StdioServerParameters | str:
    """The server over each transport, as the SDK's client takes it."""
    if request.param == "stdio":
        return stdio_server(request.getfixturevalue("closed_folder"))
    return f"{request.getfixturevalue('url')}/mcp"
