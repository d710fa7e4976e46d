"""An LRU cache whose values belong to one version, such as that of the index."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class VersionedCache(Generic[Value]):
    """Keeps the values used last. A new version discards all values of the old one. Thread-safe.

    Args:
        size: How many values are cached.
        max_bytes: How large all values may be together. A value that is larger by itself is not cached.
        count_bytes: Returns the approximate size of a value in memory; only used with `max_bytes`.

    Examples:
        >>> answers = VersionedCache[str](size=100)
        >>> answers.put("query", version=7, value="answer")
        >>> answers.get("query", version=7)
        'answer'
        >>> answers.get("query", version=8)

    """

    def __init__(
        self,
        size: int,
        max_bytes: float = math.inf,
        count_bytes: Callable[[Value], int] = lambda _value: 0,
    ) -> None:
        self._size = size
        self._max_bytes = max_bytes
        self._count_bytes = count_bytes
        self._version: object = None
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable, version: object = None) -> Value | None:
        """Return the cached value of this version, or None."""
        with self._lock:
            if version != self._version or key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: Hashable, value: Value, version: object = None) -> None:
        """Cache a value that was computed at this version; the least recently used ones make room."""
        value_bytes = self._count_bytes(value)
        with self._lock:
            if version != self._version:
                self._values.clear()
                self._bytes = 0
                self._version = version
            if key in self._values:
                self._bytes -= self._values.pop(key)[1]
            if value_bytes > self._max_bytes:
                return
            self._values[key] = value, value_bytes
            self._bytes += value_bytes
            while len(self._values) > self._size or self._bytes > self._max_bytes:
                _, (_, evicted_bytes) = self._values.popitem(last=False)
                self._bytes -= evicted_bytes
