"""The client of a service for asyncio: `AsyncPertinentClient`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from ..._internal.bounded_http import AsyncBoundedClient
from ...limits import ENGINE
from ...ports import PageRecord
from ...types import Answer, Chunk, Filters, Ranking, Suggestion
from ..search_filters import make_options
from . import api_requests
from .api_requests import ApiRequest, Result
from .api_responses import ServiceStatus
from .client import PertinentClient
from .connection import DEFAULT_RETRIES, DEFAULT_TIMEOUT, Connection, TransientFailure

if TYPE_CHECKING:
    from ..._internal.progress import Progress
    from ...validation.golden.golden_set import GoldenSet
    from ...validation.report import ValidationReport
    from ...validation.seed_tests import ValidationRun
    from ...validation.target import PageView


class AsyncPertinentClient:
    """A client of a running service for asyncio; otherwise like `PertinentClient`.

    Use it as an async context manager, or call `await aclose()`.

    Args:
        url: The address of the service.
        api_key: One of the service's API keys, if it needs one.
        timeout: How many seconds a response may take until its last byte has arrived.
        retries: How often a request is retried after a lost connection, 429 or 503.

    Examples:
        >>> async with AsyncPertinentClient("http://127.0.0.1:8000") as client:
        ...     answer = await client.search("How do nodes talk to each other?")
    """

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
    ) -> None:
        self._connection = Connection(url, api_key, timeout, retries)
        self._http = AsyncBoundedClient(**self._connection.http_options())

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._connection.url

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    async def search(  # noqa: PLR0913 - the options of a search are its arguments
        self,
        text: str,
        top_k: int = 5,
        threshold: float = 0.0,
        ranking: Ranking | None = None,
        filters: Filters | Mapping[str, str] | None = None,
        per_page: int | None = None,
        *,
        fallback: Literal["lexical"] | None = None,
        correct: bool = True,
        rerank: bool | None = None,
    ) -> Answer:
        """Find the passages that answer a text best, with the arguments of `Pertinent.search`."""
        options = make_options(
            filters,
            top_k=top_k,
            threshold=threshold,
            ranking=ranking,
            per_page=per_page,
            fallback=fallback,
            correct=correct,
            rerank=rerank,
        )
        return await self.send(api_requests.build_search(ENGINE.check_query(text), options))

    async def suggest(self, prefix: str, limit: int = 8) -> list[Suggestion]:
        """Find pages and sections whose name fits what has been typed so far; see `Pertinent.suggest`."""
        return await self.send(api_requests.build_suggest(prefix, limit))

    async def chunk(self, chunk_id: str, around: int = 0) -> list[Chunk]:
        """Return a chunk and its neighbours; see `Pertinent.chunk`."""
        return await self.send(api_requests.build_chunk(chunk_id, around))

    async def pages(self) -> list[PageRecord]:
        """Return a record of every indexed page."""
        return await self.send(api_requests.build_pages())

    async def page(self, document_id: str) -> PageView:
        """Return a page with its text and its chunks; see `Pertinent.page`."""
        return await self.send(api_requests.build_page(document_id))

    async def sources(self) -> Mapping[str, str]:
        """Return the location of each source, by its name; empty where the service does not reveal it."""
        return await self.send(api_requests.build_sources())

    async def validate(
        self,
        golden: str | os.PathLike[str] | GoldenSet,
        *,
        progress: Progress | None = None,
        **options: Any,
    ) -> ValidationReport:
        """Run a golden set against the service in a thread, with the arguments of `Pertinent.validate`."""
        connection = self._connection
        with PertinentClient(
            connection.url, connection.api_key, timeout=connection.timeout, retries=connection.retries
        ) as client:
            return await asyncio.to_thread(client.validate, golden, progress=progress, **options)

    async def run_tests(self, tests: Sequence[Mapping[str, Any]], top_k: int = 5) -> ValidationRun:
        """Run seed 004's validation tests; see `Pertinent.run_tests`."""
        return await self.send(api_requests.build_run_tests(tests, top_k))

    async def health(self) -> ServiceStatus:
        """Return which parts of the service answer."""
        return await self.send(api_requests.build_health())

    async def send(self, request: ApiRequest[Result]) -> Result:
        """Send a request, retry it after a transient failure, and return its result."""
        for attempt in count(1):
            try:
                with self._connection.translate_errors():
                    response = await self._http.request(**request.arguments())
                return self._connection.read_response(request, response)
            except TransientFailure as failure:
                seconds = self._connection.wait_before_retry(failure, attempt)
            await asyncio.sleep(seconds)
        raise AssertionError("unreachable")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
