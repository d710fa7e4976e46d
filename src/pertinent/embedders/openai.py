"""Embeddings from any server with OpenAI's API: OpenAI, Ollama, vLLM, TEI, llama.cpp.

Uses httpx, not OpenAI's SDK: it is one POST request, and the SDK would add its own retries, its own
environment variables and a dependency.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._internal.hosted.endpoint import Endpoint, validate_key, validate_url
from .hosted import HostedEmbedder, HostedOptions, InputKind

if TYPE_CHECKING:
    from pydantic import SecretStr

URL = "https://api.openai.com/v1"
KEY_SETTING = "OPENAI_API_KEY"
URL_SETTING = "openai_base_url"
BATCH_SIZE = 32
"""The most texts that TEI accepts in one request by default."""


class Prefixes(NamedTuple):
    """What a model such as E5 expects before each query and each document."""

    query: str = ""
    document: str = ""


class OpenAIEmbedder(HostedEmbedder):
    """A model behind `POST /embeddings`.

    Args:
        model: The name of the model on the server.
        key: The API key; None for a server that needs none.
        base_url: The address of the server; None is OpenAI's.
        dimension: Length of the vectors; None learns it from the first response.
        max_tokens: The longest text that the model reads in full.
        prefixes: What to put before queries and documents.
        options: Concurrency, rate limit and retries.

    Raises:
        SettingsError: The key or the address is malformed.
    """

    def __init__(
        self,
        model: str,
        key: SecretStr | str | None = None,
        *,
        base_url: str | None = None,
        dimension: int | None = None,
        max_tokens: int = 512,
        prefixes: Prefixes | None = None,
        options: HostedOptions | None = None,
    ) -> None:
        secret = validate_key(key, KEY_SETTING)
        url = validate_url(base_url or URL, URL_SETTING)
        self._prefixes = prefixes or Prefixes()
        endpoint = Endpoint(_service_title(url), url, model, KEY_SETTING, secret)
        super().__init__(
            embedder_name(model, self._prefixes),
            endpoint,
            dimension=dimension,
            max_tokens=max_tokens,
            batch_size=BATCH_SIZE,
            options=options or HostedOptions(),
        )
        self._client = endpoint.make_client()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return an estimate for each text, with the document prefix."""
        return super().count_tokens([f"{self._prefixes.document} {text}" for text in texts])

    def _request(self, texts: Sequence[str], kind: InputKind, timeout: float) -> object:
        prefix = self._prefixes.query if kind == "query" else self._prefixes.document
        # Base64 is a quarter of the size. OpenAI's SDK requests it too, so servers expect it; a server
        # that does not know it sends numbers, which are accepted as well.
        payload = {
            "model": self.model,
            "input": [prefix + text for text in texts],
            "encoding_format": "base64",
        }
        url = f"{self._endpoint.url}/embeddings"
        body = self._endpoint.read_json(self._endpoint.send(self._client, url, payload, timeout))
        try:
            return parse_embeddings(body)
        except ValueError as error:
            raise self._endpoint.content_error(str(error)) from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def embedder_name(model: str, prefixes: Prefixes) -> str:
    """Return the name for an index's fingerprint; another document prefix gives other vectors."""
    return f"openai:{model}" + (f" after {prefixes.document!r}" if prefixes.document else "")


def _service_title(url: str) -> str:
    return "OpenAI" if url == URL else "the embedding server"


def parse_embeddings(body: object) -> list[object]:
    """Return the embeddings of a response in the order of the texts.

    Raises:
        ValueError: The response has another form; the message says which.
    """
    rows = body.get("data") if isinstance(body, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "embedding" in row for row in rows):
        raise ValueError("a response without embeddings")
    by_index = {str(row.get("index", position)): row["embedding"] for position, row in enumerate(rows)}
    try:
        return [_decode_embedding(by_index[str(position)]) for position in range(len(rows))]
    except KeyError:
        raise ValueError("embeddings that are not numbered from 0 on") from None


def _decode_embedding(embedding: object) -> object:
    if not isinstance(embedding, str):
        return embedding
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    except ValueError:
        raise ValueError("an embedding that is not base64 of floats") from None
