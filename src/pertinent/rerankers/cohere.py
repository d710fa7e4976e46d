"""Reranking by Cohere, through its SDK."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._internal.hosted.cohere_client import CohereClient
from .._internal.hosted.retries import RERANK_RETRY, RetryPolicy
from ..errors import RerankerError
from .hosted import HostedReranker, Row

if TYPE_CHECKING:
    from pydantic import SecretStr


class CohereReranker(HostedReranker):
    """A reranker of Cohere.

    Args:
        model: The name of the model, such as `rerank-v3.5`.
        key: The API key.
        base_url: Another address of the API, such as a proxy.
        retry: Timeout and retries.

    Raises:
        SettingsError: The key is missing or malformed, or Cohere's SDK is not installed.
    """

    def __init__(
        self,
        model: str,
        key: SecretStr | str | None,
        *,
        base_url: str | None = None,
        retry: RetryPolicy = RERANK_RETRY,
    ) -> None:
        self._client = CohereClient(model, key, base_url, setting="reranker", error_type=RerankerError)
        super().__init__(f"cohere:{model}", self._client.endpoint, retry)

    def _request(self, query: str, passages: Sequence[str], timeout: float) -> list[Row]:
        response = self._client.request(
            lambda sdk: sdk.rerank(
                model=self._endpoint.model,
                query=query,
                documents=list(passages),
                top_n=len(passages),
                request_options={"timeout": timeout, "max_retries": 0},
            ),
            timeout,
            "results",
        )
        try:
            return [(row.index, row.relevance_score) for row in response.results]
        except (TypeError, AttributeError):
            # The SDK does not check what it returns.
            raise self._endpoint.content_error("a response without results") from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
