"""Cohere's embeddings, through its own SDK: queries and documents are embedded differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import httpx

from ..errors import EmbedderError, SettingsError
from .hosted import KEY_REFUSED, HostedEmbedder, Kind, Service, Terms, usable_key, usable_url
from .sizes import COHERE, Size

if TYPE_CHECKING:
    from cohere import ClientV2
    from cohere.core import ApiError
    from pydantic import SecretStr

URL = "https://api.cohere.com"
KEY_SETTING = "COHERE_API_KEY"
URL_SETTING = "cohere_base_url"
BATCH = 96
"""The most texts that the service takes at once."""

_INPUT_TYPES: Mapping[Kind, str] = {"query": "search_query", "document": "search_document"}


class CohereEmbedder(HostedEmbedder):
    """A model of Cohere's."""

    def __init__(
        self,
        model: str,
        key: SecretStr | str | None,
        *,
        base_url: str | None = None,
        dimension: int | None = None,
        terms: Terms | None = None,
    ) -> None:
        secret = usable_key(key, KEY_SETTING)
        if secret is None:
            raise SettingsError(f"embedder: cohere:{model} needs a key: set {KEY_SETTING}")
        service = Service("Cohere", usable_url(base_url or URL, URL_SETTING), model, KEY_SETTING, secret)
        size = COHERE.get(model, Size(None, 512))
        super().__init__(
            f"cohere:{model}",
            service,
            dimension=dimension or size.dimension,
            max_tokens=size.max_tokens,
            batch=BATCH,
            terms=terms or Terms(),
        )
        self._http = httpx.Client()
        self._client = _client(service.url, secret, self._http)

    def _ask(self, texts: Sequence[str], kind: Kind, timeout: float) -> object:
        from cohere.core import ApiError, ParsingError

        try:
            with self._service.reached(timeout):
                answer = self._client.embed(
                    model=self.model,
                    input_type=_INPUT_TYPES[kind],
                    texts=list(texts),
                    # Base64 would be a quarter of the size, but every server of this API sends floats.
                    embedding_types=["float"],
                    truncate="END",
                    request_options={"timeout": timeout, "max_retries": 0},
                )
        except ApiError as error:
            raise self._translated(error) from self._cause(error)
        except (ParsingError, TypeError, AttributeError) as error:
            # The SDK reads an answer without checking it, and stumbles over one of another shape.
            raise self._service.nonsense("an answer that has no embeddings") from error
        return getattr(answer.embeddings, "float_", None)  # None, or whatever was sent in its place

    def _translated(self, error: ApiError) -> EmbedderError:
        status = error.status_code or 0
        if status < 300:  # noqa: PLR2004 - a success, by its status
            return self._service.nonsense("an answer that is no JSON", error.body)
        return self._service.refusal(status, error.headers or {}, error.body)

    def _cause(self, error: ApiError) -> ApiError | None:
        """The error itself, unless it may repeat the key."""
        repeats = error.status_code in KEY_REFUSED or self._service.shows_key(str(error))
        return None if repeats else error

    def close(self) -> None:
        self._http.close()


def _client(url: str, key: SecretStr, http: httpx.Client) -> ClientV2:
    try:
        from cohere import ClientV2
    except ImportError as error:
        raise SettingsError(
            "embedder: Cohere's models need its SDK: pip install 'pertinent[cohere]'"
        ) from error
    # The key as a function: the client keeps no copy that a dump of its attributes would show.
    return ClientV2(key.get_secret_value, base_url=url, max_retries=0, httpx_client=http)
