"""From a route to the engine and back: what all routes share.

The engine is synchronous and safe for threads. A route hands it to a thread, unless an answer can be had
at once, waits as long as the request may take, and turns what comes back into bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import orjson
from fastapi import Request
from fastapi.responses import Response

from ...engine import Engine, Query
from ...errors import NotFound, StoreError
from ...types import Answer, Ranking
from ..library import Pertinent
from .crowd import Crowd
from .health import HealthMonitor, probe_stores
from .observing import Observer
from .problems import Problem

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
    on_the_spot: bool = False
    crowd: Crowd = field(init=False)
    health: HealthMonitor = field(init=False)

    def __post_init__(self) -> None:
        self.health = HealthMonitor(
            lambda: probe_stores(self.pertinent.workspace), lambda: self.threads, self.observer, self.timeout
        )
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


def as_asked(request: Request, query: Query) -> Query:
    """The query, anew where the caller wants nothing that is remembered."""
    return replace(query, anew=True) if "no-cache" in request.headers.get("cache-control", "") else query


async def answer_query(request: Request, query: Query) -> Answer:
    """Search; how it went is told to the observer when the answer has been sent."""
    shared = service(request)
    query = as_asked(request, query)
    if (await shared.health.check()).status != "ok":
        # A cached answer would hide that a store is down.
        query = replace(query, anew=True)
    try:
        answer = await _search(request, shared, query)
    except StoreError:
        shared.health.compare(None)
        raise
    shared.health.compare(answer)
    request.state.answer = answer
    return answer


async def _search(request: Request, shared: Service, query: Query) -> Answer:
    answer = shared.crowd.answer_if_alone(query, _caller(request))
    if answer is None and not query.anew:
        answer = shared.engine().recall(query.checked())
    if answer is None:
        answer = await within(shared, shared.crowd.search(query))
    return answer
