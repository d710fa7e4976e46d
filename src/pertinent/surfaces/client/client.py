"""The client of a service: `PertinentClient`."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from ..._internal.bounded_http import BoundedClient
from ..._internal.closing import ClosedAtExit
from ...limits import ENGINE
from ...ports import PageRecord
from ...types import Answer, Chunk, Filters, Ranking, SearchOptions, Suggestion
from ..search_filters import make_options
from . import api_requests
from .api_requests import ApiRequest, Result
from .api_responses import ServiceStatus
from .connection import DEFAULT_RETRIES, DEFAULT_TIMEOUT, Connection, TransientFailure

if TYPE_CHECKING:
    from ..._internal.progress import Progress
    from ...validation.golden.golden_set import GoldenSet
    from ...validation.report import ValidationReport
    from ...validation.seed_tests import ValidationRun
    from ...validation.target import PageView


class PertinentClient(ClosedAtExit):
    """A client of a running service, with the methods of `Pertinent` that read.

    Use it as a context manager, or call `close()`. Its methods may be called from several threads.

    Args:
        url: The address of the service.
        api_key: One of the service's API keys, if it needs one.
        timeout: How many seconds a response may take until its last byte has arrived.
        retries: How often a request is retried after a lost connection, 429 or 503. The client waits as
            long as `Retry-After` says; without it, a quarter of a second, then twice as long each time.

    Every error is a `PertinentError`. An error that the service reports has the type that the library
    raises, and the id of the request in its message. All others are
    `StoreError`, most of them its subclass `IndexFailure`.

    Examples:
        >>> with PertinentClient("http://127.0.0.1:8000") as client:
        ...     for hit in client.search("How do nodes talk to each other?").hits:
        ...         print(hit.score, hit.chunk.citation)
    """

    default_ranking: Ranking | None = None
    """The ranking of searches that name none; None leaves it to the service."""

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
    ) -> None:
        self._connection = Connection(url, api_key, timeout, retries)
        self._http = BoundedClient(**self._connection.http_options())
        # For objects that create a client of their own and have no end, such as the retriever of a framework.
        weakref.finalize(self, self._http.close)

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._connection.url

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def search(  # noqa: PLR0913 - the options of a search are its arguments
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
            ranking=ranking or self.default_ranking,
            per_page=per_page,
            fallback=fallback,
            correct=correct,
            rerank=rerank,
        )
        return self.run_search(ENGINE.check_query(text), options)

    def run_search(self, text: str, options: SearchOptions) -> Answer:
        """Search with options within the limits of the API."""
        return self.send(api_requests.build_search(text, options))

    def suggest(self, prefix: str, limit: int = 8) -> list[Suggestion]:
        """Find pages and sections whose name fits what has been typed so far; see `Pertinent.suggest`."""
        return self.send(api_requests.build_suggest(prefix, limit))

    def chunk(self, chunk_id: str, around: int = 0) -> list[Chunk]:
        """Return a chunk and its neighbours; see `Pertinent.chunk`."""
        return self.send(api_requests.build_chunk(chunk_id, around))

    def pages(self) -> list[PageRecord]:
        """Return a record of every indexed page."""
        return self.send(api_requests.build_pages())

    def page(self, document_id: str) -> PageView:
        """Return a page with its text and its chunks; see `Pertinent.page`."""
        return self.send(api_requests.build_page(document_id))

    def sources(self) -> Mapping[str, str]:
        """Return the location of each source, by its name; empty where the service does not reveal it."""
        return self.send(api_requests.build_sources())

    def validate(
        self,
        golden: str | os.PathLike[str] | GoldenSet,
        *,
        progress: Progress | None = None,
        **options: Any,
    ) -> ValidationReport:
        """Run a golden set against the service, with the arguments of `Pertinent.validate`."""
        from ..validation_targets import RemoteService, validate_golden

        return validate_golden(RemoteService(self), golden, {}, progress, **options)

    def run_tests(self, tests: Sequence[Mapping[str, Any]], top_k: int = 5) -> ValidationRun:
        """Run seed 004's validation tests; see `Pertinent.run_tests`."""
        return self.send(api_requests.build_run_tests(tests, top_k))

    def health(self) -> ServiceStatus:
        """Return which parts of the service answer."""
        return self.send(api_requests.build_health())

    def send(self, request: ApiRequest[Result]) -> Result:
        """Send a request, retry it after a transient failure, and return its result."""
        for attempt in count(1):
            try:
                with self._connection.translate_errors():
                    response = self._http.request(**request.arguments())
                return self._connection.read_response(request, response)
            except TransientFailure as failure:
                seconds = self._connection.wait_before_retry(failure, attempt)
            time.sleep(seconds)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
