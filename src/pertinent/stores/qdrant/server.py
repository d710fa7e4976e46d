"""A Qdrant server at one address or several: which peer is asked, for how long, and how often.

A failure that may pass (no connection, no answer in time, 429, 5xx) is tried again, each time at the next
address; a cluster whose addresses are all given so goes on answering when a peer dies.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Concatenate, Final, ParamSpec, Self, TypeVar
from urllib.parse import SplitResult, urlsplit

import stamina
from qdrant_client import QdrantClient

from ...errors import IndexFailure, SettingsError
from ...identity import is_loopback
from .errors import Passing, translated

ATTEMPTS = 3
"""How often a read is tried before it is given up: somebody waits for it."""

WRITE_ATTEMPTS = 8
"""How often a write is tried: ten seconds are enough for a server to be started again."""

WRITING = 6
"""How many times as long a write may take as a read: the server may be busy with indexing."""

DEFAULT_PORT = 6333

T = TypeVar("T")
P = ParamSpec("P")


class Peer:
    """One address, and the clients that speak to it: writes may take longer than reads."""

    def __init__(self, address: SplitResult, key: str | None, *, limits: tuple[float, float]) -> None:
        self.url: Final = f"{address.scheme}://{_host(address)}:{address.port or DEFAULT_PORT}{address.path}"
        read_limit, write_limit = limits
        self.reading = _client(self.url, key, read_limit)
        self.writing = _client(self.url, key, write_limit)
        self.version = ""

    def greet(self) -> None:
        """See once that a Qdrant answers here, and which version."""
        if not self.version:
            self.version = self.reading.info().version

    def close(self) -> None:
        self.reading.close()
        self.writing.close()


class Server:
    """A Qdrant server or cluster. Safe to use from many threads."""

    def __init__(self, urls: str, key: str | None = None, *, timeout: float = 10.0) -> None:
        """Take one address or several with commas; a read may take `timeout` seconds, retries included."""
        addresses = _addresses(urls)
        self._key = _checked_key(key)
        self._timeout = timeout
        self._attempts = max(ATTEMPTS, len(addresses))
        # One that hangs must leave time for the others.
        limits = (timeout / self._attempts, WRITING * timeout / self._attempts)
        self._peers = [Peer(one, self._key, limits=limits) for one in addresses]
        self._turn = 0
        self._turning = threading.Lock()
        self._closed = False

    def __repr__(self) -> str:
        return f"Server({','.join(peer.url for peer in self._peers)!r})"

    @property
    def url(self) -> str:
        """The address that is asked first now."""
        return self._peers[self._turn].url

    def read(self, call: Callable[Concatenate[Peer, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a peer answers."""
        return self._tried(lambda peer: call(peer, *args, **kwargs), self._attempts, self._timeout)

    def write(self, call: Callable[Concatenate[Peer, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a peer answers to a change, which must be one that can be made twice."""
        attempts = max(WRITE_ATTEMPTS, self._attempts)
        return self._tried(lambda peer: call(peer, *args, **kwargs), attempts, WRITING * self._timeout)

    def version(self) -> tuple[int, ...]:
        """The server's version; an error where none answers."""
        said = self.read(lambda peer: peer.version)
        return tuple(int(part) for part in re.findall(r"\d+", said)[:3])

    def _tried(self, call: Callable[[Peer], T], attempts: int, limit: float) -> T:
        if self._closed:
            raise IndexFailure(f"the connection to {self.url} was closed; open it again")
        retries = stamina.retry_context(
            lambda error: _again(error, limit),
            attempts=attempts,
            timeout=limit,
            wait_initial=0.2,
            wait_max=2.0,
            wait_jitter=0.1,
        )
        for attempt in retries:
            turn = self._turn
            with (
                attempt,
                self._turned_from(turn),
                translated(self._peers[turn].url, has_key=self._key is not None),
            ):
                self._peers[turn].greet()
                return call(self._peers[turn])
        raise AssertionError("stamina gives an attempt or raises")

    @contextmanager
    def _turned_from(self, turn: int) -> Iterator[None]:
        """After a failure that may pass, the next address has its turn."""
        try:
            yield
        except Passing:
            with self._turning:
                if self._turn == turn:
                    self._turn = (turn + 1) % len(self._peers)
            raise

    def close(self) -> None:
        self._closed = True
        for peer in self._peers:
            peer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _again(error: Exception, limit: float) -> bool | float:
    """Whether to try again, and after how long where the server has said it."""
    if not isinstance(error, Passing):
        return False
    return True if error.after is None else min(error.after, limit / ATTEMPTS)


def _client(url: str, key: str | None, timeout: float) -> QdrantClient:
    parts = urlsplit(url)
    with warnings.catch_warnings():
        if is_loopback(parts.hostname or ""):
            # Nobody can listen in on this machine; on a network the client's warning is right.
            warnings.filterwarnings("ignore", "Api key is used with an insecure connection")
        return QdrantClient(
            url=url,
            api_key=key,
            timeout=max(1, int(timeout)),
            check_compatibility=False,
            # Without TLS there is nothing to verify, and reading the certificates takes 30 ms.
            verify=parts.scheme == "https",
        )


def _addresses(urls: str) -> list[SplitResult]:
    """The addresses, checked; the value is not shown, for a password may be in it."""
    try:
        found = [urlsplit(url.strip().rstrip("/")) for url in urls.split(",") if url.strip()]
        good = [one for one in found if one.scheme in ("http", "https") and one.hostname and one.port != 0]
    except ValueError:
        found, good = [], []
    if not good or len(good) != len(found):
        raise SettingsError(
            "qdrant_url: must be http://HOST:6333 or https://HOST:6333, or several of them with commas"
        )
    if any(one.username or one.password for one in good):
        raise SettingsError("qdrant_url: must have no user name or password; a key goes to QDRANT_API_KEY")
    return good


def _host(address: SplitResult) -> str:
    host = address.hostname or ""
    return f"[{host}]" if ":" in host else host


def _checked_key(key: str | None) -> str | None:
    """The key without the line end that a file gave it; one that no header can carry is not passed on."""
    key = (key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise SettingsError("qdrant_api_key: has a character that is in no key; check QDRANT_API_KEY")
    return key or None
