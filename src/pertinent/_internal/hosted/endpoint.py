"""The address, model and key of a hosted service, and the error messages about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr

from ...errors import EmbedderError, PertinentError, SettingsError
from ...identity import shorten
from ..bounded_http import BoundedClient, connect_directly
from ..retry_after import parse_retry_after
from ..safe_json import parse_json
from .retries import RetryableError

MAX_RESPONSE_BYTES = 64 * 2**20
"""The largest response that is read; the vectors of the largest batch have a tenth of it."""

MAX_QUOTE = 300
"""Longest part of a service's own message that an error quotes, in characters."""

KEY_REFUSED = (401, 498)
"""Status codes for a missing or invalid key; 498 is Cohere's."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A hosted service; translates its failures. No message contains the key."""

    title: str
    """What messages call the service."""
    url: str
    model: str
    key_setting: str
    """Name of the setting that holds the key."""
    key: SecretStr | None = field(default=None, repr=False)
    error_type: type[PertinentError] = EmbedderError
    """The class of errors that a retry does not help."""

    def make_client(self) -> BoundedClient:
        """Return a client that sends the key, and limits size and time of each response."""
        headers = {"Authorization": f"Bearer {self.key.get_secret_value()}"} if self.key else {}
        return BoundedClient(MAX_RESPONSE_BYTES, headers=headers, mounts=connect_directly(self.url))

    def send(
        self, client: httpx.Client, url: str, payload: Mapping[str, object], timeout: float
    ) -> httpx.Response:
        """Send a request with a JSON body and return its response, whatever its status."""
        with self.translate_errors(timeout):
            return client.post(url, json=payload, timeout=timeout)

    def read_json(self, response: httpx.Response) -> object:
        """Return the JSON of a response; raise the error of one that is no success or no JSON."""
        body = _parse_body(response)
        if not response.is_success:
            raise self.status_error(response.status_code, response.headers, body)
        if isinstance(body, str):
            raise self.content_error("a response that is not JSON", body)
        return body

    @contextmanager
    def translate_errors(self, timeout: float) -> Iterator[None]:
        """Raise errors of httpx as `error_type`, or RetryableError if a retry may help."""
        try:
            yield
        except httpx.TimeoutException as error:
            raise RetryableError(f"{self.title} at {self.url} did not answer within {timeout:g} s") from error
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            raise RetryableError(f"the connection to {self.title} at {self.url} failed: {error}") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.error_type(f"the request to {self.title} at {self.url} failed: {error}") from error

    def status_error(self, status: int, headers: Mapping[str, str], body: object) -> PertinentError:
        """Return the error for a response whose status is not a success."""
        quote = self.quote_message(body)
        if status in KEY_REFUSED:
            # No quote here: some services repeat part of the key.
            problem = "refused the key" if self.key else "requires a key"
            return self.error_type(f"{self.title} {problem} (HTTP {status}): check {self.key_setting}")
        if status == HTTPStatus.FORBIDDEN:
            advice = f"check the permissions of {self.key_setting}{quote}"
            return self.error_type(f"{self.title} does not allow this request (HTTP 403): {advice}")
        if status == HTTPStatus.NOT_FOUND:
            advice = f"check the model name and the address{quote}"
            return self.error_type(
                f"{self.title} at {self.url} has no model {self.model!r} (HTTP 404): {advice}"
            )
        problem = f"{self.title} answered HTTP {status} for the model {self.model!r}"
        if status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS) or status >= 500:  # noqa: PLR2004 - 5xx
            retry_after = parse_retry_after(httpx.Headers(headers).get("retry-after", ""))
            wait = "" if retry_after is None else f" and asks to wait {retry_after:.0f} s"
            return RetryableError(f"{problem}{wait}{quote}", retry_after)
        return self.error_type(f"{problem}{quote}")

    def content_error(self, problem: str, body: object = "") -> PertinentError:
        """Return the error for a successful response whose content can't be used."""
        quote = self.quote_message(body)
        return self.error_type(
            f"{self.title} at {self.url} sent {problem} for the model {self.model!r}{quote}"
        )

    def quote_message(self, body: object) -> str:
        """Return the service's own message on one line, without the key; empty if there is none."""
        message = " ".join(self._mask_key(_find_message(body)).split())
        return f"; it says: {shorten(message, MAX_QUOTE)}" if message else ""

    def contains_key(self, text: str) -> bool:
        """Return whether the text repeats the key."""
        return self._mask_key(text) != text

    def _mask_key(self, text: str) -> str:
        return text.replace(self.key.get_secret_value(), "********") if self.key else text


def _parse_body(response: httpx.Response) -> object:
    """Return the parsed JSON of a response, or its text if it is not JSON."""
    try:
        return parse_json(response.content)
    except ValueError:
        return response.text


def _find_message(body: object) -> str:
    """Return the message of an error body: services nest it under different names."""
    while isinstance(body, Mapping):
        body = next((body[name] for name in ("error", "message", "detail") if body.get(name)), "")
    return body if isinstance(body, str) else ""


def validate_key(key: SecretStr | str | None, setting: str) -> SecretStr | None:
    """Return the key without surrounding white space, or None if it is empty.

    Raises:
        SettingsError: The key has a character that no HTTP header can carry.
    """
    plain = (key.get_secret_value() if isinstance(key, SecretStr) else key or "").strip()
    if not (plain.isascii() and plain.isprintable()):
        raise SettingsError(f"{setting} contains a character that a key can't have; copy the key again")
    return SecretStr(plain) if plain else None


def validate_url(url: str, setting: str) -> str:
    """Return the address without its trailing slash.

    Raises:
        SettingsError: It is not an HTTP address, or has a part that may be a secret and would be logged.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(f"{setting}: must be an address such as https://host/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SettingsError(
            f"{setting}: must not contain a password, query or fragment; a key has its own setting"
        )
    return url.rstrip("/")
