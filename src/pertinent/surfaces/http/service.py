"""From a route to the engine and back: what all routes share.

The engine is synchronous and safe for threads. A route hands it to a thread, unless an answer can be had
at once, waits as long as the request may take, and turns what comes back into bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import orjson
from fastapi import Request
from fastapi.responses import Response

from ...errors import NotFound, StoreError
from ...search.engine import Engine
from ...types import Answer, Ranking, SearchOptions
from ..library import Pertinent
from .batching import QueryBatcher
from .errors import Problem
from .health import HealthMonitor, probe_stores
from .observability import Observer

Result = TypeVar("Result")


class JSON(Response):
    """Plain data as JSON; what is not a number in JSON never gets here."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


@dataclass(slots=True)
class Service:
    """What the routes of one application share."""

    pertinent: Pertinent
    observer: Observer
    timeout: float
    threads: ThreadPoolExecutor
    batcher: QueryBatcher = field(init=False)
    health: HealthMonitor = field(init=False)

    def __post_init__(self) -> None:
        self.health = HealthMonitor(
            lambda: probe_stores(self.pertinent.workspace), lambda: self.threads, self.observer, self.timeout
        )
        self.batcher = QueryBatcher(lambda queries: self.engine().search_batch(queries), lambda: self.threads)

    def engine(self) -> Engine:
        """What answers queries; that nothing is indexed is not the caller's mistake."""
        try:
            return self.pertinent.workspace.engine()
        except NotFound as error:
            raise Problem(503, "service_unavailable", "nothing is indexed yet") from error

    @property
    def ranking(self) -> Ranking:
        return self.pertinent.workspace.settings.ranking

    @property
    def embedder_name(self) -> str:
        return self.pertinent.workspace.embedder().name

    @property
    def model(self) -> str:
        return self.pertinent.workspace.embedder().model


def service(request: Request) -> Service:
    """The service that the request came to."""
    found: Service = request.app.state.service
    return found


async def in_thread(request: Request, work: Callable[[], Result]) -> Result:
    """Do the work in a thread, for as long as a request may take."""
    shared = service(request)
    return await within(shared, asyncio.get_running_loop().run_in_executor(shared.threads, work))


async def within(shared: Service, work: Awaitable[Result]) -> Result:
    """What the work gives, or a problem when it takes longer than a request may."""
    try:
        async with asyncio.timeout(shared.timeout):
            return await work
    except TimeoutError:
        raise Problem(
            503, "service_unavailable", f"no answer within {shared.timeout:g} s; try again later"
        ) from None


def with_cache_control(request: Request, options: SearchOptions) -> SearchOptions:
    """Bypass the cache where the request says `Cache-Control: no-cache`."""
    bypass = "no-cache" in request.headers.get("cache-control", "")
    return replace(options, bypass_cache=True) if bypass else options


async def answer_query(request: Request, text: str, options: SearchOptions) -> Answer:
    """Answer from the cache, or search in a thread; the observer records the answer when it was sent."""
    shared = service(request)
    options = with_cache_control(request, options)
    if (await shared.health.check()).status != "ok":
        # A cached answer would hide that a store is down.
        options = replace(options, bypass_cache=True)
    try:
        answer = None if options.bypass_cache else shared.engine().cached_answer(text, options)
        if answer is None:
            answer = await within(shared, shared.batcher.search(text, options))
    except StoreError:
        shared.health.compare(None)
        raise
    shared.health.compare(answer)
    request.state.answer = answer
    return answer
