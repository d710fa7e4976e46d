"""An LRU cache whose values belong to one version of the index."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class VersionedCache(Generic[Value]):
    """Keeps the values used last. A new version discards all values of the old one. Thread-safe.

    Examples:
        >>> answers = VersionedCache[str](size=100)
        >>> answers.put("query", version=7, value="answer")
        >>> answers.get("query", version=7)
        'answer'
        >>> answers.get("query", version=8)

    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._version: object = None
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, version: object = None) -> Value | None:
        """Return the cached value of this version, or None."""
        with self._lock:
            if version != self._version or key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: Hashable, value: Value, version: object = None) -> None:
        """Cache a value that was computed at this version; the least recently used one makes room."""
        with self._lock:
            if version != self._version:
                self._values.clear()
                self._version = version
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)
