"""The total time limit of a request, for servers that send a few bytes now and then.

A timeout of httpx, and of httpcore below it, applies to a single read and starts again with every byte. A
server that drips its headers or its body, or sends 1xx responses without end, would hold a thread for ever.
This network backend ends every read at the deadline of the request, or soon after it is stopped.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ssl import SSLContext
from typing import Any

import httpcore
import httpx

_STOP_CHECK_SECONDS = 0.5
"""How often a read that waits looks whether the backend was stopped."""

_WRITE_BYTES = 64 * 1024
"""How much is written before the deadline is checked again."""


class TimeLimitedBackend(httpcore.NetworkBackend):
    """A network backend for httpcore; each thread sets the deadline of the requests that it makes."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        """Set it to end the requests of all threads."""
        self._backend = httpcore.SyncBackend()
        self._thread = threading.local()

    @contextmanager
    def deadline(self, moment: float) -> Iterator[None]:
        """End all that this thread reads in the block at `moment`, of `time.monotonic()`.

        A block inside another ends at the earlier of both deadlines.
        """
        outer = self._deadline
        self._thread.deadline = min(moment, outer)
        try:
            yield
        finally:
            self._thread.deadline = outer

    @property
    def _deadline(self) -> float:
        moment: float = getattr(self._thread, "deadline", math.inf)
        return moment

    @property
    def is_over(self) -> bool:
        """Whether the time of this thread's request is over, or the backend was stopped."""
        return self.stopped.is_set() or time.monotonic() >= self._deadline

    def remaining(self, timeout: float | None) -> float:
        """Seconds that this thread may wait now, at most `timeout`. Raises ReadTimeout if there are none."""
        remaining = self._deadline - time.monotonic()
        if self.stopped.is_set() or remaining <= 0:
            raise httpcore.ReadTimeout("the time limit is reached")
        return min(remaining, math.inf if timeout is None else timeout)

    def use_in(self, client: httpx.Client) -> None:
        """Let a client connect through this backend, also to the proxies of the environment."""
        # httpx has no option for the network backend of its connection pools.
        for transport in (client._transport, *client._mounts.values()):
            if isinstance(transport, httpx.HTTPTransport):
                transport._pool._network_backend = self

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect within the time limit."""
        wait = self.remaining(timeout)
        stream = self._backend.connect_tcp(host, port, wait, local_address, socket_options)
        return _TimeLimitedStream(stream, self)


class _TimeLimitedStream(httpcore.NetworkStream):
    """A connection whose reads and writes end at the deadline of the thread that makes them."""

    def __init__(self, stream: httpcore.NetworkStream, limit: TimeLimitedBackend) -> None:
        self._stream = stream
        self._limit = limit

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        silent_until = time.monotonic() + self._limit.remaining(timeout)
        while True:
            wait = self._limit.remaining(max(silent_until - time.monotonic(), 0.01))
            try:
                return self._stream.read(max_bytes, min(wait, _STOP_CHECK_SECONDS))
            except httpcore.ReadTimeout:
                if time.monotonic() >= silent_until:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # The timeout starts again each time the server has read a little.
        for start in range(0, len(buffer), _WRITE_BYTES):
            self._stream.write(buffer[start : start + _WRITE_BYTES], self._limit.remaining(timeout))

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._limit.remaining(timeout))
        return _TimeLimitedStream(stream, self._limit)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
