"""Progress of long work on stderr: bars on a terminal, else a line every few seconds."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Self

from .terminal import make_console

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import Task, TaskID

SECONDS_BETWEEN_LINES = 10.0
SECONDS_UNTIL_NOTICE = 1.0
"""How long after Ctrl-C to print that the current step is still running."""
STOPPING = "Stopping after the current step; press Ctrl-C again to stop at once"


class ProgressBars:
    """A bar for each stage, with its rate and the remaining time."""

    def __init__(self) -> None:
        self._bars = _make_rich_progress()
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._finish(done=kind is None)
        self._bars.stop()

    def stage(self, name: str, total: int | None) -> None:
        """End the current stage and begin the next."""
        self._finish(done=True)
        # A stage without steps gets no bar.
        self._task = None if total == 0 else self._bars.add_task(name, total=total)

    def advance(self, steps: int = 1) -> None:
        """Count finished steps."""
        if self._task is not None:
            self._bars.advance(self._task, steps)

    def _finish(self, *, done: bool) -> None:
        if self._task is None:
            return
        task = self._bars.tasks[self._task]
        if done:
            # The total may be unknown, or only an estimate: at the end the bar is set to full.
            end = task.completed or 1
            self._bars.update(self._task, total=end, completed=end)
        self._bars.stop_task(self._task)
        self._task = None


class ProgressLines:
    """A line at the beginning of each stage, and one every few seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._name = ""
        self._total: int | None = None
        self._done = 0
        self._started = self._printed = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing: there is nothing to close."""

    def stage(self, name: str, total: int | None) -> None:
        """Begin a stage, and print its name."""
        self._name, self._total, self._done = name, total, 0
        self._started = self._printed = self._clock()
        if total != 0:
            _print_line(f"{name}: {total:,}" if total else name)

    def advance(self, steps: int = 1) -> None:
        """Count finished steps, and print a line if the last one is some seconds old."""
        self._done += steps
        now = self._clock()
        if now - self._printed >= SECONDS_BETWEEN_LINES:
            self._printed = now
            _print_line(self._format_state(now - self._started))

    def _format_state(self, seconds: float) -> str:
        rate = self._done / seconds
        if not self._total:
            return f"{self._name}: {self._done:,}, {rate:.1f} a second"
        remaining = max(self._total - self._done, 0) / rate
        return f"{self._name}: {self._done:,} of {self._total:,}, {rate:.1f} a second, {remaining:.0f} s left"


class InterruptibleProgress:
    """Progress that handles Ctrl-C: stop after the current step, or at once if pressed again.

    A KeyboardInterrupt raised at an arbitrary point may hit a library's clean-up code, which would
    print it and continue. So it is raised between two steps.
    """

    def __init__(self, display: ProgressBars | ProgressLines) -> None:
        self._display = display
        self._pressed = False
        # The current step may take long, for example while it waits for a slow site.
        self._notice = threading.Timer(SECONDS_UNTIL_NOTICE, _print_line, [STOPPING])
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

    def _handle_interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._pressed:
            signal.default_int_handler(number, frame)
        self._pressed = True
        self._notice.start()

    def _stop_if_pressed(self) -> None:
        if self._pressed:
            raise KeyboardInterrupt


def show_progress() -> InterruptibleProgress:
    """Create bars if stderr is a terminal, else lines."""
    is_terminal = make_console(stderr=True).is_terminal
    return InterruptibleProgress(ProgressBars() if is_terminal else ProgressLines())


def _print_line(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _make_rich_progress() -> RichProgress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class RateColumn(ProgressColumn):
        """Steps per second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f}/s", style="dim")

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        RateColumn(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=make_console(stderr=True),
        expand=True,
    )
