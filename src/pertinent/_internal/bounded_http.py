"""HTTP clients that limit what they read of a response.

A server may send without end, or compress a gigabyte to a megabyte. A timeout of httpx starts again with
every byte, and its clients read every response to the end.
"""

from __future__ import annotations

import math
import time
from typing import Any

import httpx

_FRAMING = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that describe the body as it was sent."""


class BoundedClient(httpx.Client):
    """A client whose responses are limited in size, after decompression, and optionally in time.

    Args:
        max_bytes: The largest body. A larger one raises `httpx.DecodingError`.
        in_time: Whether the whole response must arrive within the timeout of its request.
        options: Those of `httpx.Client`.
    """

    def __init__(self, max_bytes: int, *, in_time: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self._max_bytes = max_bytes
        self._in_time = in_time

    def send(self, request: httpx.Request, *, stream: bool = False, **options: Any) -> httpx.Response:
        """Send a request, and read its response unless it is to be streamed."""
        body = _BoundedBody(request, self._max_bytes, in_time=self._in_time)
        response = super().send(request, stream=True, **options)
        if stream:
            return response
        try:
            for part in response.iter_bytes():
                body.add(part)
        finally:
            response.close()
        return body.complete(response)


class AsyncBoundedClient(httpx.AsyncClient):
    """The same for asyncio."""

    def __init__(self, max_bytes: int, **options: Any) -> None:
        super().__init__(**options)
        self._max_bytes = max_bytes

    async def send(self, request: httpx.Request, *, stream: bool = False, **options: Any) -> httpx.Response:
        """Send a request, and read its response unless it is to be streamed."""
        body = _BoundedBody(request, self._max_bytes)
        response = await super().send(request, stream=True, **options)
        if stream:
            return response
        try:
            async for part in response.aiter_bytes():
                body.add(part)
        finally:
            await response.aclose()
        return body.complete(response)


class _BoundedBody:
    """The body of a response, as far as it was read."""

    def __init__(self, request: httpx.Request, max_bytes: int, *, in_time: bool = False) -> None:
        timeout = request.extensions.get("timeout", {}).get("read") if in_time else None
        self._request = request
        self._max_bytes = max_bytes
        self._deadline = math.inf if timeout is None else time.monotonic() + timeout
        self._content = bytearray()

    def add(self, part: bytes) -> None:
        self._content += part
        if len(self._content) > self._max_bytes:
            message = f"the response is larger than {self._max_bytes / 2**20:.3g} MB"
            raise httpx.DecodingError(message, request=self._request)
        if time.monotonic() > self._deadline:
            raise httpx.ReadTimeout("the response did not end in time", request=self._request)

    def complete(self, response: httpx.Response) -> httpx.Response:
        """Return the response with this body."""
        headers = [
            (name, value) for name, value in response.headers.raw if name.lower().decode() not in _FRAMING
        ]
        return httpx.Response(
            response.status_code,
            headers=headers,
            content=bytes(self._content),
            request=self._request,
            extensions=response.extensions,
        )
