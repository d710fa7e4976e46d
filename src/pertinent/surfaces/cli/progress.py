"""How far a sync is: bars on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Self

from .terminal import console

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import Task, TaskID

SECONDS_BETWEEN_LINES = 10.0
SECONDS_TO_STOP = 1.0
"""How long after Ctrl-C it is said that a step is waited for."""
STOPPING = "Stopping when this step is done; Ctrl-C again ends it at once"


class Bars:
    """A bar a stage, with rate and time left."""

    def __init__(self) -> None:
        self._bars = _rich_progress()
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
        """The stage before has ended; this one begins."""
        self._finish(done=True)
        # Nothing to do is no stage to watch.
        self._task = None if total == 0 else self._bars.add_task(name, total=total)

    def advance(self, steps: int = 1) -> None:
        """So much more is done."""
        if self._task is not None:
            self._bars.advance(self._task, steps)

    def _finish(self, *, done: bool) -> None:
        if self._task is None:
            return
        task = self._bars.tasks[self._task]
        if done:
            # A stage whose length was not known, or was guessed too long, ends full all the same.
            end = task.completed or 1
            self._bars.update(self._task, total=end, completed=end)
        self._bars.stop_task(self._task)
        self._task = None


class Lines:
    """A line when a stage begins, and one every few seconds while it lasts."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._name = ""
        self._total: int | None = None
        self._done = 0
        self._began = self._spoke = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is held open."""

    def stage(self, name: str, total: int | None) -> None:
        """Say what begins."""
        self._name, self._total, self._done = name, total, 0
        self._began = self._spoke = self._clock()
        if total != 0:
            _line(f"{name}: {total:,}" if total else name)

    def advance(self, steps: int = 1) -> None:
        """Count, and speak if it is time to."""
        self._done += steps
        now = self._clock()
        if now - self._spoke >= SECONDS_BETWEEN_LINES:
            self._spoke = now
            _line(self._state(now - self._began))

    def _state(self, seconds: float) -> str:
        rate = self._done / seconds
        if not self._total:
            return f"{self._name}: {self._done:,}, {rate:.1f} a second"
        left = max(self._total - self._done, 0) / rate
        return f"{self._name}: {self._done:,} of {self._total:,}, {rate:.1f} a second, {left:.0f} s left"


class Stoppable:
    """Ctrl-C ends the work between two steps; pressed again, it ends it at once.

    An interrupt that is raised wherever the program happens to be may strike
    inside a library that is tidying up, which then prints it and goes on.
    """

    def __init__(self, shown: Bars | Lines) -> None:
        self._shown = shown
        self._pressed = False
        # A step may wait, for a site that asks for patience, say.
        self._notice = threading.Timer(SECONDS_TO_STOP, _line, [STOPPING])
        self._notice.daemon = True
        self._before = signal.getsignal(signal.SIGINT)
        # Python lets only the main thread hear signals.
        self._hears = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        if self._hears:
            signal.signal(signal.SIGINT, self._press)
        self._shown.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._notice.cancel()
        self._shown.__exit__(kind, error, trace)
        if self._hears:
            signal.signal(signal.SIGINT, self._before)

    def stage(self, name: str, total: int | None) -> None:
        """The stage before has ended; this one begins."""
        self._stop_if_pressed()
        self._shown.stage(name, total)

    def advance(self, steps: int = 1) -> None:
        """So much more is done."""
        self._shown.advance(steps)
        self._stop_if_pressed()

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self._pressed:
            signal.default_int_handler(number, frame)
        self._pressed = True
        self._notice.start()

    def _stop_if_pressed(self) -> None:
        if self._pressed:
            raise KeyboardInterrupt


def progress() -> Stoppable:
    """What suits where stderr goes."""
    return Stoppable(Bars() if console(stderr=True).is_terminal else Lines())


def _line(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _rich_progress() -> RichProgress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """Steps a second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f}/s", style="dim")

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=console(stderr=True),
        expand=True,
    )
