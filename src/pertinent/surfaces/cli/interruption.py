"""What Ctrl-C does during long work: the first stops it after the current step, the second at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Protocol, Self

from ..._internal.progress import Progress
from .terminal import print_message

SECONDS_UNTIL_NOTICE = 1.0
"""How long after Ctrl-C to print that the current step is still running."""
STOPPING = "Stopping after the current step; press Ctrl-C again to stop at once"


class ProgressDisplay(Progress, Protocol):
    """Progress on the terminal, from its beginning to its end."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class InterruptibleProgress:
    """Progress that handles Ctrl-C: stop after the current step, or at once if pressed again.

    A KeyboardInterrupt raised at an arbitrary point may hit a library's clean-up code, which would
    print it and continue. So it is raised between two steps.
    """

    def __init__(self, display: ProgressDisplay) -> None:
        self._display = display
        self._pressed = False
        # The current step may take long, for example while it waits for a slow site.
        self._notice = threading.Timer(SECONDS_UNTIL_NOTICE, print_message, [STOPPING])
        self._notice.daemon = True
        self._previous_handler = signal.getsignal(signal.SIGINT)
        # Python delivers signals only to the main thread.
        self._handles_signals = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        if self._handles_signals:
            signal.signal(signal.SIGINT, self._handle_interrupt)
        self._display.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._notice.cancel()
        self._display.__exit__(kind, error, trace)
        if self._handles_signals:
            signal.signal(signal.SIGINT, self._previous_handler)

    def stage(self, name: str, total: int | None) -> None:
        """Begin a stage, unless Ctrl-C was pressed."""
        self._stop_if_pressed()
        self._display.stage(name, total)

    def advance(self, steps: int = 1) -> None:
        """Count finished steps, and stop if Ctrl-C was pressed."""
        self._display.advance(steps)
        self._stop_if_pressed()

    def waiting(self, message: str) -> None:
        """Begin to wait, unless Ctrl-C was pressed."""
        self._stop_if_pressed()
        self._display.waiting(message)

    def _handle_interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._pressed:
            signal.default_int_handler(number, frame)
        self._pressed = True
        self._notice.start()

    def _stop_if_pressed(self) -> None:
        if self._pressed:
            raise KeyboardInterrupt
