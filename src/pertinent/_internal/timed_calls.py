"""Calls with a time limit, so that a search never waits long for a store or a model."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from ..errors import PertinentError

Result = TypeVar("Result")

THREADS = 64
"""How many searches may call at once; threads are started only when needed."""


class TimedCalls:
    """Calls a part, such as the catalog, in its own threads. Thread-safe.

    While a call that took too long is still unanswered, further calls fail at once. The part is called again
    when it has answered, or when its own time limit has ended that call.

    Args:
        part: The name of the part in messages.
        seconds: How long a caller waits.
        error_type: The error of a call that takes too long.
    """

    def __init__(self, part: str, seconds: float, error_type: type[PertinentError]) -> None:
        self._part = part
        self._seconds = seconds
        self._error_type = error_type
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix=part.removeprefix("the "))
        self._unanswered: set[Future[Any]] = set()

    def run(self, call: Callable[[], Result]) -> Result:
        """Return what the call returns; raise `error_type` if that takes too long."""
        if self._unanswered:
            raise self._error_type(f"{self._part} has not answered an earlier request")
        future = self._threads.submit(call)
        try:
            return future.result(self._seconds)
        except TimeoutError:
            self._unanswered.add(future)
            future.add_done_callback(self._unanswered.discard)
            raise self._error_type(f"{self._part} did not answer within {self._seconds:g} s") from None
