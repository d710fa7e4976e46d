"""A TCP proxy before PostgreSQL's socket that can go silent without closing a connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit


class SilentProxy:
    """Forwards bytes between TCP clients and a Unix socket, until it is silent."""

    def __init__(self, target: Path) -> None:
        self._target = str(target)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._speaking = threading.Event()
        self._speaking.set()
        self._sockets: list[socket.socket] = []
        self._lost: set[socket.socket] = set()
        self._closed = False
        self._closing = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @contextmanager
    def silent(self, *, lose_connections: bool = False) -> Iterator[None]:
        """Accept connections and bytes, and forward none.

        Args:
            lose_connections: Let the present connections stay silent for ever, as behind a firewall that
                has forgotten them; only new ones are forwarded afterwards.
        """
        self._speaking.clear()
        if lose_connections:
            self._lost.update(self._sockets)
        try:
            yield
        finally:
            self._speaking.set()

    def close(self) -> None:
        with self._closing:
            self._closed = True
        self._speaking.set()
        for connection in (self._listener, *self._sockets):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        if not self._keep(client):
            return
        self._speaking.wait()
        server = socket.socket(socket.AF_UNIX)
        if not self._keep(server):
            return
        try:
            server.connect(self._target)
        except OSError:
            return  # closed meanwhile
        threading.Thread(target=self._forward, args=(client, server), daemon=True).start()
        self._forward(server, client)

    def _keep(self, connection: socket.socket) -> bool:
        """Keep a connection for `close`; after that, close it at once and return False."""
        with self._closing:
            if self._closed:
                connection.close()
            else:
                self._sockets.append(connection)
            return not self._closed

    def _forward(self, sender: socket.socket, receiver: socket.socket) -> None:
        with suppress(OSError):
            while content := sender.recv(65536):
                self._speaking.wait()
                if sender not in self._lost and not self._closed:
                    receiver.sendall(content)
        self._speaking.wait()
        if sender not in self._lost:
            with suppress(OSError):
                receiver.shutdown(socket.SHUT_RDWR)


@contextmanager
def silent_proxy(url: str, connect_seconds: int) -> Iterator[tuple[SilentProxy, str]]:
    """A proxy before the PostgreSQL of a URL, and the URL that leads through it.

    Args:
        url: The address of the server.
        connect_seconds: How long a client waits for a new connection.
    """
    parts = urlsplit(url)
    (folder,) = parse_qs(parts.query)["host"]
    proxy = SilentProxy(Path(folder) / ".s.PGSQL.5432")
    user = parts.netloc.rpartition("@")[0]
    try:
        netloc = f"{user}@127.0.0.1:{proxy.port}"
        yield proxy, urlunsplit(parts._replace(netloc=netloc, query=f"connect_timeout={connect_seconds}"))
    finally:
        proxy.close()
