"""Embeddings from Cohere, through its SDK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .._internal.hosted.cohere_client import CohereClient
from ..errors import EmbedderError
from .hosted import HostedEmbedder, HostedOptions, InputKind
from .model_sizes import COHERE, Size

if TYPE_CHECKING:
    from pydantic import SecretStr

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
        client = CohereClient(model, key, base_url, setting="embedder", error_type=EmbedderError)
        size = COHERE.get(model, Size(None, 512))
        super().__init__(
            f"cohere:{model}",
            client.endpoint,
            dimension=dimension or size.dimension,
            max_tokens=size.max_tokens,
            batch_size=BATCH_SIZE,
            options=options or HostedOptions(),
        )
        self._client = client

    def _request(self, texts: Sequence[str], kind: InputKind, timeout: float) -> object:
        response = self._client.request(
            lambda sdk: sdk.embed(
                model=self.model,
                input_type=_INPUT_TYPES[kind],
                texts=list(texts),
                # Base64 would be a quarter of the size, but only floats work on every server of this API.
                embedding_types=["float"],
                truncate="END",
                request_options={"timeout": timeout, "max_retries": 0},
            ),
            timeout,
            "embeddings",
        )
        # The SDK does not check what it returns; the caller does.
        return getattr(getattr(response, "embeddings", None), "float_", None)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
