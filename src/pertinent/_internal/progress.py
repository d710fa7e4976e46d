"""Reporting the progress of long work."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives the progress of long work, such as a progress bar."""

    def stage(self, name: str, total: int | None) -> None:
        """Start a stage of `total` steps; None if their number is unknown."""

    def advance(self, steps: int = 1) -> None:
        """Report steps of the stage as done."""

    def waiting(self, message: str) -> None:
        """Report that the work waits for another process; the message names it."""


class NoProgress:
    """Ignores progress."""

    def stage(self, name: str, total: int | None) -> None: ...

    def advance(self, steps: int = 1) -> None: ...

    def waiting(self, message: str) -> None: ...
