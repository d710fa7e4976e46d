"""What a writer does while another process holds the write lock."""

from __future__ import annotations

import time
from collections.abc import Callable

from .._internal.progress import Progress
from ..errors import IndexLocked, LockTimeout, PertinentError
from ..ports import Catalog

_ATTEMPTS, _PAUSE_SECONDS = 50, 0.1


class LockWait:
    """Reports who holds the write lock; gives up after a time limit. It is called repeatedly."""

    def __init__(self, catalog: Catalog, timeout: float, progress: Progress) -> None:
        self.has_waited = False
        self._catalog, self._timeout, self._progress = catalog, timeout, progress
        self._deadline = time.monotonic() + timeout

    def __call__(self) -> None:
        """Report the holder; raise LockTimeout after the time limit."""
        is_late = time.monotonic() > self._deadline
        holder = self._catalog.describe_lock_holder() if is_late or not self.has_waited else ""
        if not self.has_waited:
            self._progress.stage(f"Waiting for {holder}, which is writing to this index", None)
            self.has_waited = True
        if is_late:
            raise LockTimeout(
                f"gave up after {self._timeout:g} s: {holder} is writing to this index; try again when it is "
                "done, or raise lock_timeout"
            )
        self._progress.advance(0)


def wait_for_index(open_index: Callable[[], object]) -> None:
    """Wait for an embedded index: the other process closes it a moment after it releases the lock."""
    for _ in range(_ATTEMPTS):
        try:
            open_index()
        except IndexLocked:
            time.sleep(_PAUSE_SECONDS)
        except PertinentError:
            return  # the next use of the index raises it
        else:
            return
