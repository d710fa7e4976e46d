"""What a Qdrant server's failures are called here, and what to do about them.

Everything that qdrant-client and httpx raise becomes an IndexFailure in this one place; no message
has the key in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import httpx
import orjson
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from ...errors import DimensionMismatch, IndexFailure, PertinentError

_WRONG_DIMENSION = re.compile(r"expected dim: (\d+), got (\d+)")
_TOLD_MOST = 200


class Passing(IndexFailure):
    """A failure that may be over the next time; the server may have said after how many seconds."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


@contextmanager
def translated(url: str, *, has_key: bool) -> Iterator[None]:
    """Errors of the client's layers become ours, and say what to do."""
    try:
        yield
    except PertinentError:
        raise
    except ResourceExhaustedResponse as error:
        raise Passing(
            f"{_server(url)} has too much to do: {_short(str(error))}", error.retry_after_s
        ) from error
    except UnexpectedResponse as error:
        status = error.status_code or HTTPStatus.INTERNAL_SERVER_ERROR
        raise _failure(url, status, _said(error.content), has_key=has_key) from error
    except ResponseHandlingException as error:
        raise _not_heard(url, error.source) from error
    except (ApiException, QdrantException, json.JSONDecodeError, UnicodeDecodeError, AssertionError) as error:
        # The client asserts that an answer has a result.
        raise _no_qdrant(url) from error


def _failure(url: str, status: int, said: str, *, has_key: bool) -> Exception:
    """A server's answer that is none, as the error that it means."""
    if wrong := _WRONG_DIMENSION.search(said):
        return DimensionMismatch(int(wrong[2]), int(wrong[1]), "vector")
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return _refused(url, status, has_key=has_key)
    if status == HTTPStatus.NOT_FOUND and "ollection" in said:
        return IndexFailure(f"{_server(url)} lacks a collection: {said} `pertinent reindex` makes it anew")
    return _passing(url, status, said) or IndexFailure(f"{_server(url)} refused this with {status}: {said}")


def _passing(url: str, status: int, said: str) -> Passing | None:
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return _unreachable(url, said)
    if status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.GATEWAY_TIMEOUT):
        return _too_slow(url)
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Passing(f"{_server(url)} failed with {status}: {said}. Its log tells more")
    return None


def _not_heard(url: str, cause: Exception) -> IndexFailure:
    """An answer that did not come, or is none."""
    if isinstance(cause, httpx.TimeoutException):
        return _too_slow(url)
    if isinstance(cause, httpx.ConnectError) and (refused := _no_tls(url, str(cause))):
        return refused
    if isinstance(cause, httpx.TransportError):
        return _unreachable(url, _short(str(cause)) or type(cause).__name__)
    return _no_qdrant(url)


def _no_tls(url: str, said: str) -> IndexFailure | None:
    """Why no secure connection could be made; asking again would not help."""
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return IndexFailure(
            f"{_server(url)} shows a certificate that is not trusted here ({_short(said)}): set "
            "SSL_CERT_FILE to a file with the certificate of who signed it"
        )
    if "SSL" in said:
        return IndexFailure(
            f"{_server(url)} makes no secure connection ({_short(said)}): write http:// in QDRANT_URL if it "
            "has no TLS"
        )
    return None


def _server(url: str) -> str:
    return f"the Qdrant server at {url}"


def _unreachable(url: str, said: str) -> Passing:
    return Passing(f"{_server(url)} can't be reached: check that it runs, and QDRANT_URL ({said})")


def _too_slow(url: str) -> Passing:
    return Passing(f"{_server(url)} did not answer in time: check its load, and QDRANT_URL")


def _no_qdrant(url: str) -> IndexFailure:
    return IndexFailure(f"what answers at {url} is no Qdrant server: check QDRANT_URL")


def _refused(url: str, status: int, *, has_key: bool) -> IndexFailure:
    if not has_key:
        return IndexFailure(f"{_server(url)} asks for a key: set QDRANT_API_KEY")
    if status == HTTPStatus.FORBIDDEN:
        return IndexFailure(f"{_server(url)} does not allow this with the key given: check QDRANT_API_KEY")
    return IndexFailure(f"{_server(url)} does not know the key given: check QDRANT_API_KEY")


def _said(content: bytes) -> str:
    """What the server says in its answer."""
    try:
        return _short(str(orjson.loads(content)["status"]["error"]))
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return _short(content[: 4 * _TOLD_MOST].decode("utf-8", "replace"))


def _short(said: str) -> str:
    line = " ".join(said.split()) or "it does not say why"
    return line if len(line) <= _TOLD_MOST else line[:_TOLD_MOST].rstrip() + "…"
