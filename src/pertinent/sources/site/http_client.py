"""The HTTP client of a crawl: one GET request to one site, within limits of size and time.

It uses httpcore, the engine of httpx, because httpcore accepts a network backend that enforces a total
time limit, and hands over bodies as they were sent, so that decompression can be limited too.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from ssl import SSLContext
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from ..._internal.decompression import ACCEPTED, TooLarge, Undecodable, decompress
from ..._internal.time_limit import TimeLimitedBackend
from ...errors import SettingsError
from ...identity import is_loopback
from .responses import FetchFailed, Response, RetryableFailure, UndecodableBody

PRODUCT = "Pertinent"
"""The name of this crawler in robots.txt."""

_KEEP_ALIVE_SECONDS = 30.0
_DRAIN_BYTES = 64 * 1024
_DRAIN_SECONDS = 1.0
_BROKEN_BODY = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.RemoteProtocolError)
_REPEATABLE_HEADERS = ("x-robots-tag", "content-encoding")


@dataclass(frozen=True, slots=True)
class ResponseLimits:
    """How much of a response is read, after decompression, and how long it may take."""

    max_bytes: int
    seconds: float
    cut: bool = False
    """Whether a body that is too large is cut; otherwise it is an error."""


@cache
def user_agent() -> str:
    """The User-Agent header."""
    return f"{PRODUCT}/{version('pertinent')} (+documentation indexer)"


class HttpClient:
    """Sends GET requests to one origin; safe to use from many threads.

    Connections are kept open and go through the proxy that the environment sets, if any. They use HTTP/1.1:
    the threads would share one connection of HTTP/2, and httpcore's is not thread-safe. `silence` is how
    many seconds the server may send nothing at all.
    """

    def __init__(
        self, origin: str, connections: int, silence: float, *, tls_context: SSLContext | None = None
    ) -> None:
        parts = urlsplit(origin)
        is_direct = is_loopback(parts.hostname or "") or proxy_bypass(parts.netloc)
        proxy_address = None if is_direct else getproxies().get(parts.scheme)
        self._silence = silence
        self._uses_proxy = proxy_address is not None
        self._network = TimeLimitedBackend()
        self.stopped = self._network.stopped
        # Certificates are loaded only where they are needed: that takes longer than to read a small site.
        needs_tls = parts.scheme == "https"
        self._pool = httpcore.ConnectionPool(
            ssl_context=(tls_context or httpx.create_ssl_context()) if needs_tls else None,
            proxy=_parse_proxy(proxy_address) if proxy_address else None,
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=_KEEP_ALIVE_SECONDS,
            network_backend=self._network,
        )
        # What all requests have in common is made once.
        self._origin = origin
        self._origin_url = httpcore.URL(origin)
        self._headers = [
            (b"Host", parts.netloc.encode()),
            (b"User-Agent", user_agent().encode()),
            (b"Accept", b"text/html, application/xhtml+xml, */*;q=0.5"),
            (b"Accept-Encoding", ACCEPTED.encode()),
        ]

    def close(self) -> None:
        """End the requests of all threads and close the connections."""
        self.stopped.set()
        self._pool.close()

    def get(
        self, address: str, headers: Mapping[str, str], limits: ResponseLimits, deadline: float
    ) -> Response:
        """Request one address; redirects are not followed.

        The whole response must arrive before `deadline`, a value of `time.monotonic()`. Raises FetchFailed
        if it is late, too large or can't be decoded, and RetryableFailure if the connection fails.
        """
        silence = min(self._silence, limits.seconds)
        request = self._build_request(address, headers, silence)
        with (
            self._network.deadline(deadline),
            self._translate_errors(silence, limits),
            closing(self._pool.handle_request(request)) as answer,
        ):
            response = Response(address, answer.status, _read_headers(answer.headers))
            if response.is_success:
                body = _read_body(answer.iter_stream(), response.headers, limits)
                return Response(address, answer.status, response.headers, body)
            # The status is enough; the body is not needed.
            with self._network.deadline(time.monotonic() + _DRAIN_SECONDS), suppress(*_BROKEN_BODY):
                _drain(answer.iter_stream())
            return response

    def _build_request(self, address: str, headers: Mapping[str, str], silence: float) -> httpcore.Request:
        target = address.removeprefix(self._origin).encode() or b"/"
        origin = self._origin_url
        return httpcore.Request(
            b"GET",
            httpcore.URL(scheme=origin.scheme, host=origin.host, port=origin.port, target=target),
            headers=[
                *self._headers,
                *((name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()),
            ],
            extensions={"timeout": dict.fromkeys(("connect", "read", "write"), silence)},
        )

    @contextmanager
    def _translate_errors(self, silence: float, limits: ResponseLimits) -> Iterator[None]:
        try:
            yield
        except httpcore.TimeoutException as error:
            if self.stopped.is_set():
                raise FetchFailed("the crawl was stopped", no_answer=True) from error
            if self._network.is_over:
                raise FetchFailed(f"takes longer than {limits.seconds:g} s", no_answer=True) from error
            raise RetryableFailure(f"sent nothing for {silence:g} s") from error
        except (httpcore.NetworkError, httpcore.ProxyError) as error:
            proxy = " to the proxy, which the environment sets," if self._uses_proxy else ""
            reason = f"the connection{proxy} failed: {error or type(error).__name__}"
            raise RetryableFailure(reason) from error
        except httpcore.RemoteProtocolError as error:
            raise RetryableFailure(f"did not answer properly: {error}") from error
        except (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol, UnicodeError) as error:
            raise FetchFailed(f"can't be requested: {error}") from error


def _parse_proxy(address: str) -> httpcore.Proxy:
    """Parse the address of a proxy from the environment: maybe without a scheme, maybe with a password."""
    try:
        proxy = httpx.Proxy(address if "://" in address else f"http://{address}")
        if proxy.url.scheme not in ("http", "https") or not proxy.url.host:
            raise ValueError("not the address of an HTTP proxy")
    except (httpx.InvalidURL, ValueError):
        # The message leaves the address out: it may hold a password.
        raise SettingsError(
            "HTTP_PROXY or HTTPS_PROXY is not the address of a proxy; set it to http://host:port"
        ) from None
    url = httpcore.URL(scheme=proxy.url.raw_scheme, host=proxy.url.raw_host, port=proxy.url.port, target=b"/")
    return httpcore.Proxy(url, auth=proxy.raw_auth)


def _read_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Collect headers by their names in lower case; joins those that may be repeated, with line breaks."""
    collected: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        repeats = name in _REPEATABLE_HEADERS and name in collected
        collected[name] = f"{collected[name]},\n{value}" if repeats else value
    return collected


def _read_body(chunks: Iterator[bytes], headers: Mapping[str, str], limits: ResponseLimits) -> bytes:
    too_large = f"is larger than {limits.max_bytes / 2**20:.3g} MB"
    length = headers.get("content-length", "")
    if not limits.cut and length.isdigit() and int(length[:20]) > limits.max_bytes:
        raise FetchFailed(too_large)
    try:
        return decompress(chunks, headers.get("content-encoding", ""), limits.max_bytes, cut=limits.cut)
    except TooLarge:
        raise FetchFailed(too_large) from None
    except Undecodable as error:
        raise UndecodableBody(str(error)) from None


def _drain(chunks: Iterator[bytes]) -> None:
    """Read a short body that is not needed, so that the connection can be used again."""
    budget = _DRAIN_BYTES
    for chunk in chunks:
        budget -= len(chunk)
        if budget < 0:
            return
