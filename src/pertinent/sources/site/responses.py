"""The outcome of a request: a response, or an error that says why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from ...errors import SourceError

BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""Statuses by which a site asks for fewer requests."""

_SUCCESS = (HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION)
_REDIRECTS = (301, 302, 303, 307, 308)
_GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_RETRYABLE = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)


class PageGone(SourceError):
    """There is no such page (404 or 410), or none that robots.txt lets us fetch."""


class FetchFailed(SourceError):
    """A page may be there, but could not be fetched.

    `no_answer` is set if the site did not answer.
    """

    def __init__(self, reason: str, *, no_answer: bool = False) -> None:
        super().__init__(reason)
        self.no_answer = no_answer


class ExternalRedirect(FetchFailed):
    """The address redirects to another host."""


class UndecodableBody(FetchFailed):
    """There is a response, but its body can't be decoded."""


class RetryableFailure(FetchFailed):
    """A failure that may pass: a timeout, a broken connection, 408, 425, 429 or 5xx.

    `retry_after` is how many seconds the site asks to wait; `busy` is set for 429 and 503.
    """

    def __init__(self, reason: str, retry_after: float | None = None, *, busy: bool = False) -> None:
        super().__init__(reason, no_answer=True)
        self.retry_after = retry_after
        self.busy = busy


@dataclass(frozen=True, slots=True)
class Response:
    """A response of any status; only one of success has a body."""

    address: str
    """The address that was requested; after redirects, the last one."""
    status: int
    headers: Mapping[str, str] = field(repr=False)
    """By their names in lower case."""
    body: bytes = field(default=b"", repr=False)

    @property
    def is_success(self) -> bool:
        """Whether there is a body to read."""
        return self.status in _SUCCESS

    @property
    def not_modified(self) -> bool:
        """Whether the page is as it was when the conditional headers were stored."""
        return self.status == HTTPStatus.NOT_MODIFIED

    @property
    def redirect_location(self) -> str | None:
        """The `Location` of a redirect; None for any other response."""
        location = self.headers.get("location")
        return _decode_location(location) if location and self.status in _REDIRECTS else None

    def raise_for_status(self, retry_after: float | None) -> None:
        """Raise the error for this status, unless it is a success."""
        if self.is_success:
            return
        reason = f"answers HTTP {self.status}"
        if self.status in _GONE:
            raise PageGone(reason)
        if self.status in _RETRYABLE or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            wait = "" if retry_after is None else f" and asks to wait {retry_after:.0f} s"
            raise RetryableFailure(f"{reason}{wait}", retry_after, busy=self.status in BUSY)
        if self.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            reason += ": the proxy needs a user name and password; write them into its address"
        raise FetchFailed(reason)


def _decode_location(location: str) -> str:
    """Read an address in a header as browsers do: as UTF-8 where it is not percent-encoded."""
    try:
        return location.encode("latin-1").decode()
    except UnicodeDecodeError:
        return location
