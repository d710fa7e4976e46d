"""A Qdrant server at one address or several: retries, timeouts and failover.

A temporary failure (no connection, timeout, 429, 5xx) is retried, each time at the next address. A cluster
with all its addresses configured so keeps answering when a peer fails.
"""

from __future__ import annotations

import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Concatenate, Final, ParamSpec, Self, TypeVar
from urllib.parse import SplitResult, urlsplit

import stamina
from qdrant_client import QdrantClient

from ..._internal.bounded_http import connect_directly, limit_size
from ..._internal.time_limit import TimeLimitedBackend
from ...errors import IndexFailure, SettingsError
from ...identity import is_loopback
from .errors import TemporaryFailure, translate_errors

ATTEMPTS = 3
"""How often a read is tried; few times, since a caller waits for it."""

WRITE_ATTEMPTS = 8
"""How often a write is tried; for some ten seconds, in which a server may restart."""

WRITE_TIMEOUT_FACTOR = 6
"""How much longer a write may take than a read; the server may be busy with indexing."""

MAX_RESPONSE_BYTES = 256 * 2**20
"""The largest response that is read; 512 points with payloads and vectors have a fifth of it."""

DEFAULT_PORT = 6333

T = TypeVar("T")
P = ParamSpec("P")


class Peer:
    """One address, with a client for reads and one with a longer timeout for writes."""

    def __init__(
        self,
        address: SplitResult,
        key: str | None,
        network: TimeLimitedBackend,
        *,
        limits: tuple[float, float],
    ) -> None:
        self.url: Final = (
            f"{address.scheme}://{_format_host(address)}:{address.port or DEFAULT_PORT}{address.path}"
        )
        read_limit, write_limit = limits
        self.reading = _create_client(self.url, key, read_limit, network)
        self.writing = _create_client(self.url, key, write_limit, network)
        self.version = ""

    def read_version(self) -> None:
        """Check, on the first call only, that a Qdrant answers, and read its version."""
        if not self.version:
            self.version = self.reading.info().version

    def close(self) -> None:
        """Close both clients."""
        self.reading.close()
        self.writing.close()


class Server:
    """A Qdrant server or cluster; thread-safe."""

    def __init__(self, urls: str, key: str | None = None, *, timeout: float = 10.0) -> None:
        """Connect to no peer yet.

        Args:
            urls: One address, or several separated by commas.
            key: The API key.
            timeout: The seconds that a read may take, retries included.
        """
        addresses = _parse_urls(urls)
        self._key = _check_key(key)
        self._timeout = timeout
        self._attempts = max(ATTEMPTS, len(addresses))
        # A peer that hangs must leave time for the others.
        limits = (timeout / self._attempts, WRITE_TIMEOUT_FACTOR * timeout / self._attempts)
        self._network = TimeLimitedBackend()
        self._peers = [Peer(address, self._key, self._network, limits=limits) for address in addresses]
        self._current = 0
        self._switching = threading.Lock()
        self._closed = False

    def __repr__(self) -> str:
        return f"Server({','.join(peer.url for peer in self._peers)!r})"

    @property
    def url(self) -> str:
        """The address of the peer that is used now."""
        return self._peers[self._current].url

    def read(self, call: Callable[Concatenate[Peer, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a peer with retries, and return its answer."""
        return self._retry(lambda peer: call(peer, *args, **kwargs), self._attempts, self._timeout)

    def write(self, call: Callable[Concatenate[Peer, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a peer with retries to change something; the change must be idempotent."""
        attempts = max(WRITE_ATTEMPTS, self._attempts)
        return self._retry(
            lambda peer: call(peer, *args, **kwargs), attempts, WRITE_TIMEOUT_FACTOR * self._timeout
        )

    def version(self) -> tuple[int, ...]:
        """Return the server's version; raise IndexFailure if no peer answers."""
        version = self.read(lambda peer: peer.version)
        return tuple(int(part) for part in re.findall(r"\d{1,9}", version)[:3])

    def _retry(self, call: Callable[[Peer], T], attempts: int, limit: float) -> T:
        if self._closed:
            raise IndexFailure(f"the connection to {self.url} was closed; open it again")
        # Also a peer that sends a byte now and then, whose timeout starts again with each, ends here.
        deadline = time.monotonic() + limit
        retries = stamina.retry_context(
            lambda error: _retry_delay(error, limit),
            attempts=attempts,
            timeout=limit,
            wait_initial=0.2,
            wait_max=2.0,
            wait_jitter=0.1,
        )
        for attempt in retries:
            number = self._current
            peer = self._peers[number]
            with (
                attempt,
                self._network.deadline(deadline),
                self._switch_peer_on_failure(number),
                translate_errors(peer.url, has_key=self._key is not None),
            ):
                peer.read_version()
                return call(peer)
        raise AssertionError("stamina yields an attempt or raises")

    @contextmanager
    def _switch_peer_on_failure(self, number: int) -> Iterator[None]:
        """After a temporary failure, use the next peer, unless another thread has switched already."""
        try:
            yield
        except TemporaryFailure:
            with self._switching:
                if self._current == number:
                    self._current = (number + 1) % len(self._peers)
            raise

    def close(self) -> None:
        """Close the connections to all peers."""
        self._closed = True
        for peer in self._peers:
            peer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _retry_delay(error: Exception, limit: float) -> bool | float:
    """Return whether to retry, or after how many seconds if the server has said so."""
    if not isinstance(error, TemporaryFailure):
        return False
    return True if error.retry_after is None else min(max(error.retry_after, 0.0), limit / ATTEMPTS)


def _create_client(url: str, key: str | None, timeout: float, network: TimeLimitedBackend) -> QdrantClient:
    parts = urlsplit(url)
    with warnings.catch_warnings():
        if is_loopback(parts.hostname or ""):
            # On this machine nobody can listen in; on a network the client's warning is right.
            warnings.filterwarnings("ignore", "Api key is used with an insecure connection")
        client = QdrantClient(
            url=url,
            api_key=key,
            timeout=max(1, int(timeout)),
            check_compatibility=False,
            # Without TLS there is nothing to verify, and loading the certificates takes 30 ms.
            verify=parts.scheme == "https",
            mounts=connect_directly(url),
        )
    network.use_in(client.http.client._client)
    limit_size(client.http.client._client, MAX_RESPONSE_BYTES)
    return client


def _parse_urls(urls: str) -> list[SplitResult]:
    """Parse and check the addresses; error messages don't contain them, since they may have a password."""
    try:
        addresses = [urlsplit(url.strip().rstrip("/")) for url in urls.split(",") if url.strip()]
        usable = [
            address
            for address in addresses
            if address.scheme in ("http", "https") and address.hostname and address.port != 0
        ]
    except ValueError:
        addresses, usable = [], []
    if not usable or len(usable) != len(addresses):
        raise SettingsError(
            "qdrant_url: must be http://HOST:6333 or https://HOST:6333, or several of them with commas"
        )
    if any(address.username or address.password for address in usable):
        raise SettingsError("qdrant_url: must have no user name or password; set QDRANT_API_KEY to the key")
    return usable


def _format_host(address: SplitResult) -> str:
    host = address.hostname or ""
    return f"[{host}]" if ":" in host else host


def _check_key(key: str | None) -> str | None:
    """Strip the key, which may have the line end of a file; raise SettingsError if no header can carry it."""
    key = (key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise SettingsError(
            "qdrant_api_key: contains a character that a key can't have; check QDRANT_API_KEY"
        )
    return key or None
