"""Translate the errors of qdrant-client and httpx to IndexFailure, with advice.

No message contains the API key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import httpx
import orjson
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from ...errors import DimensionMismatch, IndexFailure, IndexMissing, IndexUnreachable, PertinentError

_WRONG_DIMENSION = re.compile(r"expected dim: (\d+), got (\d+)")
_MESSAGE_MAX = 200

_UNREADABLE = (ValueError, TypeError, AttributeError, KeyError, AssertionError, RecursionError)
"""The errors of code that reads a response of another form: the client checks few of its fields."""


class TemporaryFailure(IndexUnreachable):
    """A failure that is worth a retry, after `retry_after` seconds if the server has said so."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@contextmanager
def translate_errors(url: str, *, has_key: bool) -> Iterator[None]:
    """Raise the errors of the client's layers as IndexFailure."""
    try:
        yield
    except PertinentError:
        raise
    except ResourceExhaustedResponse as error:
        raise _make_overloaded_error(url, str(error.message), error.retry_after_s) from error
    except QdrantException as error:
        # Also HTTP 429; the client understands no Retry-After but a whole number.
        raise _make_overloaded_error(url, str(error)) from error
    except UnexpectedResponse as error:
        status = error.status_code or HTTPStatus.INTERNAL_SERVER_ERROR
        raise _from_status(url, status, _read_reason(error.content), has_key=has_key) from error
    except ResponseHandlingException as error:
        raise _from_transport(url, error.source) from error
    except (ApiException, *_UNREADABLE) as error:
        raise _make_not_qdrant_error(url) from error


def _from_status(url: str, status: int, reason: str, *, has_key: bool) -> Exception:
    """Return the error for a response with an error status."""
    if mismatch := _WRONG_DIMENSION.search(reason):
        return DimensionMismatch(int(mismatch[2]), int(mismatch[1]), "vector")
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return _make_unauthorized_error(url, status, has_key=has_key)
    if status == HTTPStatus.NOT_FOUND and "ollection" in reason:
        return IndexMissing(
            f"{_name_server(url)} lacks a collection: {reason} `pertinent reindex` recreates it"
        )
    temporary = _from_temporary_status(url, status, reason)
    return temporary or IndexFailure(f"{_name_server(url)} refused the request with {status}: {reason}")


def _from_temporary_status(url: str, status: int, reason: str) -> TemporaryFailure | None:
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return _make_unreachable_error(url, reason)
    if status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.GATEWAY_TIMEOUT):
        return _make_timeout_error(url)
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return TemporaryFailure(
            f"{_name_server(url)} failed with {status}: {reason}. See the log of the server"
        )
    return None


def _from_transport(url: str, cause: Exception) -> IndexFailure:
    """Return the error for a response that did not arrive or can't be parsed."""
    if isinstance(cause, httpx.TimeoutException):
        return _make_timeout_error(url)
    if isinstance(cause, httpx.ConnectError) and (tls_error := _from_tls(url, str(cause))):
        return tls_error
    if isinstance(cause, httpx.DecodingError):
        return IndexFailure(f"{_name_server(url)} sent a response that can't be read: {cause}")
    if isinstance(cause, httpx.TransportError):
        return _make_unreachable_error(url, _shorten(str(cause)) or type(cause).__name__)
    return _make_not_qdrant_error(url)


def _from_tls(url: str, reason: str) -> IndexFailure | None:
    """Return the error for a failed TLS handshake, which is not retried; None if it is another failure."""
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return IndexFailure(
            f"{_name_server(url)} has a certificate that is not trusted here ({_shorten(reason)}): set "
            "SSL_CERT_FILE to a file with the certificate of the authority that signed it"
        )
    if "SSL" in reason:
        return IndexFailure(
            f"{_name_server(url)} refused the TLS handshake ({_shorten(reason)}): write http:// in "
            "QDRANT_URL if it has no TLS"
        )
    return None


def _name_server(url: str) -> str:
    return f"the Qdrant server at {url}"


def _make_unreachable_error(url: str, reason: str) -> TemporaryFailure:
    return TemporaryFailure(
        f"{_name_server(url)} can't be reached: check that it runs, and QDRANT_URL ({reason})"
    )


def _make_timeout_error(url: str) -> TemporaryFailure:
    return TemporaryFailure(f"{_name_server(url)} did not answer in time: check its load, and QDRANT_URL")


def _make_overloaded_error(url: str, reason: str, retry_after: float | None = None) -> TemporaryFailure:
    return TemporaryFailure(f"{_name_server(url)} is overloaded: {_shorten(reason)}", retry_after)


def _make_not_qdrant_error(url: str) -> IndexFailure:
    return IndexFailure(f"what answers at {url} is not a Qdrant server: check QDRANT_URL")


def _make_unauthorized_error(url: str, status: int, *, has_key: bool) -> IndexFailure:
    if not has_key:
        return IndexFailure(f"{_name_server(url)} requires a key: set QDRANT_API_KEY")
    if status == HTTPStatus.FORBIDDEN:
        return IndexFailure(
            f"{_name_server(url)} does not permit this with the configured key: check QDRANT_API_KEY"
        )
    return IndexFailure(f"{_name_server(url)} does not accept the configured key: check QDRANT_API_KEY")


def _read_reason(content: bytes) -> str:
    """Read the reason from the body of an error response."""
    try:
        return _shorten(str(orjson.loads(content)["status"]["error"]))
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return _shorten(content[: 4 * _MESSAGE_MAX].decode("utf-8", "replace"))


def _shorten(reason: str) -> str:
    line = " ".join(reason.split()) or "it does not say why"
    return line if len(line) <= _MESSAGE_MAX else line[:_MESSAGE_MAX].rstrip() + "…"
