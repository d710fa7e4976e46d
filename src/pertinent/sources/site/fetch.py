"""Fetching an address: at the allowed rate, through redirects, with retries where they may help."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from ssl import SSLContext
from types import TracebackType
from typing import Self

from ..._internal.retry_after import parse_retry_after
from .http_client import HttpClient, ResponseLimits
from .limits import CrawlLimits
from .redirects import RedirectFollower
from .responses import BUSY, FetchFailed, Response, RetryableFailure
from .scope import SiteScope
from .throttle import MAX_CRAWL_DELAY, Throttle

ConditionalHeaders = Callable[[str], Mapping[str, str]]
"""Gives the headers that ask for an address only if it has changed; none for a new address."""


def _no_conditions(_: str) -> Mapping[str, str]:
    return {}


class Fetcher:
    """Fetches addresses of one site; safe to use from many threads."""

    def __init__(
        self, scope: SiteScope, limits: CrawlLimits, *, tls_context: SSLContext | None = None
    ) -> None:
        self._limits = limits
        self._page_limits = ResponseLimits(limits.page_bytes, limits.page_seconds)
        self._client = HttpClient(
            scope.origin, limits.connections, limits.quiet_seconds, tls_context=tls_context
        )
        self._throttle = Throttle(self._client.stopped)
        self._redirects = RedirectFollower(scope, limits.redirects)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def apply_robots(self, allows: Callable[[str], bool], delay: float) -> None:
        """Follow redirects only to what `allows`, with at least `delay` seconds between requests."""
        self._redirects.allows = allows
        self._throttle.delay = max(min(delay, MAX_CRAWL_DELAY), self._limits.delay)

    def stop(self) -> None:
        """End the requests of all threads soon."""
        self._client.stopped.set()

    def get(
        self,
        address: str,
        conditions: ConditionalHeaders = _no_conditions,
        limits: ResponseLimits | None = None,
    ) -> Response:
        """Fetch an address of the site, through redirects, and retry failures that may pass.

        The response is a success or, if there were `conditions`, "not modified". Raises PageGone or
        FetchFailed, whose message says what happened.
        """
        limits = limits or self._page_limits
        seconds_left = limits.seconds

        def request(hop: str) -> Response:
            nonlocal seconds_left
            response, seconds = self._request(hop, conditions(hop), limits, seconds_left)
            seconds_left -= seconds
            return response

        return self._redirects.follow(address, request)

    def _request(
        self, address: str, headers: Mapping[str, str], limits: ResponseLimits, seconds: float
    ) -> tuple[Response, float]:
        """Request one address, with retries; also return how long the last attempt took.

        `seconds` is the time limit of an attempt. Waiting for the throttle does not count.
        """
        wait = self._limits.first_wait
        attempt = 0
        while True:
            attempt += 1
            sent_at = self._throttle.wait_turn()
            try:
                response = self._client.get(address, headers, limits, deadline=sent_at + seconds)
                self._check_status(response, sent_at, conditional=bool(headers))
                return response, time.monotonic() - sent_at
            except RetryableFailure as failure:
                pause = wait if failure.retry_after is None else failure.retry_after
                if attempt >= self._max_attempts(failure) or pause > self._limits.longest_wait:
                    tried = f"; tried {attempt} times" if attempt > 1 else ""
                    raise FetchFailed(f"{failure}{tried}", no_answer=True) from failure.__cause__
                self._client.stopped.wait(pause)
                wait *= 2

    def _max_attempts(self, failure: RetryableFailure) -> int:
        """How often to try; only once where the site has refused many requests in a row."""
        if not failure.busy:
            return self._limits.attempts
        return 1 if self._throttle.refusals >= self._limits.failures else self._limits.busy_attempts

    def _check_status(self, response: Response, sent_at: float, *, conditional: bool) -> None:
        """Raise the error for a failed status, and report to the throttle how busy the site is."""
        retry_after = parse_retry_after(response.headers.get("retry-after", ""))
        if response.status in BUSY:
            pause = retry_after or 0.0
            self._throttle.record_refusal(sent_at, pause if pause <= self._limits.longest_wait else 0.0)
        else:
            self._throttle.record_answer()
        if response.redirect_location is None and not (response.not_modified and conditional):
            response.raise_for_status(retry_after)
