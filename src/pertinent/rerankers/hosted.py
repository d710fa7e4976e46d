"""What all hosted rerankers share: retries and checked scores.

An adapter implements `_request`, which sends one request.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

from .._internal.hosted.endpoint import Endpoint
from .._internal.hosted.retries import RERANK_RETRY, RetryPolicy
from ..errors import RerankerError

Row = tuple[object, object]
"""The index of a passage and its score, as a service sent them."""


class HostedReranker(ABC):
    """A reranker behind HTTP. Thread-safe.

    Args:
        name: `provider:model`, as in the settings.
        endpoint: The service.
        retry: Timeout and retries.
    """

    def __init__(self, name: str, endpoint: Endpoint, retry: RetryPolicy = RERANK_RETRY) -> None:
        self.name = name
        self._endpoint = endpoint
        self._retry = retry

    @abstractmethod
    def _request(self, query: str, passages: Sequence[str], timeout: float) -> list[Row]:
        """Send one request; return the rows of the response, in any order."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections."""

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return the relevance of each passage, in [0, 1]."""

        def request() -> list[float]:
            rows = self._request(query, passages, self._retry.timeout)
            try:
                return order_scores(rows, len(passages))
            except ValueError as error:
                raise self._endpoint.content_error(str(error)) from None

        return self._retry.call(request, RerankerError)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def order_scores(rows: Sequence[Row], count: int) -> list[float]:
    """Return the scores in the order of the passages.

    Args:
        rows: Index and score of each passage, in any order.
        count: How many passages there are.

    Raises:
        ValueError: A row is missing or wrong; the message says how.
    """
    if len(rows) != count:
        raise ValueError(f"{len(rows)} scores for {count} passages")
    scores: dict[int, float] = {}
    for index, score in rows:
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
            raise ValueError(f"a score for the passage {str(index)[:20]!r}, but they are 0 to {count - 1}")
        if index in scores:
            raise ValueError(f"two scores for the passage {index}")
        scores[index] = _check_score(score)
    return [scores[index] for index in range(count)]


def _check_score(score: object) -> float:
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise ValueError("a score that is not a number")
    try:
        number = float(score)
    except OverflowError:  # JSON has integers of any length
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("a score that is NaN or infinite")
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"the score {number:g}, not one from 0 to 1 (it must send normalised scores)")
    return number
