"""HTTP clients that limit size and time of a response.

A server may send without end, or compress a gigabyte to a megabyte. A timeout of httpx starts again with
every byte, and its clients read every response to the end.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx

from .time_limit import TimeLimitedBackend

_FRAMING = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that describe the body as it was sent."""


class BoundedClient(httpx.Client):
    """A client whose responses must arrive within the timeout of their request, head and body.

    Args:
        max_bytes: The largest body, after decompression. A larger one raises `httpx.DecodingError`.
        options: Those of `httpx.Client`.
    """

    def __init__(self, max_bytes: int, **options: Any) -> None:
        super().__init__(**options)
        self._max_bytes = max_bytes
        self._network = TimeLimitedBackend()
        self._network.use_in(self)

    def send(self, request: httpx.Request, *, stream: bool = False, **options: Any) -> httpx.Response:
        """Send a request, and read its response unless it is to be streamed."""
        with self._network.deadline(time.monotonic() + _read_timeout(request)):
            response = super().send(request, stream=True, **options)
            if stream:
                return response
            content = bytearray()
            try:
                for part in response.iter_bytes():
                    content += part
                    _check_size(content, self._max_bytes, request)
            finally:
                response.close()
        return _make_response(response, content)


class AsyncBoundedClient(httpx.AsyncClient):
    """The same for asyncio."""

    def __init__(self, max_bytes: int, **options: Any) -> None:
        super().__init__(**options)
        self._max_bytes = max_bytes

    async def send(self, request: httpx.Request, *, stream: bool = False, **options: Any) -> httpx.Response:
        """Send a request, and read its response unless it is to be streamed."""
        try:
            async with asyncio.timeout(_read_timeout(request)):
                response = await super().send(request, stream=True, **options)
                if stream:
                    return response
                content = bytearray()
                try:
                    async for part in response.aiter_bytes():
                        content += part
                        _check_size(content, self._max_bytes, request)
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise httpx.ReadTimeout("the time limit is reached", request=request) from error
        return _make_response(response, content)


def _read_timeout(request: httpx.Request) -> float:
    seconds: float = request.extensions["timeout"]["read"]
    return seconds


def _check_size(content: bytearray, max_bytes: int, request: httpx.Request) -> None:
    if len(content) > max_bytes:
        raise httpx.DecodingError(f"the response is larger than {max_bytes / 2**20:.3g} MB", request=request)


def _make_response(response: httpx.Response, content: bytearray) -> httpx.Response:
    """Return the response with the body that was read."""
    headers = [(name, value) for name, value in response.headers.raw if name.lower().decode() not in _FRAMING]
    return httpx.Response(
        response.status_code,
        headers=headers,
        content=bytes(content),
        request=response.request,
        extensions=response.extensions,
    )
