"""A shorter way to the routes that are asked most.

The framework gathers the arguments of any route that can be declared. A search takes one JSON object:
what reads as that is handed to the route's own function at once; anything else goes the framework's way,
which tells what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, get_type_hints

from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Shortcut:
    """The ASGI application before the framework's routes."""

    def __init__(self, app: ASGIApp, routes: Iterable[APIRoute]) -> None:
        self._app = app
        self._routes = {route.path: (route, get_type_hints(route.endpoint)["body"]) for route in routes}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] not in self._routes:
            await self._app(scope, receive, send)
            return
        messages = await _whole(receive)
        request = Request(scope, receive)
        route, model = self._routes[scope["path"]]
        body = _read(request.headers.get("content-type", ""), messages, model)
        if body is None:
            await self._app(scope, _again(messages, receive), send)
            return
        scope["route"] = route
        try:
            response = await route.endpoint(request, body)
        except Exception as error:  # told as the framework would have it told
            response = await _told(request, error)
        await response(scope, receive, send)


async def _whole(receive: Receive) -> list[Message]:
    messages = [await receive()]
    while messages[-1].get("more_body", False):
        messages.append(await receive())
    return messages


def _again(messages: Iterable[Message], receive: Receive) -> Receive:
    """What was received, once more, and then what comes after it."""
    known = iter(messages)

    async def received() -> Message:
        message = next(known, None)
        return await receive() if message is None else message

    return received


def _read(content_type: str, messages: Sequence[Message], model: type[BaseModel]) -> BaseModel | None:
    """The body as the route takes it; nothing where it is not exactly that, and all of it."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        return None
    if messages[-1]["type"] == "http.disconnect":
        return None
    try:
        return model.model_validate_json(b"".join(one.get("body", b"") for one in messages))
    except ValidationError:
        return None


async def _told(request: Request, error: Exception) -> Response:
    handlers: dict[type[Exception], Any] = request.app.exception_handlers
    handler = next((handlers[kind] for kind in type(error).__mro__ if kind in handlers), None)
    if handler is None:
        raise error
    response: Response = await handler(request, error)
    return response
