"""Network reads that end: a deadline for the whole of a piece of work, whoever drips bytes into it.

A time-out of a socket begins anew with every byte. Here each thread has a deadline for what it is
doing, and every read of it, of headers too, looks at the clock. Reads wait in short slices, so that
a crawl that was stopped ends at once.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ssl import SSLContext
from typing import Any

import httpcore

_SLICE = 0.5


class Deadlines(httpcore.NetworkBackend):
    """A network whose reads and writes end with the deadline of the thread that waits for them."""

    def __init__(self) -> None:
        self._network = httpcore.SyncBackend()
        self._thread = threading.local()
        self.stopped = threading.Event()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """What this thread does in the block ends in that time, and in that of the block around it."""
        before = self._end
        end = time.monotonic() + seconds
        self._thread.end = end if before is None else min(before, end)
        try:
            yield
        finally:
            self._thread.end = before

    @contextmanager
    def paused(self) -> Iterator[None]:
        """What this thread does in the block is no part of that time."""
        began = time.monotonic()
        try:
            yield
        finally:
            if self._end is not None:
                self._thread.end = self._end + time.monotonic() - began

    @property
    def _end(self) -> float | None:
        end: float | None = getattr(self._thread, "end", None)
        return end

    @property
    def passed(self) -> bool:
        """Whether this thread's time is over."""
        return self.stopped.is_set() or self.left(None) <= 0

    def left(self, timeout: float | None) -> float:
        """How long this thread may wait now, at most `timeout`."""
        left = _SLICE if self._end is None else self._end - time.monotonic()
        return left if timeout is None else min(left, timeout)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        wait = self.left(timeout)
        if self.passed:
            raise httpcore.ConnectTimeout("the time is over")
        stream = self._network.connect_tcp(host, port, wait, local_address, socket_options)
        return _Stream(stream, self)


class _Stream(httpcore.NetworkStream):
    """A connection that is read and written in slices of time.

    Without TLS its socket is used directly, and the socket's time-out left as it is where it can be: at
    each call to the system another thread may go first, which costs more than what is done between two.
    """

    def __init__(self, inner: httpcore.NetworkStream, deadlines: Deadlines) -> None:
        self._inner = inner
        self._deadlines = deadlines
        # What TLS has to say does not stand on the socket as it is.
        secret = inner.get_extra_info("ssl_object") is not None
        self._socket: socket.socket | None = None if secret else inner.get_extra_info("socket")
        self._wait = 0.0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        for wait in self._slices(timeout):
            try:
                if self._socket is None:
                    return self._inner.read(max_bytes, wait)
                return self._ready(self._socket, wait).recv(max_bytes)
            except (TimeoutError, httpcore.ReadTimeout):
                continue
            except OSError as error:
                raise httpcore.ReadError(str(error)) from error
        raise httpcore.ReadTimeout("the time is over")

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for wait in self._slices(timeout):
            try:
                if self._socket is None:
                    self._inner.write(buffer, max(self._deadlines.left(timeout), 0.01))
                    return
                buffer = buffer[self._ready(self._socket, wait).send(buffer) :]
            except TimeoutError:
                continue
            except OSError as error:
                raise httpcore.WriteError(str(error)) from error
            if not buffer:
                return
        raise httpcore.WriteTimeout("the time is over")

    def _slices(self, timeout: float | None) -> Iterator[float]:
        """How long each attempt may last, until the time is over or nothing was said for `timeout`."""
        quiet_until = time.monotonic() + self._deadlines.left(timeout)
        while not self._deadlines.passed and (left := quiet_until - time.monotonic()) > 0:
            yield min(left, _SLICE)

    def _ready(self, sock: socket.socket, wait: float) -> socket.socket:
        if wait != self._wait:
            sock.settimeout(wait)
            self._wait = wait
        return sock

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, max(self._deadlines.left(timeout), 0.01))
        return _Stream(inner, self._deadlines)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
