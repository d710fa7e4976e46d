"""From a route to the engine and back: what all routes share.

The engine is synchronous and safe for threads. A route hands it to a thread, unless an answer can be had
at once, waits as long as the request may take, and turns what comes back into bytes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import orjson
from fastapi import Request
from fastapi.responses import Response

from ...engine import Engine, Query
from ...errors import NotFound, PertinentError
from ...types import Answer, Ranking
from ..library import Pertinent
from .crowd import Crowd
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
    on_the_spot: bool = False
    crowd: Crowd = field(init=False)
    _health: tuple[float, Health] | None = None
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.crowd = Crowd(
            lambda queries: self.engine().search_together(queries),
            lambda: self.threads,
            on_the_spot=self.on_the_spot,
        )

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


def _caller(request: Request) -> Hashable:
    """The connection that a request came by; none where a proxy has put an address in its place."""
    return None if "x-forwarded-for" in request.headers else request.scope.get("client")


async def _remembered(shared: Service, query: Query) -> Answer | None:
    """An answer that was given before; none where the index, which is opened in a thread, is not there."""
    found = await shared.health()
    return shared.engine().recall(query.checked()) if found.index else None


def as_asked(request: Request, query: Query) -> Query:
    """The query, anew where the caller wants nothing that is remembered."""
    return replace(query, anew=True) if "no-cache" in request.headers.get("cache-control", "") else query


async def answer_query(request: Request, query: Query) -> Answer:
    """Search; how it went is told to the observer when the answer has been sent."""
    shared = service(request)
    query = as_asked(request, query)
    answer = shared.crowd.answer_if_alone(query, _caller(request))
    if answer is None and not query.anew:
        answer = await _remembered(shared, query)
    if answer is None:
        answer = await within(shared, shared.crowd.search(query))
    request.state.answer = answer
    return answer
