"""The labelling session of the label page: built in the background, and rebuilt when its inputs change.

Building it runs every query of the golden set with every ranking, which may take longer than a request.
Until the first build is done, a request gets a 503 with the progress. During a rebuild the previous build
stays in use: a label belongs to words of a page, so it holds for the new chunks too.
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
from ...validation.golden import formats
from ...validation.labels.labeling_session import LabelingSession
from ..library import Pertinent
from ..validation_targets import LocalPipeline
from .errors import ApiError
from .service import Service, get_service

Result = TypeVar("Result")

WAIT_SECONDS = 3.0
"""How long a request waits for the build before it gets a 503."""

LABELING_IS_OFF = (
    "labelling is switched off: set `golden` to the path of a golden set, in pertinent.toml or as "
    "PERTINENT_GOLDEN, and restart the service"
)


class SessionBuilder:
    """Builds the session, the queue of passages to judge, in a thread of its own.

    Args:
        pertinent: The open library.
        golden: The golden set to label.

    Raises:
        SettingsError: The golden set can't be read.

    """

    def __init__(self, pertinent: Pertinent, golden: Path) -> None:
        self._pertinent = pertinent
        self._golden = golden.expanduser()
        self._lock = threading.Lock()
        self._current: tuple[object, LabelingSession] | None = None
        self._build: Future[LabelingSession] | None = None
        self._thread: threading.Thread | None = None
        self._closing = False
        self._searched = self._total = 0
        try:
            formats.read_golden(str(self._golden))
        except InvalidInput as error:
            raise SettingsError(str(error)) from error

    async def session(self, service: Service) -> LabelingSession:
        """Return the session, or the previous one during a long rebuild; raise a 503 without either."""
        previous, build = await service.read_catalog(self._start_build)
        future = asyncio.wrap_future(build)
        # Nobody may be left to await it; its exception is read here, or asyncio would log it.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.wait_for(asyncio.shield(future), WAIT_SECONDS)
        except TimeoutError:
            if previous is None:
                raise self._not_ready() from None
            return previous

    def close(self) -> None:
        """Stop a running build, before its index is closed."""
        self._closing = True
        if self._thread is not None:
            self._thread.join()
        self._closing = False  # the application may be started again

    def _start_build(self) -> tuple[LabelingSession | None, Future[LabelingSession]]:
        """Start a build if golden set or index have changed; return the last session and the latest build."""
        state = self._read_state()
        with self._lock:
            is_fresh = self._current is not None and self._current[0] == state
            if self._build is None or (self._build.done() and not is_fresh):
                self._build = Future()
                self._thread = threading.Thread(
                    target=self._run_build, args=(state, self._build), name="labelling", daemon=True
                )
                self._thread.start()
            return self._current[1] if self._current else None, self._build

    def _read_state(self) -> object:
        """Return a value that changes whenever the golden set or the index does."""
        index = self._pertinent.workspace.index()
        # An index on a server has no version: other processes may write to it.
        words = self._pertinent.workspace.catalog().vocabulary_version() if index.version is None else 0
        try:
            file = self._golden.stat()
        except OSError as error:
            raise InvalidInput("golden", f"can't read {self._golden}: {error.strerror or error}") from error
        return file.st_mtime_ns, file.st_size, id(index), index.version, words

    def _run_build(self, state: object, build: Future[LabelingSession]) -> None:
        def count_query() -> None:
            self._searched += 1
            if self._closing:
                raise StoreError("the service is stopping")

        try:
            self._searched = 0
            self._total = len(formats.read_golden(str(self._golden)).queries)
            session = LabelingSession.open(
                LocalPipeline(self._pertinent.workspace), str(self._golden), advance=count_query
            )
        except BaseException as error:  # whatever it is, the waiting request reports it
            build.set_exception(error)
        else:
            with self._lock:
                self._current = (state, session)
            build.set_result(session)

    def _not_ready(self) -> ApiError:
        progress = f"{self._searched} of {self._total} queries searched"
        message = f"the passages to judge are being collected: {progress}"
        return ApiError(503, "service_unavailable", message, {"retry-after": "1"})


async def require_labeling(request: Request) -> SessionBuilder:
    """Return the builder of the session; raise a 404 if labelling is switched off."""
    builder: SessionBuilder | None = request.app.state.session_builder
    if builder is None:
        raise ApiError(404, "not_found", LABELING_IS_OFF)
    return builder


async def run_in_session(request: Request, work: Callable[[LabelingSession], Result]) -> Result:
    """Run work with the session in a thread; a golden set that can't be read is a 503."""
    builder = await require_labeling(request)
    service = get_service(request)
    service.engine()  # raises a 503 if nothing is indexed
    try:
        session = await builder.session(service)
        return await service.run_labeling(lambda: work(session))
    except InvalidInput as error:
        if error.field != "golden":
            raise
        service.observer.log.error("labelling", request_id=request.state.request_id, detail=str(error))
        message = "the golden set can't be read; the service's log says why"
        raise ApiError(503, "service_unavailable", message) from error
