"""Bounds on open connections: in all, and for each address."""

from __future__ import annotations

import math
import time
from collections import Counter

from .client_address import identify_client
from .errors import ApiError
from .observability import Observer
from .trusted_proxies import TrustedProxies

DESCRIPTORS_PER_CONNECTION = 2
"""A connection has a second file open while that file is sent to its client."""

RESERVED_DESCRIPTORS = 128
"""File descriptors that connections leave free: for the stores, and for clients that are being refused."""

LOG_SECONDS = 10.0
"""At most one log line in this time says that connections are refused."""

_RETRY = {"retry-after": "10"}


class ConnectionLimits:
    """Counts the open connections of a service, and refuses those beyond a bound.

    Args:
        observer: Logs when a bound is met.
        total: How many connections may be open.
        per_address: How many of them may come from one address.
        descriptors: How many files and connections the process may have open; None if there is no limit.
        proxies: Connections from these are bounded in all only, since they come from many clients.

    """

    def __init__(
        self,
        observer: Observer,
        total: int,
        per_address: int,
        descriptors: int | None,
        proxies: TrustedProxies,
    ) -> None:
        self.open = 0
        self._observer = observer
        self._total = total
        self._per_address = per_address
        self._proxies = proxies
        self._by_client: Counter[str] = Counter()
        self._refused = 0
        self._next_log = -math.inf
        if descriptors is not None and total > _count_affordable(descriptors):
            self._fit_descriptors(descriptors)

    def _fit_descriptors(self, descriptors: int) -> None:
        """Lower the bounds, so that connections never take the last descriptors, nor one address all."""
        self._total = max(2, _count_affordable(descriptors), descriptors // 8)
        self._per_address = min(self._per_address, self._total // 2)
        self._observer.log.warning(
            "few file descriptors",
            descriptors=descriptors,
            max_connections=self._total,
            max_connections_per_address=self._per_address,
            advice="raise the limit of open files (ulimit -n), or lower max_connections",
        )

    def admit(self, address: str) -> ApiError | None:
        """Count a new connection of the address, or return why it is refused."""
        if self.open >= self._total:
            self._record_refusal("max_connections", address)
            return ApiError(503, "service_unavailable", "too many connections; try again later", _RETRY)
        client = identify_client(address)
        if self._by_client[client] >= self._per_address and address not in self._proxies:
            self._record_refusal("max_connections_per_address", address)
            message = f"this address has {self._per_address} connections; close some, or try again later"
            return ApiError(429, "rate_limited", message, _RETRY)
        self._by_client[client] += 1
        self.open += 1
        return None

    def release(self, address: str) -> None:
        """Forget a connection that `admit` has counted."""
        self.open -= 1
        client = identify_client(address)
        self._by_client[client] -= 1
        if not self._by_client[client]:
            del self._by_client[client]

    def _record_refusal(self, bound: str, address: str) -> None:
        """Count the refusal; log it, unless another one was logged a moment ago."""
        self._refused += 1
        now = time.monotonic()
        if now >= self._next_log:
            self._next_log = now + LOG_SECONDS
            self._observer.log.warning(
                "connections refused", bound=bound, address=address, open=self.open, refused=self._refused
            )
            self._refused = 0


def _count_affordable(descriptors: int) -> int:
    """Return how many connections may be open with so many file descriptors."""
    return (descriptors - RESERVED_DESCRIPTORS) // DESCRIPTORS_PER_CONNECTION


def read_descriptor_limit() -> int | None:
    """Return how many files and connections this process may have open; None if there is no limit."""
    try:
        import resource
    except ImportError:
        return None  # Windows has no such limit
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if limit == resource.RLIM_INFINITY else limit
