"""Work in threads whose results are read in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def map_ahead(
    pool: Executor, function: Callable[[Argument], Result], arguments: Iterable[Argument], *, ahead: int
) -> Iterator[Result]:
    """Yield `function(argument)` for each argument, in order, as `Executor.map` does, but lazily.

    At most `ahead` calls are submitted and not yet read. When the caller stops reading, calls that have
    not started are cancelled.
    """
    pending: deque[Future[Result]] = deque()
    try:
        for argument in arguments:
            pending.append(pool.submit(function, argument))
            if len(pending) >= ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()
