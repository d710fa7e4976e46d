"""Access control in front of the routes: Host header, rate limit, API key, body size and deadline."""

from __future__ import annotations

import asyncio
import hmac
import math
from base64 import b64decode
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...errors import PertinentError
from ...identity import is_loopback
from ..running_service import TOKEN_PREFIX
from .client_address import identify_client
from .errors import ApiError, error_response, report_pertinent_error
from .observability import Observer
from .rate_limit import RateLimit

BODY_LIMIT = 64 * 1024
"""The largest request body, in bytes."""

PROBES = frozenset({"/livez", "/readyz", "/health", "/api/v1/health"})
"""Routes that answer without a key and without a rate limit: a load balancer has no key."""

PUBLIC_FILES = frozenset({"/widget.js"})
"""Files that other sites load with a script tag, which can't send a key."""

PUBLIC_ROUTES = frozenset(
    {
        ("POST", "/search"),
        ("POST", "/api/v1/search"),
        ("GET", "/api/v1/suggest"),
        ("POST", "/1/indexes/*/queries"),
    }
)
"""What a public key may call."""

UNLIMITED_PATHS = (
    "/static/",
    "/docs/assets/",
    "/openapi.json",
    "/metrics",
)
"""Routes without a rate limit: metrics, and the page's own files, of which one visit loads about twenty."""

_HOW_TO_SEND_A_KEY = (
    "send one as `Authorization: Bearer KEY` or `X-API-Key: KEY`, or in a browser as the password with any "
    "user name; the operator sets the keys in `api_keys` (PERTINENT_API_KEYS)"
)
KEY_MISSING = f"this service needs an API key: {_HOW_TO_SEND_A_KEY}"
KEY_WRONG = f"the API key is wrong: {_HOW_TO_SEND_A_KEY}"
KEY_PARAMETER_WRONG = (
    "the key in the address (`?key=`) is not a public key of this service: the operator sets those in "
    "`public_keys` (PERTINENT_PUBLIC_KEYS)"
)

PUBLIC_KEY_REFUSED = (
    "this is a public key, which may only call POST /search, POST /api/v1/search, GET /api/v1/suggest and "
    "POST /1/indexes/*/queries; send one of `api_keys` for anything else"
)

HOST_NOT_ALLOWED = (
    "this service listens on this machine only and has no API keys, so the Host header must be localhost; "
    "if a proxy forwards its own host name, add its address to `cors_origins`, or set `api_keys`"
)


@dataclass(frozen=True, slots=True)
class AccessKeys:
    """The keys that the service accepts."""

    api_keys: Sequence[str] = field(default=(), repr=False)
    """Keys for every route; without any, no key is needed."""
    public_keys: Sequence[str] = field(default=(), repr=False)
    """Keys that may only search and suggest."""
    folder_token: str | None = field(default=None, repr=False)
    """Has the rights of an API key and no rate limit, for callers that can read the data folder."""


class AccessMiddleware:
    """ASGI middleware that checks every request, and answers the errors that no route has handled.

    Args:
        app: The next ASGI application.
        observer: Counts refusals and logs unexpected errors.
        keys: The valid keys.
        rate_limit: Limits requests per API key, or per address without keys.
        public_rate_limit: Limits requests with a public key, per address: readers of a site share the key.
        timeout: Within how many seconds the response must begin.
        host_names: The host names that requests may use, besides loopback names; None allows any.
        open_metrics: Whether `/metrics` needs no key.

    """

    def __init__(
        self,
        app: ASGIApp,
        observer: Observer,
        *,
        keys: AccessKeys | None = None,
        rate_limit: RateLimit | None = None,
        public_rate_limit: RateLimit | None = None,
        timeout: float = 10.0,
        host_names: Collection[str] | None = None,
        open_metrics: bool = False,
    ) -> None:
        self._app = app
        self._observer = observer
        keys = keys or AccessKeys()
        self._keys = [key.encode() for key in keys.api_keys]
        self._public_keys = [key.encode() for key in keys.public_keys]
        self._folder_token = keys.folder_token.encode() if keys.folder_token else None
        self._rate_limit = rate_limit
        self._public_rate_limit = public_rate_limit
        self._timeout = timeout
        self._host_names = host_names
        self._open_paths = PROBES | PUBLIC_FILES | ({"/metrics"} if open_metrics else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        response_started = False
        body = _LimitedBody(receive, is_limited=scope["method"] not in ("GET", "HEAD"))
        deadline = asyncio.timeout(self._timeout)

        async def send_and_note(message: Message) -> None:
            nonlocal response_started
            if not response_started:
                response_started = True
                # From here on the client decides how long it takes.
                deadline.reschedule(None)
            await send(message)

        try:
            async with deadline:
                self._check_access(scope)
                await self._app(scope, body.receive, send_and_note)
        except Exception as error:
            api_error = self._late_error(body) if deadline.expired() else error
            if response_started and isinstance(error.__cause__, PertinentError):
                # Starlette wraps an error that its handlers can no longer answer.
                request_id = scope["state"]["request_id"]
                api_error = report_pertinent_error(error.__cause__, self._observer, request_id)
            if not isinstance(api_error, ApiError):
                api_error = self._unexpected_error(scope)
            self._observer.record_failure(api_error.error)
            if not response_started:
                await error_response(api_error, scope)(scope, receive, send)

    def _late_error(self, body: _LimitedBody) -> ApiError:
        """Return the error of a request that is not answered in time: of the caller, if its body is late."""
        if body.is_awaited:
            message = f"the body did not arrive within {self._timeout:g} s"
            return ApiError(400, "validation_error", message, {"connection": "close"})
        message = f"no answer within {self._timeout:g} s; try again later"
        return ApiError(503, "service_unavailable", message)

    def _unexpected_error(self, scope: Scope) -> ApiError:
        """Log the exception that is being handled, and return an error that names the log line."""
        request_id = scope["state"]["request_id"]
        self._observer.log.exception("unexpected", request_id=request_id, path=scope["path"])
        message = f"unexpected server error; the request id is {request_id}"
        return ApiError(500, "internal_error", message)

    def _check_access(self, scope: Scope) -> None:
        """Check the Host header, the rate limit, the API key and the body size."""
        headers = Headers(scope=scope)
        path = scope["path"]
        if path != "/livez":
            self._check_host(headers.get("host", ""))
        if path not in self._open_paths:
            key = _read_key(headers)
            public_key = key or _read_key_parameter(scope["query_string"])
            if _contains_key(self._public_keys, public_key):
                self._check_public_access(scope, public_key)
            else:
                self._check_key(scope, key)
        _check_length(headers.get("content-length", "0"))

    def _check_public_access(self, scope: Scope, key: bytes) -> None:
        """Check the rate limit of a public key, and that the route is one that it may call."""
        _check_rate(self._public_rate_limit, (key, _read_client(scope)), scope)
        if (scope["method"], scope["path"]) not in PUBLIC_ROUTES:
            raise ApiError(403, "forbidden", PUBLIC_KEY_REFUSED)

    def _check_key(self, scope: Scope, key: bytes) -> None:
        """Check the rate limit and the API key."""
        has_folder_token = self._is_folder_token(key)
        scope["state"]["has_folder_token"] = has_folder_token
        is_known = has_folder_token or _contains_key(self._keys, key)
        # The token of another folder means another service, whose port this one has got.
        needs_key = self._keys or key.startswith(TOKEN_PREFIX.encode())
        is_admitted = is_known or not needs_key
        if not (has_folder_token or (is_admitted and scope["path"].startswith(UNLIMITED_PATHS))):
            # Wrong keys count against the address, so that keys can't be guessed quickly.
            _check_rate(self._rate_limit, key if is_known else _read_client(scope), scope)
        if not is_admitted:
            challenge = {"www-authenticate": 'Basic realm="pertinent", charset="UTF-8"'}
            raise ApiError(401, "unauthorized", _explain_refusal(scope, key), challenge)

    def _check_host(self, host: str) -> None:
        """Refuse unknown host names.

        This stops DNS rebinding: a page of another site can point its own host name at this machine, and
        would then pass for a page of this service.
        """
        if self._host_names is None or not host:
            return
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            name = ""
        if name not in self._host_names and not is_loopback(name):
            raise ApiError(403, "forbidden", HOST_NOT_ALLOWED)

    def _is_folder_token(self, key: bytes) -> bool:
        return self._folder_token is not None and hmac.compare_digest(key, self._folder_token)


def _contains_key(keys: Sequence[bytes], key: bytes) -> bool:
    """Compare with every key, each in constant time, so that timing reveals nothing."""
    return sum(hmac.compare_digest(key, valid) for valid in keys) > 0


def _check_rate(rate_limit: RateLimit | None, caller: Hashable, scope: Scope) -> None:
    """Count the request; a route that searches several times counts more with `charge_searches`."""
    if rate_limit is None:
        return
    _refuse_if_too_many(rate_limit.take(caller))
    scope["state"]["charge"] = partial(rate_limit.charge, caller)


def _refuse_if_too_many(wait: float) -> None:
    if wait:
        retry_after = {"retry-after": str(math.ceil(wait))}
        raise ApiError(429, "rate_limited", "too many requests; see Retry-After", retry_after)


def charge_searches(request: Request, count: int) -> None:
    """Count the searches of a request against the rate limit of its caller; one is already counted."""
    charge: Callable[[int], float] | None = request.scope["state"].get("charge")
    if charge is not None:
        _refuse_if_too_many(charge(count - 1))


def _explain_refusal(scope: Scope, key: bytes) -> str:
    if key:
        return KEY_WRONG
    return KEY_PARAMETER_WRONG if _read_key_parameter(scope["query_string"]) else KEY_MISSING


def _read_client(scope: Scope) -> str:
    return identify_client((scope.get("client") or ("unknown",))[0])


def _read_key(headers: Headers) -> bytes:
    """Read the API key from `X-API-Key` or `Authorization`; empty without one."""
    if api_key := headers.get("x-api-key"):
        return api_key.encode("latin-1")
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip().encode("latin-1")
    if scheme.lower() == "basic":
        try:
            return b64decode(value, validate=True).partition(b":")[2]
        except ValueError:
            return b""
    return b""


def _read_key_parameter(query_string: bytes) -> bytes:
    """Read a public key from the URL: without a header of its own, a request needs no preflight."""
    return parse_qs(query_string.decode("latin-1")).get("key", [""])[0].encode()


def _check_length(content_length: str) -> None:
    if not content_length.isdecimal():
        raise ApiError(400, "validation_error", "Content-Length must be a number")
    digits = content_length.lstrip("0") or "0"
    # The number of digits is compared first, because int() refuses thousands of them.
    if len(digits) > len(str(BODY_LIMIT)) or int(digits) > BODY_LIMIT:
        raise _payload_too_large()


class _LimitedBody:
    """The body of a request; reading stops when it is too large, whatever its Content-Length says.

    The limit does not apply to GET and HEAD: no route reads their body. Starlette discards it while it sends
    a file, and an error there would cut off the response.
    """

    def __init__(self, receive: Receive, *, is_limited: bool) -> None:
        self.is_awaited = False
        self._is_limited = is_limited
        self._receive = receive
        self._received = 0
        self._is_complete = False

    async def receive(self) -> Message:
        """Return the next message of the client."""
        self.is_awaited = not self._is_complete
        message = await self._receive()
        self.is_awaited = False
        self._is_complete = not message.get("more_body", False)
        self._received += len(message.get("body", b""))
        if self._is_limited and self._received > BODY_LIMIT:
            raise _payload_too_large()
        return message


def _payload_too_large() -> ApiError:
    return ApiError(413, "payload_too_large", f"the body must be at most {BODY_LIMIT} bytes")
