"""The service behind the routes: engine, batcher, health and thread pools.

A search runs in one way: the answer cache is asked first, then the `QueryBatcher` runs the search in a
thread. There is a thread pool each for searches and what else needs the index, for catalog reads, for
validation, for labelling, for work without the index (suggestions and snippets), and for the probe of each
store. No pool waits for another. `AccessMiddleware` ends each request after `request_timeout`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from fastapi import Request

from ...build import choose_catalog_timeout
from ...errors import NotFound, StoreError
from ...search.engine import Engine
from ...search.snippets import make_snippet
from ...types import Answer, PointId, SearchOptions
from ...workspace.current_build import run_on_current_build
from ..library import Pertinent
from .batching import QueryBatcher
from .errors import ApiError
from .observability import Observer
from .store_health import HealthMonitor, StoreProbe, probe_catalog, probe_index

Result = TypeVar("Result")

CATALOG_THREADS = 8
"""How many requests read from the catalog at once; they mostly wait for the database."""


@dataclass(slots=True)
class Service:
    """What the routes of one application share.

    Args:
        pertinent: The open library.
        observer: Records metrics, logs and traces.

    """

    pertinent: Pertinent
    observer: Observer
    timeout: float = field(init=False)
    """`request_timeout`, in seconds."""
    batcher: QueryBatcher = field(init=False)
    health: HealthMonitor = field(init=False)
    _threads: ThreadPoolExecutor = field(init=False)
    _catalog_threads: ThreadPoolExecutor = field(init=False)
    _validation_thread: ThreadPoolExecutor = field(init=False)
    _labeling_thread: ThreadPoolExecutor = field(init=False)
    _suggestion_thread: ThreadPoolExecutor = field(init=False)
    _index_probe_thread: ThreadPoolExecutor = field(init=False)
    _catalog_probe_thread: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self._create_threads()
        workspace = self.pertinent.workspace
        self.timeout = workspace.settings.request_timeout
        # A probe ends before the deadline of its request, and so can say that a store does not answer.
        timeout = self.timeout / 2
        catalog_timeout = min(choose_catalog_timeout(workspace.settings) or timeout, timeout)
        self.health = HealthMonitor(
            StoreProbe("index", lambda: probe_index(workspace), lambda: self._index_probe_thread, timeout),
            StoreProbe(
                "catalog",
                lambda: probe_catalog(workspace),
                lambda: self._catalog_probe_thread,
                catalog_timeout,
            ),
            self.observer,
            workspace.reranking,
        )
        self.batcher = QueryBatcher(
            lambda queries: run_on_current_build(workspace, lambda: self.engine().search_batch(queries)),
            lambda: self._threads,
        )

    def _create_threads(self) -> None:
        # One thread per core: more threads would only wait for each other and for the interpreter lock.
        self._threads = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="search")
        self._catalog_threads = ThreadPoolExecutor(CATALOG_THREADS, thread_name_prefix="catalog")
        # One request may search a thousand times, and searches need their own threads.
        self._validation_thread = ThreadPoolExecutor(1, thread_name_prefix="validation")
        # The judgments of a golden set are read and written one request at a time.
        self._labeling_thread = ThreadPoolExecutor(1, thread_name_prefix="labelling")
        # Suggestions and snippets need no index: they work while it is silent.
        self._suggestion_thread = ThreadPoolExecutor(1, thread_name_prefix="suggestion")
        # Searches and pages that are read must not delay a probe.
        self._index_probe_thread = ThreadPoolExecutor(1, thread_name_prefix="index-probe")
        self._catalog_probe_thread = ThreadPoolExecutor(1, thread_name_prefix="catalog-probe")

    def close(self) -> None:
        """End the threads; the service has new ones, since its application may be started again."""
        for threads in (
            self._threads,
            self._validation_thread,
            self._labeling_thread,
            self._suggestion_thread,
            self._index_probe_thread,
        ):
            threads.shutdown(wait=True)
        for threads in (self._catalog_threads, self._catalog_probe_thread):
            # A catalog that is silent is not waited for.
            threads.shutdown(wait=False, cancel_futures=True)
        self._create_threads()

    def engine(self) -> Engine:
        """Return the search engine; raise a 503 if nothing is indexed yet."""
        try:
            return self.pertinent.workspace.engine()
        except NotFound as error:
            raise ApiError(503, "service_unavailable", "nothing is indexed yet") from error

    async def search(self, text: str, options: SearchOptions) -> Answer:
        """Answer a query from the cache, or with the next batch of searches.

        A cached answer would hide that a store is down, so the cache is bypassed unless both are healthy.
        """
        if (await self.health.check()).status != "ok":
            options = replace(options, bypass_cache=True)
        try:
            answer = None if options.bypass_cache else self.engine().cached_answer(text, options)
            if answer is None:
                answer = await self.batcher.search(text, options)
        except StoreError:
            self.health.compare_with_search(None)
            raise
        self.health.compare_with_search(answer)
        return answer

    async def run_in_thread(self, work: Callable[[], Result]) -> Result:
        """Run blocking work in the thread pool."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def run_without_index(self, work: Callable[[], Result]) -> Result:
        """Run short work that needs no index, in a thread that searches do not use."""
        return await asyncio.get_running_loop().run_in_executor(self._suggestion_thread, work)

    async def run_validation(self, work: Callable[[], Result]) -> Result:
        """Run the tests of a request in the thread for validation."""
        return await asyncio.get_running_loop().run_in_executor(self._validation_thread, work)

    async def run_labeling(self, work: Callable[[], Result]) -> Result:
        """Read or write judgments in the thread for labelling."""
        return await asyncio.get_running_loop().run_in_executor(self._labeling_thread, work)

    async def read_catalog(self, read: Callable[[], Result]) -> Result:
        """Read from the catalog in its own thread pool."""
        return await asyncio.get_running_loop().run_in_executor(self._catalog_threads, read)


def get_service(request: Request) -> Service:
    """Return the service of the application that received the request."""
    service: Service = request.app.state.service
    return service


async def answer_query(request: Request, text: str, options: SearchOptions) -> Answer:
    """Run the search of a request; `Cache-Control: no-cache` bypasses the answer cache."""
    if "no-cache" in request.headers.get("cache-control", ""):
        options = replace(options, bypass_cache=True)
    answer = await get_service(request).search(text, options)
    note_answer(request, answer)
    return answer


def note_answer(request: Request, answer: Answer) -> None:
    """Let `RequestMiddleware` log the answer after the response was sent."""
    request.state.answers = (*getattr(request.state, "answers", ()), answer)


async def make_snippets(
    request: Request, answer: Answer, length: int | None
) -> dict[PointId, dict[str, Any]]:
    """Return `snippet` and `highlights` of each hit, by its point; nothing without a length.

    In an external collection, points with different texts may share a chunk id.
    """
    if length is None:
        return {}
    service = get_service(request)
    hits = (*answer.hits, *(candidate.hit for candidate in answer.excluded))

    def make() -> dict[PointId, dict[str, Any]]:
        analyzer = service.engine().analyzer
        snippets = {
            hit.point_id: make_snippet(hit.chunk.text, answer.searched_for, analyzer, length) for hit in hits
        }
        return {
            point_id: {"snippet": text, "highlights": highlights}
            for point_id, (text, highlights) in snippets.items()
        }

    return await service.run_without_index(make)
