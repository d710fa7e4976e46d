"""From a route to the engine and back: what all routes share.

The engine is synchronous and safe for threads. A route hands it to a thread, unless an answer can be had
at once, waits as long as the request may take, and turns what comes back into bytes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import orjson
from fastapi import Request
from fastapi.responses import Response

from ...errors import NotFound, PertinentError
from ...search.engine import Engine
from ...types import Answer, Ranking, SearchOptions
from ..library import Pertinent
from .batching import QueryBatcher
from .observing import Observer
from .problems import Problem

Result = TypeVar("Result")

HEALTH_SECONDS = 2.0
"""How long a look at the stores is good for: a probe a second costs next to nothing."""


class JSON(Response):
    """Plain data as JSON; what is not a number in JSON never gets here."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


@dataclass(frozen=True, slots=True)
class Health:
    """Which stores answered, when last asked."""

    index: bool
    catalog: bool
    chunks: int | None

    @property
    def status(self) -> Literal["ok", "degraded", "error"]:
        if not self.index:
            return "error"
        return "ok" if self.catalog else "degraded"


@dataclass(slots=True)
class Service:
    """What the routes of one application share."""

    pertinent: Pertinent
    observer: Observer
    timeout: float
    threads: ThreadPoolExecutor
    batcher: QueryBatcher = field(init=False)
    _health: tuple[float, Health] | None = None
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
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

    async def health(self) -> Health:
        """The state of the stores, looked at anew when the last look is too old."""
        if (seen := self._seen()) is not None:
            return seen
        async with self._looking:
            if (seen := self._seen()) is not None:
                return seen
            look = asyncio.get_running_loop().run_in_executor(self.threads, look_at, self.pertinent)
            try:
                async with asyncio.timeout(self.timeout):
                    found = await look
            except TimeoutError:
                found = Health(index=False, catalog=False, chunks=None)
            self._health = (time.monotonic(), found)
            self.observer.index_size(found.chunks)
            return found

    def _seen(self) -> Health | None:
        if self._health is None or time.monotonic() - self._health[0] > HEALTH_SECONDS:
            return None
        return self._health[1]


def look_at(pertinent: Pertinent) -> Health:
    """Ask both stores for a sign of life."""
    chunks: int | None = None
    catalog = False
    with suppress(PertinentError):
        chunks = pertinent.workspace.index().count()
    with suppress(PertinentError):
        pertinent.workspace.catalog().ping()
        catalog = True
    return Health(index=chunks is not None, catalog=catalog, chunks=chunks)


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
    # The engine is opened in a thread, so it is asked for a cached answer only once it is there.
    is_open = (await shared.health()).index
    answer = shared.engine().cached_answer(text, options) if is_open else None
    if answer is None:
        answer = await within(shared, shared.batcher.search(text, options))
    request.state.answer = answer
    return answer
