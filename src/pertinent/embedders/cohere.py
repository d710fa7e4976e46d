"""Embeddings from Cohere, through its SDK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import httpx

from ..errors import EmbedderError, SettingsError
from .endpoint import KEY_REFUSED, Endpoint, validate_key, validate_url
from .hosted import HostedEmbedder, HostedOptions, InputKind
from .sizes import COHERE, Size

if TYPE_CHECKING:
    from cohere import ClientV2
    from cohere.core import ApiError
    from pydantic import SecretStr

URL = "https://api.cohere.com"
KEY_SETTING = "COHERE_API_KEY"
URL_SETTING = "cohere_base_url"
BATCH_SIZE = 96
"""The most texts that Cohere accepts in one request."""

_INPUT_TYPES: Mapping[InputKind, str] = {"query": "search_query", "document": "search_document"}


class CohereEmbedder(HostedEmbedder):
    """A model of Cohere, which embeds queries and documents differently.

    Args:
        model: The name of the model, such as `embed-english-v3.0`.
        key: The API key.
        base_url: Another address of the API, such as a proxy.
        dimension: Length of the vectors, for a model that Pertinent does not know.
        options: Concurrency, rate limit and retries.

    Raises:
        SettingsError: The key is missing or malformed, or Cohere's SDK is not installed.
    """

    def __init__(
        self,
        model: str,
        key: SecretStr | str | None,
        *,
        base_url: str | None = None,
        dimension: int | None = None,
        options: HostedOptions | None = None,
    ) -> None:
        secret = validate_key(key, KEY_SETTING)
        if secret is None:
            raise SettingsError(f"embedder: cohere:{model} requires a key: set {KEY_SETTING}")
        url = validate_url(base_url or URL, URL_SETTING)
        size = COHERE.get(model, Size(None, 512))
        super().__init__(
            f"cohere:{model}",
            Endpoint("Cohere", url, model, KEY_SETTING, secret),
            dimension=dimension or size.dimension,
            max_tokens=size.max_tokens,
            batch_size=BATCH_SIZE,
            options=options or HostedOptions(),
        )
        self._http = httpx.Client()
        self._client = _make_client(url, secret, self._http)

    def _request(self, texts: Sequence[str], kind: InputKind, timeout: float) -> object:
        from cohere.core import ApiError, ParsingError

        try:
            with self._endpoint.translate_errors(timeout):
                response = self._client.embed(
                    model=self.model,
                    input_type=_INPUT_TYPES[kind],
                    texts=list(texts),
                    # Base64 would be a quarter of the size, but only floats work on every server of this API.
                    embedding_types=["float"],
                    truncate="END",
                    request_options={"timeout": timeout, "max_retries": 0},
                )
        except ApiError as error:
            raise self._translate_error(error) from self._safe_cause(error)
        except (ParsingError, TypeError, AttributeError) as error:
            # The SDK does not check a response before it reads it.
            raise self._endpoint.content_error("a response without embeddings") from error
        return getattr(response.embeddings, "float_", None)  # may be anything: the caller checks it

    def _translate_error(self, error: ApiError) -> EmbedderError:
        status = error.status_code or 0
        if status < 300:  # noqa: PLR2004 - 2xx
            return self._endpoint.content_error("a response that is not JSON", error.body)
        return self._endpoint.status_error(status, error.headers or {}, error.body)

    def _safe_cause(self, error: ApiError) -> ApiError | None:
        """Return the error itself, or None if it may contain the key."""
        unsafe = error.status_code in KEY_REFUSED or self._endpoint.contains_key(str(error))
        return None if unsafe else error

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


def _make_client(url: str, key: SecretStr, http: httpx.Client) -> ClientV2:
    try:
        from cohere import ClientV2
    except ImportError as error:
        raise SettingsError(
            "embedder: Cohere's models require its SDK: pip install 'pertinent[cohere]'"
        ) from error
    # The key is passed as a function, so that the client's attributes do not contain it.
    return ClientV2(key.get_secret_value, base_url=url, max_retries=0, httpx_client=http)
