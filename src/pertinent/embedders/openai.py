"""Embeddings from any server that speaks OpenAI's protocol: OpenAI, Ollama, vLLM, TEI, llama.cpp.

Over httpx, not OpenAI's SDK: it is one POST, and the SDK would bring its own retries, its own
reading of the environment and a dependency for users who have no account there.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import httpx
import numpy as np

from .hosted import HostedEmbedder, Kind, Service, Terms, usable_key, usable_url

if TYPE_CHECKING:
    from pydantic import SecretStr

URL = "https://api.openai.com/v1"
KEY_SETTING = "OPENAI_API_KEY"
URL_SETTING = "openai_base_url"
BATCH = 32
"""What TEI takes at once where nobody told it otherwise."""


class Prefixes(NamedTuple):
    """What a model of the E5 kind wants to see before a query and before a document."""

    query: str = ""
    document: str = ""


class OpenAIEmbedder(HostedEmbedder):
    """A model behind `POST /embeddings`."""

    def __init__(
        self,
        model: str,
        key: SecretStr | str | None = None,
        *,
        base_url: str | None = None,
        dimension: int | None = None,
        max_tokens: int = 512,
        prefixes: Prefixes | None = None,
        terms: Terms | None = None,
    ) -> None:
        secret = usable_key(key, KEY_SETTING)
        url = usable_url(base_url or URL, URL_SETTING)
        self._prefixes = prefixes or Prefixes()
        super().__init__(
            full_name(model, self._prefixes),
            Service(_title(url), url, model, KEY_SETTING, secret),
            dimension=dimension,
            max_tokens=max_tokens,
            batch=BATCH,
            terms=terms or Terms(),
        )
        headers = {"Authorization": f"Bearer {secret.get_secret_value()}"} if secret else {}
        self._client = httpx.Client(headers=headers)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return super().count_tokens([f"{self._prefixes.document} {text}" for text in texts])

    def _ask(self, texts: Sequence[str], kind: Kind, timeout: float) -> object:
        prefix = self._prefixes.query if kind == "query" else self._prefixes.document
        # Base64 is a quarter of the size. OpenAI's own SDK asks for it, so servers expect it; one
        # that does not know it sends numbers, which are read as well.
        body = {
            "model": self.model,
            "input": [prefix + text for text in texts],
            "encoding_format": "base64",
        }
        with self._service.reached(timeout):
            response = self._client.post(f"{self._service.url}/embeddings", json=body, timeout=timeout)
        if not response.is_success:
            raise self._service.refusal(response.status_code, response.headers, _read(response))
        answer = _read(response)
        if isinstance(answer, str):
            raise self._service.nonsense("an answer that is no JSON", answer)
        try:
            return embeddings(answer)
        except ValueError as error:
            raise self._service.nonsense(str(error)) from None

    def close(self) -> None:
        self._client.close()


def full_name(model: str, prefixes: Prefixes) -> str:
    """The name in an index's fingerprint: vectors made with another prefix are others."""
    return f"openai:{model}" + (f" after {prefixes.document!r}" if prefixes.document else "")


def _title(url: str) -> str:
    return "OpenAI" if url == URL else "the embedding server"


def _read(response: httpx.Response) -> object:
    """The answer from its JSON, or as it is."""
    try:
        return response.json()
    except ValueError:
        return response.text


def embeddings(answer: object) -> list[object]:
    """The embeddings of an answer in the order of the texts, or a ValueError that says what is wrong."""
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "embedding" in row for row in rows):
        raise ValueError("an answer that has no embeddings")
    by_place = {str(row.get("index", place)): row["embedding"] for place, row in enumerate(rows)}
    try:
        return [_decoded(by_place[str(place)]) for place in range(len(rows))]
    except KeyError:
        raise ValueError("embeddings that are not numbered from 0 on") from None


def _decoded(embedding: object) -> object:
    if not isinstance(embedding, str):
        return embedding
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    except ValueError:
        raise ValueError("an embedding that is no base64 of floats") from None
