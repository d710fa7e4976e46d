"""What both clients share: address, key, timeouts, retries, and the errors of a connection."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from ..._internal.bounded_http import connect_directly
from ..._internal.retry_after import parse_retry_after
from ..._internal.safe_json import parse_json
from ...errors import IndexFailure, InvalidInput, PertinentError, StoreError
from ...identity import is_url, shorten
from ...limits import LONGEST_MESSAGE, check_at_least
from .api_requests import ApiRequest, Result
from .api_responses import make_error

DEFAULT_TIMEOUT = 30.0
DEFAULT_RETRIES = 3

FIRST_WAIT_SECONDS = 0.25
"""The wait before the first retry; it doubles with each further one."""

LONGEST_WAIT_SECONDS = 60.0
"""A service that asks to wait longer is not asked again."""

MAX_RESPONSE_BYTES = 2**30
"""The largest response that is read: the text of the largest page, or a list of millions."""

NOT_FOUND = 404
RETRIED_STATUSES = frozenset({429, 503})


class TransientFailure(IndexFailure):
    """A failure that may not happen again: a lost connection, too many requests, a store that is down.

    `retry_after` is how many seconds the service asks to wait, if it says so.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Connection:
    """The address of a service, with the key, timeout and retries of its requests."""

    url: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = DEFAULT_TIMEOUT
    retries: int = DEFAULT_RETRIES

    def __post_init__(self) -> None:
        if (
            not isinstance(self.url, str)
            or not is_url(self.url)
            or urlsplit(self.url).scheme not in ("http", "https")
        ):
            # An address with a password is not quoted in a message.
            quoted = "" if "@" in str(self.url) else f", not {self.url!r}"
            raise InvalidInput("url", f"must begin with http:// or https://{quoted}")
        try:
            httpx.URL(self.url)
        except (httpx.InvalidURL, ValueError) as error:
            raise InvalidInput("url", f"is not an address: {error}") from error
        parts = urlsplit(self.url)
        if parts.username is not None or parts.password is not None:
            raise InvalidInput("url", "must not contain a user name or a password; pass the key as api_key")
        if parts.query or parts.fragment or not parts.hostname:
            raise InvalidInput("url", f"must be like https://search.example.org, not {self.url!r}")
        # The key is not quoted in a message.
        key = self.api_key
        is_text = isinstance(key, str) and key != "" and key.isprintable()
        if key is not None and (not is_text or key != key.strip()):
            raise InvalidInput("api_key", "must be printable text, without white space around it, or None")
        is_number = isinstance(self.timeout, int | float) and not isinstance(self.timeout, bool)
        if not is_number or not self.timeout > 0:
            raise InvalidInput("timeout", f"must be a number of seconds above 0, not {self.timeout!r}")
        check_at_least("retries", self.retries, 0)
        object.__setattr__(self, "url", self.url.rstrip("/"))

    def http_options(self) -> dict[str, Any]:
        """Return the arguments of `BoundedClient` and `AsyncBoundedClient`."""
        headers = {} if self.api_key is None else {"authorization": f"Bearer {self.api_key}".encode()}
        return {
            "max_bytes": MAX_RESPONSE_BYTES,
            "base_url": self.url,
            "headers": headers,
            "timeout": self.timeout,
            "mounts": connect_directly(self.url),
        }

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Raise errors of httpx as StoreError, or as TransientFailure if a retry may help."""
        try:
            yield
        except httpx.TimeoutException as error:
            raise IndexFailure(f"{self.url} did not answer within {self.timeout:g} s") from error
        except httpx.TransportError as error:
            # It may quote what another program answered.
            detail = shorten(str(error), LONGEST_MESSAGE) or type(error).__name__
            if isinstance(error, httpx.ConnectError):
                detail += "; check the address, and that the service runs (`pertinent serve`)"
            raise TransientFailure(f"{self.url} does not answer: {detail}") from error
        except (httpx.InvalidURL, UnicodeError) as error:
            raise IndexFailure(f"{self.url} is not an address: {error}") from error
        except httpx.HTTPError as error:
            detail = str(error) or type(error).__name__
            raise IndexFailure(f"{self.url} sent a response that can't be read: {detail}") from error
        except RuntimeError as error:  # of httpx after `close`, of asyncio in the next event loop
            raise StoreError(
                "this client is closed, or belongs to an event loop that has ended "
                f"({error}): create a new one"
            ) from error

    def read_response(self, request: ApiRequest[Result], response: httpx.Response) -> Result:
        """Return the result in a response.

        Raises:
            PertinentError: The error that the service reports, or IndexFailure if the response is none of
                the API.
        """
        try:
            body = parse_json(response.content)
        except ValueError:
            body = None
        status = response.status_code
        # A probe answers with 503 and its own body; any error has a message.
        if status in request.statuses and isinstance(body, dict) and "message" not in body:
            try:
                return request.read(body)
            except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
                raise IndexFailure(
                    f"{self.url} is not a Pertinent service of this version: unexpected response "
                    f"({shorten(repr(error), LONGEST_MESSAGE)}){_name_request(response)}"
                ) from error
        if status == NOT_FOUND and not request.can_be_not_found:
            raise IndexFailure(
                f"{self.url} is not the address of a Pertinent service: there is no {request.path} below it"
                f"{_name_request(response)}"
            )
        raise self._make_error(response, body)

    def _make_error(self, response: httpx.Response, body: object) -> PertinentError:
        status, request = response.status_code, _name_request(response)
        if isinstance(body, dict) and "message" in body:
            error = str(body.get("error", ""))
            message = shorten(str(body["message"]), LONGEST_MESSAGE)
        else:
            error, message = "", f"{self.url} did not answer with JSON of Pertinent; check the address"
        if status in RETRIED_STATUSES:
            retry_after = parse_retry_after(response.headers.get("retry-after", ""))
            return TransientFailure(f"the service failed with {status}: {message}{request}", retry_after)
        return make_error(status, error, message, request)

    def wait_before_retry(self, failure: TransientFailure, attempt: int) -> float:
        """Return how many seconds to wait before the next attempt.

        Args:
            failure: Why the last attempt failed.
            attempt: The number of that attempt, from 1.

        Raises:
            IndexFailure: There is no further attempt, or the service asks to wait too long.
        """
        if attempt <= self.retries and (failure.retry_after or 0.0) <= LONGEST_WAIT_SECONDS:
            # Clients that failed together are not to come back together.
            scheduled = FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.0)  # noqa: S311
            return min(max(scheduled, failure.retry_after or 0.0), LONGEST_WAIT_SECONDS)
        details = f"; tried {attempt} times" if attempt > 1 else ""
        if failure.retry_after is not None:
            details += f"; try again in {failure.retry_after:.0f} s"
        raise IndexFailure(f"{failure}{details}") from failure.__cause__


def _name_request(response: httpx.Response) -> str:
    request_id = response.headers.get("x-request-id", "")
    return f" (request {shorten(request_id, 128)})" if request_id else ""
