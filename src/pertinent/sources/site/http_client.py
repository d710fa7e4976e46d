"""Connections to a site: kept open, over HTTP/2 where the server has it, through a proxy where one is set."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from ssl import SSLContext
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore

from ...errors import SettingsError
from .plain import KEPT_OPEN, PlainConnection


class Connections:
    """Where each thread finds its connection: shared where they may speak HTTP/2, else one for each thread.

    To look for a free connection in a pool takes as long as all else that a request costs here.
    """

    def __init__(
        self, origin: str, connections: int, network: httpcore.NetworkBackend, trust: SSLContext | None
    ) -> None:
        import httpx

        scheme, _, host = origin.partition("://")
        proxy = None if proxy_bypass(host) else getproxies().get(scheme)
        self._network = network
        self._proxy = _proxy(proxy) if proxy else None
        # Made only where it is needed: to load the certificates takes longer than a small site.
        self._trust = (trust or httpx.create_ssl_context()) if scheme == "https" else None
        self._shared = self._pool(connections) if self._trust or self._proxy else None
        self._origin = httpcore.URL(origin).origin
        self._thread = threading.local()
        self._own: list[PlainConnection] = []

    @property
    def by_proxy(self) -> bool:
        """Whether all is asked of a proxy."""
        return self._proxy is not None

    def mine(self) -> httpcore.ConnectionPool | PlainConnection:
        """What this thread is to ask by."""
        if self._shared:
            return self._shared
        own: PlainConnection | None = getattr(self._thread, "connection", None)
        if own is None:
            own = self._thread.connection = PlainConnection(self._origin, self._network)
            self._own.append(own)
        return own

    def _pool(self, connections: int) -> httpcore.ConnectionPool:
        return httpcore.ConnectionPool(
            ssl_context=self._trust,
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=KEPT_OPEN,
            http2=find_spec("h2") is not None,
            network_backend=self._network,
            proxy=self._proxy,
        )

    def close(self) -> None:
        if self._shared:
            self._shared.close()
        for own in self._own:
            own.close()


def _proxy(address: str) -> httpcore.Proxy:
    """The proxy at an address as the environment has it: maybe without a scheme, maybe with a password."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        host, port, parts = "", 0, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        # Not shown: it may hold a password.
        raise SettingsError("the proxy that HTTP_PROXY or HTTPS_PROXY names is not one as http://host:port")
    login = (unquote(parts.username or ""), unquote(parts.password or ""))
    url = httpcore.URL(scheme=parts.scheme, host=host, port=port, target="/")
    return httpcore.Proxy(url, auth=login if any(login) else None)
