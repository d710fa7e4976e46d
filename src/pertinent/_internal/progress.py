"""How far a long work is: what tells it, and what tells nobody."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told how far the work is; every method may do nothing."""

    def stage(self, name: str, total: int | None) -> None: ...

    def advance(self, steps: int = 1) -> None: ...


class Silent:
    """Tells nobody."""

    def stage(self, name: str, total: int | None) -> None: ...

    def advance(self, steps: int = 1) -> None: ...
