"""When and how often a request to a hosted service is retried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import stamina

from ...errors import EmbedderError, PertinentError

Response = TypeVar("Response")


class RetryableError(PertinentError):
    """A failure that may not happen again: a timeout, a lost connection, HTTP 408, 429 or 5xx.

    `retry_after` is how many seconds the service asks to wait, if it says so.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Timeout of a request and schedule of its retries, in seconds."""

    timeout: float
    """Time limit of one attempt."""
    attempts: int
    first_wait: float
    """Wait before the first retry; it doubles with each further one."""
    longest_wait: float
    total_timeout: float | None = None
    """No attempt starts later than this after the first one."""

    def call(
        self, request: Callable[[], Response], error_type: type[PertinentError] = EmbedderError
    ) -> Response:
        """Return the response of `request`, called again after each RetryableError.

        Args:
            request: Sends the request once.
            error_type: The error to raise if the last attempt failed with a RetryableError.
        """
        attempts = 0

        def attempt() -> Response:
            nonlocal attempts
            attempts += 1
            return request()

        retrying = stamina.RetryingCaller(
            attempts=self.attempts,
            timeout=self.total_timeout,
            wait_initial=self.first_wait,
            wait_max=self.longest_wait,
            wait_jitter=self.first_wait,
        )
        try:
            return retrying(self.wait_before_retry, attempt)
        except RetryableError as error:
            times = f"; tried {attempts} times" if attempts > 1 else ""
            raise error_type(f"{error}{times}") from error.__cause__

    def wait_before_retry(self, error: Exception) -> bool | float:
        """Decide about a retry, in the form that stamina expects.

        Returns:
            False for no retry, True for one after the scheduled wait, or the seconds that the service
            asked to wait.
        """
        if not isinstance(error, RetryableError):
            return False
        if error.retry_after is None:
            return True
        return max(error.retry_after, self.first_wait) if error.retry_after <= self.longest_wait else False


QUERY_RETRY = RetryPolicy(timeout=8, attempts=3, first_wait=0.2, longest_wait=2, total_timeout=8)
"""For queries: fails early enough for the search to answer without vectors."""

DOCUMENT_RETRY = RetryPolicy(timeout=60, attempts=8, first_wait=1, longest_wait=60)
"""For documents: waits long enough to get past a rate limit per minute."""

RERANK_RETRY = RetryPolicy(timeout=5, attempts=2, first_wait=0.1, longest_wait=1, total_timeout=2)
"""For reranking: the list is complete without it, so a failure is soon accepted."""
