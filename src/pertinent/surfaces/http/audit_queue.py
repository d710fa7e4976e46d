"""Audits of the stored data: run in the background, one at a time, since each may take minutes."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from uuid import uuid4

from ...errors import NotFound
from ...workspace.current_build import run_on_current_build
from ...workspace.workspace import Workspace
from ..stored_data_audit import audit_stored_data

WAIT_SECONDS = 3.0
"""How long a request waits for the end of an audit; at most half of `request_timeout`."""

MAX_STORED = 8
"""How many audits the service knows, the latest ones."""


class AuditQueue:
    """Audits the stored data of a workspace, in a thread of its own.

    At most one audit runs and one waits. A further request gets the waiting one, not the running one, which
    may have read the stores before the last change.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._wait_seconds = min(WAIT_SECONDS, workspace.settings.request_timeout / 2)
        self._lock = threading.Lock()
        self._audits: dict[str, Future[list[str]]] = {}
        self._thread = self._create_thread()

    @staticmethod
    def _create_thread() -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, thread_name_prefix="audit")

    def start(self) -> str:
        """Queue an audit, unless one is waiting; return its id."""
        with self._lock:
            for audit_id, audit in self._audits.items():
                if not audit.running() and not audit.done():
                    return audit_id
            audit_id = uuid4().hex
            self._audits[audit_id] = self._thread.submit(self._run)
            while len(self._audits) > MAX_STORED:
                del self._audits[next(iter(self._audits))]
            return audit_id

    async def wait_for_faults(self, audit_id: str) -> list[str] | None:
        """Return the faults that an audit found; None if it takes longer than a request may wait.

        Raises:
            NotFound: The service does not know the audit.
        """
        with self._lock:
            audit = self._audits.get(audit_id)
        if audit is None:
            raise NotFound(f"no audit has the id {audit_id!r}: the service was restarted, or ran newer ones")
        future = asyncio.wrap_future(audit)
        # If no request awaits the future any more, asyncio would log an exception that was not read.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.wait([future], timeout=self._wait_seconds)
        return future.result() if future.done() else None

    def close(self) -> None:
        """Cancel waiting audits; a running one ends when the index is closed."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._audits.clear()
        self._thread = self._create_thread()  # the application may be started again

    def _run(self) -> list[str]:
        return run_on_current_build(self._workspace, lambda: audit_stored_data(self._workspace))
