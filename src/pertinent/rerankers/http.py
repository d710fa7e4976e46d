"""Reranking by any server with the common protocol: Jina, vLLM, TEI and others.

Most servers take `query`, `documents` and `top_n`, and answer `results` with `index` and `relevance_score`.
Text Embeddings Inference (TEI) takes `texts` instead, and answers a plain list with `index` and `score`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .._internal.hosted.endpoint import Endpoint, validate_key, validate_url
from .._internal.hosted.retries import RERANK_RETRY, RetryPolicy
from ..errors import RerankerError
from .hosted import HostedReranker, Row

if TYPE_CHECKING:
    import httpx
    from pydantic import SecretStr

KEY_SETTING = "reranker_api_key"
BODY_REFUSED = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
"""The answers of a server that expects a body of another form."""

Body = dict[str, Any]
BuildBody = Callable[[str, Sequence[str], str], Body]


class HttpReranker(HostedReranker):
    """A reranker at an address.

    The first request finds out which form of body the server takes.

    Args:
        address: The URL that takes the request; `#MODEL` after it names a model, where the server needs one.
        key: The API key; None for a server that needs none.
        retry: Timeout and retries.

    Raises:
        SettingsError: The address or the key is malformed.
    """

    def __init__(
        self, address: str, key: SecretStr | str | None = None, *, retry: RetryPolicy = RERANK_RETRY
    ) -> None:
        url, _, self._model = address.partition("#")
        secret = validate_key(key, KEY_SETTING)
        model = self._model or "default"
        endpoint = Endpoint(
            "the reranking server", validate_url(url, "reranker"), model, KEY_SETTING, secret, RerankerError
        )
        super().__init__(f"http:{address}", endpoint, retry)
        self._client = endpoint.make_client()
        self._forms: tuple[BuildBody, ...] = (build_common_body, build_tei_body)

    def _request(self, query: str, passages: Sequence[str], timeout: float) -> list[Row]:
        refusals = []
        for build_body in self._forms:
            body = build_body(query, passages, self._model)
            response = self._endpoint.send(self._client, self._endpoint.url, body, timeout)
            if response.status_code not in BODY_REFUSED:
                rows = self._read_rows(response)
                self._forms = (build_body,)
                return rows
            refusals.append(response)
        return self._read_rows(refusals[0])

    def _read_rows(self, response: httpx.Response) -> list[Row]:
        try:
            return parse_rows(self._endpoint.read_json(response))
        except ValueError as error:
            raise self._endpoint.content_error(str(error)) from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def build_common_body(query: str, passages: Sequence[str], model: str) -> Body:
    """Build the body that Jina, vLLM and most other servers take."""
    body = {"query": query, "documents": list(passages), "top_n": len(passages)}
    return {"model": model, **body} if model else body


def build_tei_body(query: str, passages: Sequence[str], _model: str) -> Body:
    """Build the body that TEI takes, which serves one model; it refuses long texts unless it may cut them."""
    return {"query": query, "texts": list(passages), "truncate": True}


def parse_rows(body: object) -> list[Row]:
    """Return index and score of each row of a response.

    Raises:
        ValueError: The response has another form.
    """
    rows = body.get("results") if isinstance(body, dict) else body
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("a response without results")
    return [(row.get("index"), row.get("relevance_score", row.get("score"))) for row in rows]
