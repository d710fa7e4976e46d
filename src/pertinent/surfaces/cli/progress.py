"""Progress of long work on stderr: bars on a terminal, else a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from .interruption import InterruptibleProgress
from .terminal import make_console, print_message

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import Task, TaskID

SECONDS_BETWEEN_LINES = 10.0


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

    def waiting(self, message: str) -> None:
        """Begin a stage of waiting."""
        self.stage(message, None)

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
            print_message(f"{name}: {total:,}" if total else name)

    def advance(self, steps: int = 1) -> None:
        """Count finished steps, and print a line if the last one is some seconds old."""
        self._done += steps
        now = self._clock()
        if now - self._printed >= SECONDS_BETWEEN_LINES:
            self._printed = now
            print_message(self._format_state(now - self._started))

    def waiting(self, message: str) -> None:
        """Begin a stage of waiting."""
        self.stage(message, None)

    def _format_state(self, seconds: float) -> str:
        rate = self._done / seconds
        if not self._total:
            return f"{self._name}: {self._done:,}, {rate:.1f} a second"
        remaining = max(self._total - self._done, 0) / rate
        return f"{self._name}: {self._done:,} of {self._total:,}, {rate:.1f} a second, {remaining:.0f} s left"


def show_progress() -> InterruptibleProgress:
    """Create bars if stderr is a terminal, else lines."""
    is_terminal = make_console(stderr=True).is_terminal
    return InterruptibleProgress(ProgressBars() if is_terminal else ProgressLines())


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
