"""What a writer does while another process holds the write lock, or has the embedded index open."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .._internal.process_name import UNKNOWN_PROCESS
from .._internal.progress import Progress
from ..errors import IndexLocked, LockTimeout
from ..ports import Catalog
from .builds import IndexBuilds

PAUSE_SECONDS = 0.1
"""How long to wait before the embedded index is tried again."""


class ProcessWait:
    """Reports which process is waited for; gives up after a time limit. It is called repeatedly.

    Args:
        activity: What the process does, such as "has this index open".
        timeout: How many seconds to wait, from the first call.
        progress: Receives the report.
    """

    def __init__(self, activity: str, timeout: float, progress: Progress) -> None:
        self._activity, self._timeout, self._progress = activity, timeout, progress
        self._deadline: float | None = None

    def __call__(self, name_holder: Callable[[], str]) -> None:
        """Report the holder at the first call; raise LockTimeout after the time limit."""
        if self._deadline is None:
            self._deadline = time.monotonic() + self._timeout
            self._progress.waiting(f"Waiting for {name_holder()}, which {self._activity}")
        if time.monotonic() >= self._deadline:
            raise LockTimeout(
                f"gave up after {self._timeout:g} s: {name_holder()} {self._activity}; try again when it is "
                "done, or raise lock_timeout"
            )
        self._progress.advance(0)


@contextmanager
def hold_write_lock(
    catalog: Catalog, builds: IndexBuilds, timeout: float, progress: Progress
) -> Iterator[None]:
    """Hold the write lock of the catalog; wait for it, and then for the embedded index."""
    wait_for_writer = ProcessWait("is writing to this index", timeout, progress)
    wait_for_owner = ProcessWait("has this index open", timeout, progress)

    def wait_for_index(error: IndexLocked) -> None:
        if error.by_this_process:
            raise error
        wait_for_owner(lambda: error.holder or UNKNOWN_PROCESS)
        time.sleep(PAUSE_SECONDS)

    with catalog.write_lock(lambda: wait_for_writer(catalog.describe_lock_holder)):
        builds.wait = wait_for_index
        try:
            yield
        finally:
            builds.wait = None


def find_writer(catalog: Catalog) -> str | None:
    """Return the name of the process that holds the write lock; None if no process does."""

    def stop() -> None:
        raise LockTimeout(catalog.describe_lock_holder())

    try:
        with catalog.write_lock(stop):
            return None
    except LockTimeout as error:
        return str(error)
