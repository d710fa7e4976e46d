"""HTTP clients that limit size and time of a response.

A server may send without end, or send a small body that decompresses to gigabytes, if it is compressed twice.
A timeout of httpx starts again with every byte, and its clients decompress every response to the end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx

from ..identity import is_loopback
from .decompression import ACCEPTED, TooLarge, Undecodable, decompress
from .time_limit import TimeLimitedBackend


class BoundedClient(httpx.Client):
    """A client whose responses must arrive within the timeout of their request, head and body.

    Args:
        max_bytes: The largest body, after decompression. A larger one raises `httpx.DecodingError`.
        options: Those of `httpx.Client`.
    """

    def __init__(self, max_bytes: int, **options: Any) -> None:
        super().__init__(**options)
        self._network = TimeLimitedBackend()
        self._network.use_in(self)
        limit_size(self, max_bytes)

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request, and read its response."""
        with self._network.deadline(time.monotonic() + _read_timeout(request)):
            return super().send(request, **options)


class AsyncBoundedClient(httpx.AsyncClient):
    """The same for asyncio."""

    def __init__(self, max_bytes: int, **options: Any) -> None:
        super().__init__(**options)
        limit_size(self, max_bytes)

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request, and read its response."""
        try:
            async with asyncio.timeout(_read_timeout(request)):
                return await super().send(request, **options)
        except TimeoutError as error:
            raise httpx.ReadTimeout("the time limit is reached", request=request) from error


def limit_size(client: httpx.Client | httpx.AsyncClient, max_bytes: int) -> None:
    """Limit the size of each response of a client, after decompression."""
    # httpx has an option for the transport, but then it leaves out the proxies of the environment.
    wrap: Any = _Transport if isinstance(client, httpx.Client) else _AsyncTransport
    client._transport = wrap(client._transport, max_bytes)
    for pattern, transport in client._mounts.items():
        client._mounts[pattern] = None if transport is None else wrap(transport, max_bytes)
    client.headers["accept-encoding"] = ACCEPTED


def connect_directly(url: str) -> dict[str, None]:
    """Return the `mounts` of a client that uses no proxy of the environment for an address of this machine.

    A proxy can't reach the loopback interface of this machine, and must not see the key.
    """
    host = urlsplit(url).hostname or ""
    return {f"all://{f'[{host}]' if ':' in host else host}": None} if is_loopback(host) else {}


class _Transport(httpx.BaseTransport):
    """Decompresses the bodies of another transport, up to a size."""

    def __init__(self, transport: httpx.BaseTransport, max_bytes: int) -> None:
        self._transport = transport
        self._max_bytes = max_bytes

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._transport.handle_request(request)
        assert isinstance(response.stream, httpx.SyncByteStream)  # noqa: S101 - of a synchronous transport
        encoding = response.headers.pop("content-encoding", "")
        response.stream = _Body(response.stream, encoding, self._max_bytes)
        return response

    def close(self) -> None:
        self._transport.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, encoding: str, max_bytes: int) -> None:
        self._stream = stream
        self._encoding = encoding
        self._max_bytes = max_bytes

    def __iter__(self) -> Iterator[bytes]:
        yield _decompress(self._stream, self._encoding, self._max_bytes)

    def close(self) -> None:
        self._stream.close()


class _AsyncTransport(httpx.AsyncBaseTransport):
    def __init__(self, transport: httpx.AsyncBaseTransport, max_bytes: int) -> None:
        self._transport = transport
        self._max_bytes = max_bytes

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._transport.handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - of a transport for asyncio
        encoding = response.headers.pop("content-encoding", "")
        response.stream = _AsyncBody(response.stream, encoding, self._max_bytes)
        return response

    async def aclose(self) -> None:
        await self._transport.aclose()


class _AsyncBody(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, encoding: str, max_bytes: int) -> None:
        self._stream = stream
        self._encoding = encoding
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        parts: list[bytes] = []
        size = 0
        async for part in self._stream:
            parts.append(part)
            size += len(part)
            if size > self._max_bytes:
                raise _too_large(self._max_bytes)
        yield await asyncio.to_thread(_decompress, parts, self._encoding, self._max_bytes)

    async def aclose(self) -> None:
        await self._stream.aclose()


def _decompress(parts: Iterable[bytes], encoding: str, max_bytes: int) -> bytes:
    try:
        return decompress(parts, encoding, max_bytes)
    except TooLarge:
        raise _too_large(max_bytes) from None
    except Undecodable as error:
        raise httpx.DecodingError(f"the response {error}") from None


def _too_large(max_bytes: int) -> httpx.DecodingError:
    return httpx.DecodingError(f"the response is larger than {max_bytes / 2**20:.3g} MB")


def _read_timeout(request: httpx.Request) -> float:
    seconds: float = request.extensions["timeout"]["read"]
    return seconds
