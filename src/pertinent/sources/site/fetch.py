"""Fetching: one address at a time, politely, within bounds of time and size, and never off the host.

httpcore, the engine of httpx, is used directly: its network can be given deadlines that hold for
headers and bodies alike, nothing is decompressed behind our back, and a request takes half the time.
Without TLS or a proxy a faster connection stands in for its own (`plain.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from ssl import SSLContext
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpcore

from ...errors import SourceError
from .addresses import Site, absolute
from .decompression import ACCEPTED, TooLarge, Undecodable, decoded
from .http_client import Connections
from .limits import Limits
from .throttle import LONGEST_DELAY, Pace, retry_after
from .time_limit import Deadlines

PRODUCT = "Pertinent"
"""What we go by in robots.txt."""
GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
REDIRECTS = (301, 302, 303, 307, 308)
PASSING = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)
BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
SUCCESS = (HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION)

_WORTH_READING = 64 * 1024
_WORTH_WAITING = 1.0
_FAILURES = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.RemoteProtocolError)
_REPEATED = ("x-robots-tag", "content-encoding")
_CREDENTIALS = re.compile(r"//[^/?#]*@")

Conditions = Callable[[str], Mapping[str, str]]
"""The headers for an address that ask for it only if it has changed; none where it is new."""


class Gone(SourceError):
    """There is no such page (404 or 410), or none that may be fetched."""


class Unfetchable(SourceError):
    """Something is there, or may be, that could not be had; `silent` where the site did not answer."""

    def __init__(self, reason: str, *, silent: bool = False) -> None:
        super().__init__(reason)
        self.silent = silent


class _MayPass(Unfetchable):
    """A failure that is worth another attempt."""

    def __init__(self, reason: str, after: float | None = None, *, busy: bool = False) -> None:
        super().__init__(reason, silent=True)
        self.after = after
        self.busy = busy


@dataclass(frozen=True, slots=True)
class Answer:
    """What a site sent: from where in the end, and its body, or that nothing has changed."""

    address: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much may be read of one answer, and for how long."""

    size: int
    seconds: float


@cache
def user_agent() -> str:
    """Who asks."""
    return f"{PRODUCT}/{version('pertinent')} (+documentation indexer)"


def _nothing(_: str) -> Mapping[str, str]:
    return {}


class Fetcher:
    """Asks one site; safe to use from many threads."""

    def __init__(self, site: Site, limits: Limits, *, trust: SSLContext | None = None) -> None:
        self._site = site
        self._limits = limits
        self._deadlines = Deadlines()
        self._pace = Pace(self._deadlines.stopped)
        self._allows: Callable[[str], bool] = lambda _: True
        self._connections = Connections(site.origin, limits.connections, self._deadlines, trust)
        self._page = Bounds(limits.page_bytes, limits.page_seconds)
        # All that is the same in every request is made once.
        self._scheme = urlsplit(site.origin).scheme
        self._before_paths = site.origin
        self._origin = httpcore.URL(site.origin)
        self._headers = [(b"Host", urlsplit(site.origin).netloc.encode()), *_headers()]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._connections.close()

    def obey(self, allows: Callable[[str], bool], delay: float) -> None:
        """Follow redirects only to what is allowed, and leave at least that many seconds between requests."""
        self._allows = allows
        self._pace.delay = max(min(delay, LONGEST_DELAY), self._limits.delay)

    def stop(self) -> None:
        """End whatever is under way, soon."""
        self._deadlines.stopped.set()

    def get(self, address: str, conditions: Conditions = _nothing, bounds: Bounds | None = None) -> Answer:
        """What stands at an address of the site, redirects followed within it, asked again where it may help.

        Raises Gone or Unfetchable, whose message says what happened.
        """
        bounds = bounds or self._page
        wait = self._limits.first_wait
        attempt = 0
        while True:
            attempt += 1
            try:
                with self._deadlines.within(bounds.seconds):
                    return self._follow(address, conditions, bounds)
            except _MayPass as error:
                asked = error.after if error.after is not None else wait
                if attempt >= self._attempts(error) or asked > self._limits.longest_wait:
                    tried = f"; tried {attempt} times" if attempt > 1 else ""
                    raise Unfetchable(f"{error}{tried}", silent=True) from error.__cause__
                self._deadlines.stopped.wait(asked)
                wait *= 2

    def _attempts(self, error: _MayPass) -> int:
        """How often to ask for a page that fails in this way; once, of a site that only refuses."""
        if not error.busy:
            return self._limits.attempts
        return 1 if self._pace.refusals >= self._limits.failures else self._limits.busy_attempts

    def _follow(self, address: str, conditions: Conditions, bounds: Bounds) -> Answer:
        seen = [address]
        while True:
            answer = self._ask(seen[-1], conditions(seen[-1]), bounds)
            if isinstance(answer, Answer):
                return answer
            target = self._target(seen[-1], answer)
            if target in seen:
                raise Unfetchable(f"redirects in a circle, back to {target}")
            seen.append(target)
            if len(seen) > self._limits.redirects + 1:
                raise Unfetchable(f"redirects more than {self._limits.redirects} times, at last to {target}")

    def _target(self, address: str, location: str) -> str:
        """Where a redirect leads on this site."""
        found = absolute(location, address)
        target = found and self._site.address(found)
        if not found or not target:
            shown = _CREDENTIALS.sub("//", location if found is None else found)
            raise Unfetchable(f"redirects to {shown[:200]}, which is not on this host")
        scheme = urlsplit(found).scheme
        if target == address and scheme != self._scheme:
            raise Unfetchable(f"redirects to {found}; give the address with {scheme}:// instead", silent=True)
        if not self._allows(target):
            raise Gone(f"redirects to {target}, which robots.txt keeps from us")
        return target

    def _ask(self, address: str, conditions: Mapping[str, str], bounds: Bounds) -> Answer | str:
        """One request; a redirect comes back as where it leads."""
        with self._deadlines.paused():
            went = self._pace.turn()
        headers = [*self._headers, *_encoded(conditions)]
        quiet = min(self._limits.quiet_seconds, bounds.seconds)
        times = dict.fromkeys(("connect", "read", "write"), quiet)
        with (
            self._reached(quiet, bounds),
            closing(
                self._connections.mine().handle_request(self._request(address, headers, times))
            ) as response,
        ):
            sent = _sent(response.headers)
            body = response.iter_stream()
            if response.status not in BUSY:
                self._pace.answered()
            if response.status in SUCCESS:
                return Answer(address, sent, _body(body, sent, bounds))
            # The status says it all, whatever becomes of the rest.
            with self._deadlines.within(_WORTH_WAITING), suppress(*_FAILURES):
                _drain(body)
            if response.status in REDIRECTS and sent.get("location"):
                return _as_utf8(sent["location"])
            if response.status == HTTPStatus.NOT_MODIFIED and conditions:
                return Answer(address, sent, b"", unchanged=True)
            after = retry_after(sent.get("retry-after", ""))
            if response.status in BUSY:
                self._pace.refused(went, after if after and after <= self._limits.longest_wait else 0.0)
            raise _refusal(response.status, after)

    def _request(
        self, address: str, headers: Sequence[tuple[bytes, bytes]], times: Mapping[str, float]
    ) -> httpcore.Request:
        """What is asked at an address of the site, without looking at all of it again."""
        target = address.removeprefix(self._before_paths).encode()
        origin = self._origin
        url = httpcore.URL(scheme=origin.scheme, host=origin.host, port=origin.port, target=target or b"/")
        return httpcore.Request(b"GET", url, headers=headers, extensions={"timeout": times})

    @contextmanager
    def _reached(self, quiet: float, bounds: Bounds) -> Iterator[None]:
        """Translate what may go wrong on the way."""
        try:
            yield
        except httpcore.TimeoutException as error:
            if self._deadlines.stopped.is_set():
                raise Unfetchable("the crawl was stopped", silent=True) from error
            if self._deadlines.passed:
                reason = f"takes longer than {bounds.seconds:g} s"
                raise Unfetchable(reason, silent=True) from error
            raise _MayPass(f"said nothing for {quiet:g} s") from error
        except (httpcore.NetworkError, httpcore.ProxyError) as error:
            by = " to the proxy, which the environment sets," if self._connections.by_proxy else ""
            raise _MayPass(f"the connection{by} failed: {error or type(error).__name__}") from error
        except httpcore.RemoteProtocolError as error:
            raise _MayPass(f"did not answer properly: {error}") from error
        except (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol, UnicodeError) as error:
            raise Unfetchable(f"can't be asked for: {error}") from error


def _headers() -> list[tuple[bytes, bytes]]:
    return [
        (b"User-Agent", user_agent().encode()),
        (b"Accept", b"text/html, application/xhtml+xml, */*;q=0.5"),
        (b"Accept-Encoding", ACCEPTED.encode()),
    ]


def _sent(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers by their names in small letters; of those that may be repeated, all are kept."""
    sent: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        sent[key] = f"{sent[key]}, {text}" if key in _REPEATED and key in sent else text
    return sent


def _as_utf8(value: str) -> str:
    """An address in a header as browsers read it, where it stands there without an encoding."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeDecodeError:
        return value


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]


def _drain(chunks: Iterator[bytes]) -> None:
    """Read what nobody needs, if it is little: a connection can be used again when it has all been read."""
    left = _WORTH_READING
    for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            return


def _refusal(status: int, after: float | None) -> SourceError:
    if status in GONE:
        return Gone(f"answers HTTP {status}")
    if status in PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        wait = "" if after is None else f" and asks to wait {after:.0f} s"
        return _MayPass(f"answers HTTP {status}{wait}", after, busy=status in BUSY)
    return Unfetchable(f"answers HTTP {status}")


def _body(chunks: Iterator[bytes], headers: Mapping[str, str], bounds: Bounds) -> bytes:
    size = f"{bounds.size / 2**20:.3g} MB"
    length = headers.get("content-length", "")
    if length.isdigit() and int(length[:20]) > bounds.size:
        raise Unfetchable(f"is larger than {size}")
    try:
        return decoded(chunks, headers.get("content-encoding", ""), bounds.size)
    except TooLarge:
        raise Unfetchable(f"is larger than {size}") from None
    except Undecodable as error:
        raise Unfetchable(str(error)) from None
