"""The index of a folder, as a server over stdio reads it.

Agents keep their servers running all day, and the index is rebuilt meanwhile. So it is open only during a
call. While a service has it open, calls go to that service (`running_service.py`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio import to_thread
from mcp.server.stdio import stdio_server

from ...errors import IndexLocked, PertinentError
from .server import create_server

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
        self._lock = threading.Lock()

    async def search(self, work: Callable[[Reader], Result]) -> Result:
        """Run work that needs the index, in a thread."""
        return await to_thread.run_sync(lambda: self._wait_and_run(work))

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

    def _wait_and_run(self, work: Callable[[Reader], Result]) -> Result:
        """Run work as soon as no other process has the index open."""
        deadline = time.monotonic() + LOCK_SECONDS
        with self._lock:
            while True:
                try:
                    return self._run(work)
                except IndexLocked:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(RETRY_SECONDS)


def serve_stdio(folder: IndexFolder, title: str, max_tokens: int) -> None:
    """Serve over stdin and stdout until stdin is closed."""
    server = create_server(folder, title, max_tokens)

    async def serve() -> None:
        async with stdio_server() as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())

    anyio.run(serve)
