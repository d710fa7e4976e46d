"""Who and what is let in: keys, a rate, a size and a time; and what no route has caught is answered here."""

from __future__ import annotations

import asyncio
import hmac
import math
import time
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Sequence
from urllib.parse import urlsplit

from fastapi.middleware.cors import CORSMiddleware
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...identity import is_loopback
from .errors import Problem
from .failing import answer
from .observability import Observer
from .service import JSON

BODY_LIMIT = 64 * 1024
OPEN = frozenset({"/livez"})
"""The routes that need no key."""

UNCOUNTED = ("/static/", "/docs/assets/", "/openapi.json", "/readyz", "/metrics", "/health", "/api/v1/health")
"""What no rate counts: the page's own files, some twenty for each look at it, and probes."""

_HOW = (
    "send one as `Authorization: Bearer KEY` or `X-API-Key: KEY`, or in a browser as the password with any "
    "name; whoever runs the service sets its keys in `api_keys` (PERTINENT_API_KEYS)"
)
NO_KEY = f"this service asks for a key: {_HOW}"
WRONG_KEY = f"the key is none of this service's: {_HOW}"

NO_NAME = (
    "this service listens on this machine alone and has no keys, so it answers to no other name than "
    "localhost; where a proxy passes its own name on, put its address into `cors_origins`, or set `api_keys`"
)

_ALMOST = 1 - 1e-9
"""One request, but for what the clock's rounding takes away."""


class RateLimit:
    """So many requests a minute for each caller; callers not seen for long are forgotten."""

    def __init__(
        self, per_minute: int, clock: Callable[[], float] = time.monotonic, most: int = 10_000
    ) -> None:
        self._rate = per_minute / 60
        self._burst = float(per_minute)
        self._clock = clock
        self._most = most
        self._callers: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def wait(self, caller: Hashable) -> float:
        """Take one request of the caller's allowance; 0, or the seconds until there is one."""
        now = self._clock()
        left, since = self._callers.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        allowed = left >= _ALMOST
        self._callers[caller] = (left - 1 if allowed else left, now)
        if len(self._callers) > self._most:
            self._callers.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._rate


class Cors(CORSMiddleware):
    """Lets the pages of other sites ask; stands before the gate, since a preflight carries no key."""

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code == 200:  # noqa: PLR2004 - OK
            return response
        refused = Problem(400, "validation_error", bytes(response.body).decode())
        kept = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
        return JSON(refused.body, status_code=refused.status, headers=kept)


class Gate:
    """The ASGI application around the routes."""

    def __init__(
        self,
        app: ASGIApp,
        observer: Observer,
        *,
        keys: Sequence[str] = (),
        limit: RateLimit | None = None,
        timeout: float = 10.0,
        names: Collection[str] | None = None,
    ) -> None:
        """Take the names that the service may be called by; none means any."""
        self._app = app
        self._observer = observer
        self._keys = [key.encode() for key in keys]
        self._limit = limit
        self._timeout = timeout
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            self._admit(scope)
            await self._app(scope, _limited(receive, self._timeout), sending)
        except Problem as problem:
            self._observer.failed(problem.error)
            await answer(problem, scope)(scope, receive, send)
        except Exception:
            request_id = scope["state"]["request_id"]
            self._observer.failed("internal_error")
            self._observer.log.exception("unexpected", request_id=request_id, path=scope["path"])
            if not started:
                message = f"unexpected server error; its id is {request_id}"
                unexpected = Problem(500, "internal_error", message)
                await answer(unexpected, scope)(scope, receive, send)

    def _admit(self, scope: Scope) -> None:
        """Refuse who calls another name, asks too often or has no key, and what is too large."""
        headers = Headers(scope=scope)
        if scope["path"] not in OPEN:
            self._check_name(headers.get("host", ""))
            key = _key(headers)
            known = self._known(key)
            admitted = known or not self._keys
            if not (admitted and scope["path"].startswith(UNCOUNTED)):
                # Who guesses keys is counted by address, and so can't guess many.
                self._count(key if known else (scope.get("client") or ("unknown",))[0])
            if not admitted:
                challenge = {"www-authenticate": 'Basic realm="pertinent", charset="UTF-8"'}
                raise Problem(401, "unauthorized", WRONG_KEY if key else NO_KEY, challenge)
        _check_length(headers.get("content-length", "0"))

    def _check_name(self, host: str) -> None:
        """A page of another site may let its own name lead to this machine, and ask as if it were ours."""
        if self._names is None or not host:
            return
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            name = ""
        if name not in self._names and not is_loopback(name):
            raise Problem(403, "forbidden", NO_NAME)

    def _known(self, key: bytes) -> bool:
        """Whether it is one of the keys; all are compared, each in constant time."""
        return sum(hmac.compare_digest(key, one) for one in self._keys) > 0

    def _count(self, caller: Hashable) -> None:
        if self._limit is not None and (wait := self._limit.wait(caller)):
            seconds = {"retry-after": str(math.ceil(wait))}
            raise Problem(429, "rate_limited", "too many requests; see Retry-After", seconds)


def _key(headers: Headers) -> bytes:
    """The key, from any of the places where a client may put it; a browser asks for a password."""
    if given := headers.get("x-api-key"):
        return given.encode("latin-1")
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip().encode("latin-1")
    if scheme.lower() == "basic":
        try:
            return b64decode(value, validate=True).partition(b":")[2]
        except ValueError:
            return b""
    return b""


def _check_length(declared: str) -> None:
    if not declared.isdecimal():
        raise Problem(400, "validation_error", "Content-Length must be a number")
    digits = declared.lstrip("0") or "0"
    # More digits than the limit has is more than the limit; Python refuses to read thousands of them.
    if len(digits) > len(str(BODY_LIMIT)) or int(digits) > BODY_LIMIT:
        raise _too_large()


def _limited(receive: Receive, seconds: float) -> Receive:
    """The body as it comes: counted, whatever length was declared, and not waited for without end."""
    deadline = asyncio.get_running_loop().time() + seconds
    seen = 0
    complete = False

    async def limited() -> Message:
        nonlocal seen, complete
        if complete:
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            late = f"the body did not arrive within {seconds:g} s"
            raise Problem(400, "validation_error", late, {"connection": "close"}) from None
        complete = not message.get("more_body", False)
        seen += len(message.get("body", b""))
        if seen > BODY_LIMIT:
            raise _too_large()
        return message

    return limited


def _too_large() -> Problem:
    return Problem(413, "payload_too_large", f"the body must be at most {BODY_LIMIT} bytes")
