"""The last answers, for as long as nothing is written to the index: readers ask the same things."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Memory(Generic[Value]):
    """So many values by their keys, those used last; all are forgotten when the version changes."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._version: object = None
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    def recall(self, key: Hashable, version: object) -> Value | None:
        """The value kept for the key, if it is of this version."""
        with self._lock:
            if version != self._version or key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def keep(self, key: Hashable, version: object, value: Value) -> None:
        """Keep a value that was made at this version."""
        with self._lock:
            if version != self._version:
                self._values.clear()
                self._version = version
            self._values[key] = value
            if len(self._values) > self._size:
                self._values.popitem(last=False)
