"""Cohere's SDK behind an endpoint, for every adapter of one of its models."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ...errors import PertinentError, SettingsError
from ..bounded_http import BoundedClient, connect_directly
from .endpoint import KEY_REFUSED, MAX_RESPONSE_BYTES, Endpoint, validate_key, validate_url

if TYPE_CHECKING:
    import httpx
    from cohere import ClientV2
    from cohere.core import ApiError
    from pydantic import SecretStr

URL = "https://api.cohere.com"
KEY_SETTING = "COHERE_API_KEY"
URL_SETTING = "cohere_base_url"

Response = TypeVar("Response")


class CohereClient:
    """Sends requests through Cohere's SDK, and translates its errors. Thread-safe.

    Args:
        model: The name of the model.
        key: The API key.
        base_url: Another address of the API, such as a proxy.
        setting: The setting that names the model, for messages.
        error_type: The class of errors that a retry does not help.

    Raises:
        SettingsError: The key is missing or malformed, or Cohere's SDK is not installed.
    """

    def __init__(
        self,
        model: str,
        key: SecretStr | str | None,
        base_url: str | None,
        *,
        setting: str,
        error_type: type[PertinentError],
    ) -> None:
        secret = validate_key(key, KEY_SETTING)
        if secret is None:
            raise SettingsError(f"{setting}: cohere:{model} requires a key: set {KEY_SETTING}")
        url = validate_url(base_url or URL, URL_SETTING)
        self.endpoint = Endpoint("Cohere", url, model, KEY_SETTING, secret, error_type)
        self._http = BoundedClient(MAX_RESPONSE_BYTES, mounts=connect_directly(url))
        self._sdk = _make_client(url, secret, self._http, setting)

    def request(self, send: Callable[[ClientV2], Response], timeout: float, content: str) -> Response:
        """Return the response of one request.

        Args:
            send: Sends the request with the SDK, without retries.
            timeout: The time limit that `send` sets, in seconds.
            content: What the response should have, for messages.
        """
        from cohere.core import ApiError, ParsingError

        try:
            with self.endpoint.translate_errors(timeout):
                return send(self._sdk)
        except ApiError as error:
            raise self._translate_error(error) from self._safe_cause(error)
        except (ParsingError, TypeError, AttributeError, RecursionError) as error:
            # The SDK does not check a response before it reads it.
            raise self.endpoint.content_error(f"a response without {content}") from error
        except ValueError:
            # Not UTF-8, or a number of thousands of digits. The error has the response, perhaps with the key.
            raise self.endpoint.content_error("a response that is not JSON") from None

    def _translate_error(self, error: ApiError) -> PertinentError:
        status = error.status_code or 0
        if status < 300:  # noqa: PLR2004 - 2xx
            return self.endpoint.content_error("a response that is not JSON", error.body)
        return self.endpoint.status_error(status, error.headers or {}, error.body)

    def _safe_cause(self, error: ApiError) -> ApiError | None:
        """Return the error itself, or None if it may contain the key."""
        unsafe = error.status_code in KEY_REFUSED or self.endpoint.contains_key(str(error))
        return None if unsafe else error

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


def _make_client(url: str, key: SecretStr, http: httpx.Client, setting: str) -> ClientV2:
    try:
        from cohere import ClientV2
    except ImportError as error:
        raise SettingsError(
            f"{setting}: Cohere's models require its SDK: pip install 'pertinent[cohere]'"
        ) from error
    # The key is passed as a function, so that the client's attributes do not contain it.
    return ClientV2(key.get_secret_value, base_url=url, max_retries=0, httpx_client=http)
