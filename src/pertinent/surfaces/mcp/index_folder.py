"""The index of a folder, as a server over stdio reads it.

Agents keep their servers running all day, and the index is rebuilt meanwhile. So it is open only during a
call; the models stay loaded. While a service has it open, calls go to that service (`running_service.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import CapacityLimiter, to_thread

from ...errors import IndexLocked, PertinentError

if TYPE_CHECKING:
    from ...types import Answer
    from ..reader import Reader

Result = TypeVar("Result")

LOCK_SECONDS = 10.0
"""How long to wait for another process that has the index open."""
RETRY_SECONDS = 0.1


class IndexFolder:
    """Opens the index for each search, one after the other, and the catalog for each page that is read.

    Args:
        open_reader: Opens the index, or connects to the service that has it open.
    """

    def __init__(self, open_reader: Callable[[], AbstractContextManager[Reader]]) -> None:
        self._open_reader = open_reader
        self._search_limit = CapacityLimiter(1)

    async def search(self, work: Callable[[Reader], Result]) -> Result:
        """Run work that needs the index in a thread, one call at a time. Waiting calls occupy no thread."""
        deadline = time.monotonic() + LOCK_SECONDS  # the wait for other calls counts, too
        return await to_thread.run_sync(
            lambda: self._wait_and_run(work, deadline), limiter=self._search_limit
        )

    async def read_pages(self, work: Callable[[Reader], Result]) -> Result:
        """Run work that reads pages alone, in a thread; the catalog is never locked."""
        return await to_thread.run_sync(lambda: self._run(work))

    def describe_error(self, error: PertinentError, context: Any) -> str:  # noqa: ARG002 - there is no log
        """Return the message of the error: it is the user's own machine."""
        return str(error)

    def record_answer(self, answer: Answer, context: Any) -> None:
        """Do nothing: there is no log."""

    def _run(self, work: Callable[[Reader], Result]) -> Result:
        with self._open_reader() as reader:
            return work(reader)

    def _wait_and_run(self, work: Callable[[Reader], Result], deadline: float) -> Result:
        """Run work as soon as no other process has the index open."""
        while True:
            try:
                return self._run(work)
            except IndexLocked:
                if time.monotonic() > deadline:
                    raise
                time.sleep(RETRY_SECONDS)
