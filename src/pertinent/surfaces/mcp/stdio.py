"""The server over stdin and stdout, through the SDK's transport.

The SDK ignores a line that is not a message, and cancels the running calls when the input ends. Here such a
line gets an error, so that its sender does not wait, and running calls have a while to finish, so that
`printf '…' | pertinent mcp` prints their answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from ...identity import shorten
from ...limits import LONGEST_MESSAGE
from .index_folder import IndexFolder
from .server import create_server

if TYPE_CHECKING:
    from anyio.abc import ObjectReceiveStream, ObjectSendStream
    from mcp.server.lowlevel import Server

FINISH_SECONDS = 5.0
"""How long calls may run on after the end of the input; then they are cancelled."""


def serve_stdio(folder: IndexFolder, title: str, max_tokens: int) -> None:
    """Serve over stdin and stdout until stdin is closed."""
    anyio.run(_serve, create_server(folder, title, max_tokens))


async def _serve(server: Server[Any]) -> None:
    relay = _Relay()
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception]()
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage]()
    async with stdio_server() as (stdin, stdout), anyio.create_task_group() as tasks:
        tasks.start_soon(relay.pass_requests, stdin, to_server, stdout)
        tasks.start_soon(relay.pass_responses, from_server, stdout)
        await server.run(from_client, to_client, server.create_initialization_options())


class _Relay:
    """Relays messages between stdio and the server, and knows which requests have no response yet."""

    def __init__(self) -> None:
        self._unanswered: set[types.RequestId] = set()
        self._changed = anyio.Condition()

    async def pass_requests(
        self,
        stdin: ObjectReceiveStream[SessionMessage | Exception],
        server: ObjectSendStream[SessionMessage | Exception],
        stdout: ObjectSendStream[SessionMessage],
    ) -> None:
        """Pass messages to the server; answer other lines with an error. Close the server at the end."""
        async with server:
            async for item in stdin:
                if isinstance(item, Exception):
                    await stdout.send(SessionMessage(describe_invalid_line(item)))
                    continue
                match item.message:
                    case types.JSONRPCRequest(id=request_id):
                        self._unanswered.add(request_id)
                    case types.JSONRPCNotification(
                        method="notifications/cancelled", params={"requestId": str() | int() as request_id}
                    ):
                        self._unanswered.discard(request_id)
                await server.send(item)
            with anyio.move_on_after(FINISH_SECONDS):
                async with self._changed:
                    while self._unanswered:
                        await self._changed.wait()

    async def pass_responses(
        self, server: ObjectReceiveStream[SessionMessage], stdout: ObjectSendStream[SessionMessage]
    ) -> None:
        """Pass messages to the client until the server has ended."""
        async with server, stdout:
            async for item in server:
                await stdout.send(item)
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    async with self._changed:
                        self._unanswered.discard(item.message.id)
                        self._changed.notify_all()


def describe_invalid_line(error: Exception) -> types.JSONRPCError:
    """Return the response to a line that is not a message; its id is unknown."""
    code, message = types.INVALID_REQUEST, "not a message of JSON-RPC 2.0"
    if isinstance(error, ValidationError):
        details = error.errors(include_url=False)[0]
        if details["type"] == "json_invalid":
            code, message = types.PARSE_ERROR, details["msg"]
    data = types.ErrorData(code=code, message=shorten(message, LONGEST_MESSAGE))
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=data)
