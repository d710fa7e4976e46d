"""What a writer does while another process holds the write lock, or has the embedded index open."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from .._internal.process_name import name_process
from .._internal.progress import Progress
from ..errors import IndexLocked, LockTimeout
from ..ports import Catalog
from .builds import IndexBuilds

UNKNOWN_HOLDER = "another process"

WAITING = "Waiting for"
"""How the name of each stage of waiting begins."""

PAUSE_SECONDS = 0.1
"""How long to wait before the embedded index is tried again."""


class LockWait:
    """Reports who holds the write lock; gives up after a time limit. It is called repeatedly."""

    def __init__(self, catalog: Catalog, timeout: float, progress: Progress) -> None:
        self._has_waited = False
        self._catalog, self._timeout, self._progress = catalog, timeout, progress
        self._deadline = time.monotonic() + timeout

    def __call__(self) -> None:
        """Report the holder; raise LockTimeout after the time limit."""
        is_late = time.monotonic() > self._deadline
        holder = self._catalog.describe_lock_holder() if is_late or not self._has_waited else ""
        if not self._has_waited:
            self._progress.stage(f"{WAITING} {holder}, which is writing to this index", None)
            self._has_waited = True
        if is_late:
            raise LockTimeout(
                f"gave up after {self._timeout:g} s: {holder} is writing to this index; try again when it is "
                "done, or raise lock_timeout"
            )
        self._progress.advance(0)


class IndexWait:
    """Reports who has the embedded index open; gives up after a time limit. It is called repeatedly."""

    def __init__(self, timeout: float, progress: Progress) -> None:
        self._timeout, self._progress = timeout, progress
        self._deadline: float | None = None

    def __call__(self, error: IndexLocked) -> None:
        """Wait a moment; raise LockTimeout after the time limit.

        The error is raised at once if this process itself has the index open: it would wait for itself.
        """
        if error.holder == name_process():
            raise error
        holder = error.holder or UNKNOWN_HOLDER
        if self._deadline is None:
            self._deadline = time.monotonic() + self._timeout
            self._progress.stage(f"{WAITING} {holder}, which has this index open", None)
        if time.monotonic() > self._deadline:
            raise LockTimeout(
                f"gave up after {self._timeout:g} s: {holder} has this index open; try again when it is "
                "done, or raise lock_timeout"
            ) from error
        self._progress.advance(0)
        time.sleep(PAUSE_SECONDS)


@contextmanager
def hold_write_lock(
    catalog: Catalog, builds: IndexBuilds, timeout: float, progress: Progress
) -> Iterator[None]:
    """Hold the write lock of the catalog; wait for it, and then for the embedded index."""
    with catalog.write_lock(LockWait(catalog, timeout, progress)):
        builds.wait = IndexWait(timeout, progress)
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
