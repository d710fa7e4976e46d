"""Reporting the progress of long work."""

from __future__ import annotations

from collections.abc import Callable
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


class WaitNotices(NoProgress):
    """Announces which process the work waits for, and no other progress."""

    def __init__(self, announce: Callable[[str], None]) -> None:
        self._announce = announce

    def waiting(self, message: str) -> None:
        """Announce the message."""
        self._announce(message)
