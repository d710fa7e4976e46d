"""The desk of the label page: laid out in the background, and anew when golden set or index have changed.

All rankings are asked all queries for it, which may take longer than a request. Until it is there a judge
is told how far it is; while it is laid out anew the one before it is good enough, for a label is on words
and not on a chunk.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from fastapi import Request

from ...errors import InvalidInput, SettingsError, StoreError
from ...validation.golden import formats as exchange
from ...validation.labels.labeling_session import LabelingSession
from ..library import Pertinent
from ..subjects import Local
from .answering import in_thread, service
from .problems import Problem

Result = TypeVar("Result")

PATIENCE_SECONDS = 3.0
"""How long a request waits for the desk before it is told to come again."""

OFF = (
    "labelling is off here: set `golden` to the path of a golden set, in pertinent.toml or as "
    "PERTINENT_GOLDEN, and start the service again"
)


class LabelDesk:
    """Makes the desk, keeps it, and makes it anew."""

    def __init__(self, pertinent: Pertinent, golden: Path) -> None:
        self._pertinent = pertinent
        self._golden = golden.expanduser()
        self._lock = threading.Lock()
        self._made: tuple[object, LabelingSession] | None = None
        self._latest: Future[LabelingSession] | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._asked = self._queries = 0
        try:
            exchange.read_golden(str(self._golden))
        except InvalidInput as error:
            raise SettingsError(str(error)) from error

    async def desk(self) -> LabelingSession:
        """The desk; where it takes longer, the one before it, or a problem that says to come again."""
        last, latest = self._now()
        waited = asyncio.wrap_future(latest)
        waited.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.wait_for(asyncio.shield(waited), PATIENCE_SECONDS)
        except TimeoutError:
            if last is None:
                raise self._not_yet() from None
            return last

    def close(self) -> None:
        """Break off what is under way, before the index is closed under it."""
        self._closed = True
        if self._thread is not None:
            self._thread.join()
        self._closed = False  # it may be started again

    def _now(self) -> tuple[LabelingSession | None, Future[LabelingSession]]:
        """The last desk that was made, if there is one, and the one that is made for the present state."""
        state = self._state()
        with self._lock:
            fresh = self._made is not None and self._made[0] == state
            if self._latest is None or (self._latest.done() and not fresh):
                self._latest = Future()
                work = (state, self._latest)
                self._thread = threading.Thread(target=self._make, args=work, name="label desk", daemon=True)
                self._thread.start()
            return self._made[1] if self._made else None, self._latest

    def _state(self) -> object:
        """Something else whenever the golden set or the index is something else."""
        index = self._pertinent.workspace.index()
        try:
            file = self._golden.stat()
        except OSError as error:
            raise InvalidInput("golden", f"{self._golden} is gone: {error.strerror or error}") from error
        return file.st_mtime_ns, file.st_size, id(index), index.version

    def _make(self, state: object, making: Future[LabelingSession]) -> None:
        def advance() -> None:
            self._asked += 1
            if self._closed:
                raise StoreError("the service is being stopped")

        try:
            self._asked = 0
            self._queries = len(exchange.read_golden(str(self._golden)).queries)
            desk = LabelingSession.open(Local(self._pertinent.workspace), str(self._golden), advance=advance)
        except BaseException as error:  # whatever it is, it is told to whoever waits
            making.set_exception(error)
        else:
            with self._lock:
                self._made = (state, desk)
            making.set_result(desk)

    def _not_yet(self) -> Problem:
        far = f"{self._asked} of {self._queries} queries were asked"
        message = f"the passages to be judged are still being looked for: {far}"
        return Problem(503, "service_unavailable", message, {"retry-after": "1"})


async def at_desk(request: Request, work: Callable[[LabelingSession], Result]) -> Result:
    """What the work at the desk gives; a golden set that can't be read is no fault of the caller."""
    kept: LabelDesk | None = request.app.state.label_desk
    if kept is None:
        raise Problem(404, "not_found", OFF)
    service(request).engine()  # refuses where nothing is indexed
    try:
        desk = await kept.desk()
        return await in_thread(request, lambda: work(desk))
    except InvalidInput as error:
        if error.field != "golden":
            raise
        service(request).observer.log.error(
            "labelling", request_id=request.state.request_id, detail=str(error)
        )
        raise Problem(
            503, "service_unavailable", "the golden set can't be read; the service's log says why"
        ) from error
