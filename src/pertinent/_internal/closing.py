"""A base class for objects that are closed at the end of a `with` statement."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class ClosedAtExit:
    """Calls `close` at the end of a `with` statement."""

    def close(self) -> None:
        """Release files and connections."""
        raise NotImplementedError

    def __getstate__(self) -> object:
        raise TypeError(
            f"{type(self).__name__} can't be pickled, because of its open files or connections: create one "
            "in each process"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
