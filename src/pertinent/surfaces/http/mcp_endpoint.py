"""The MCP server of the service: `POST /mcp`, behind the same keys and limits as every other route.

Each request is complete in itself: there are no sessions and no streams, so the deadline, the rate limit and
the size limit of `AccessMiddleware` hold for each call of an agent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from ...errors import NotFound, PertinentError, SettingsError
from ...settings import Settings
from ...types import Answer
from ...workspace.current_build import run_on_current_build
from ..book_title import choose_title
from ..mcp import INSTALL, require_sdk
from .access_middleware import BODY_LIMIT
from .errors import ApiError, report_pertinent_error
from .service import Service, note_answer

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from ..reader import Reader

Result = TypeVar("Result")

PATH = "/mcp"

MCP_HEADERS = ("mcp-protocol-version", "mcp-method", "mcp-name")
"""What a client of the protocol sends beside the usual headers; a browser asks whether it may."""

NOT_INSTALLED = f"MCP is not installed here: {INSTALL}, and restart the service"
OTHER_ORIGIN = "pages of other sites may not use this service; add their address to `cors_origins`"


class ServiceBackend:
    """Lets the tools read from the index of the service, in its thread pools."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def search(self, work: Callable[[Reader], Result]) -> Result:
        """Run work that needs the index, in the threads of searches."""
        return await self._service.run_in_thread(lambda: self._run(work))

    async def read_pages(self, work: Callable[[Reader], Result]) -> Result:
        """Run work that reads pages alone, in the threads of the catalog."""
        return await self._service.read_catalog(lambda: self._run(work))

    def _run(self, work: Callable[[Reader], Result]) -> Result:
        try:
            self._service.engine()
        except ApiError as error:
            raise NotFound(error.message) from error
        pertinent = self._service.pertinent
        return run_on_current_build(pertinent.workspace, lambda: work(pertinent))

    def describe_error(self, error: PertinentError, context: Any) -> str:
        """Return the message that HTTP callers get; details of failures stay in the log."""
        observer = self._service.observer
        api_error = report_pertinent_error(error, observer, context.request.state.request_id)
        observer.record_failure(api_error.error)
        return api_error.message

    def record_answer(self, answer: Answer, context: Any) -> None:
        """Let `RequestMiddleware` log the answer after it was sent."""
        note_answer(context.request, answer)


class McpEndpoint:
    """The ASGI application at `/mcp`; without the SDK, it answers 404 and says what to install.

    Args:
        service: The service whose index agents search.
        settings: The settings of the service.

    """

    def __init__(self, service: Service, settings: Settings) -> None:
        self._service = service
        self._settings = settings
        self._has_sdk = _load_sdk()
        self._manager: StreamableHTTPSessionManager | None = None

    def add_route(self, app: FastAPI) -> None:
        """Serve the endpoint."""
        app.router.routes.append(Route(PATH, self, methods=["POST"], include_in_schema=False))

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Run the MCP server as long as the service runs."""
        if not self._has_sdk:
            yield
            return
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from ..mcp.server import create_server

        sources: Sequence[str] = ()
        with suppress(PertinentError):  # the descriptions then name no sources
            sources = await self._service.run_in_thread(lambda: list(self._service.pertinent.sources()))
        title = choose_title(self._settings, sources)
        server = create_server(ServiceBackend(self._service), title, self._settings.mcp_max_tokens)
        self._manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=BODY_LIMIT
        )
        async with self._manager.run():
            yield
        self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._manager is None:
            raise ApiError(404, "not_found", NOT_INSTALLED)
        self._check_origin(Headers(scope=scope))
        await self._manager.handle_request(scope, await _read_body(scope, receive), send)

    def _check_origin(self, headers: Headers) -> None:
        """Refuse requests from pages of other sites, as the protocol requires."""
        origin = headers.get("origin")
        if origin is None or {origin.lower(), "*"} & set(self._settings.cors_origins):
            return
        # Not parsed: it may be anything that a header can carry.
        if origin.partition("://")[2] != headers.get("host"):
            raise ApiError(403, "forbidden", OTHER_ORIGIN)


async def _read_body(scope: Scope, receive: Receive) -> Receive:
    """Read the body of a request, and return a `receive` that gives it whole.

    The SDK would count a client that disconnects while it sends as an error of the server.
    """
    try:
        body = await Request(scope, receive).body()
    except ClientDisconnect as error:
        raise ApiError(400, "validation_error", "the body of the request is not complete") from error
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_body() -> Message:
        return unread.pop() if unread else await receive()

    return receive_body


def _load_sdk() -> bool:
    """Import the SDK, if it is installed. It takes half a second, in which the service could not answer."""
    try:
        require_sdk()
    except SettingsError:
        return False
    from ..mcp import server  # noqa: F401

    return True
