"""The last answers, for as long as nothing is written to the index: readers ask the same things."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
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
        return self.recall_all([key], version).get(key)

    def recall_all(self, keys: Iterable[Key], version: object) -> dict[Key, Value]:
        """The values kept for these keys, as far as they are of this version."""
        with self._lock:
            if version != self._version:
                return {}
            found = {key: self._values[key] for key in keys if key in self._values}
            for key in found:
                self._values.move_to_end(key)
            return found

    def keep(self, key: Hashable, version: object, value: Value) -> None:
        """Keep a value that was made at this version."""
        self.keep_all({key: value}, version)

    def keep_all(self, values: Mapping[Key, Value], version: object) -> None:
        """Keep values that were made at this version."""
        with self._lock:
            if version != self._version:
                self._values.clear()
                self._version = version
            for key, value in values.items():
                self._values[key] = value
                self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)
