"""All settings: their types, defaults, descriptions and checks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from .._internal.safe_json import parse_json
from ..types import LANGUAGES, Ranking

MIN_KEY = 8
"""The shortest API key of the service, in characters."""

_BASE_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^?#\s]+")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@\s]+")

PROVIDERS = ("local", "onnx", "fastembed", "cohere", "openai")
RERANKER_PROVIDERS = ("local", "onnx", "cohere", "http")
EMBEDDER_PLUGINS = "pertinent.embedders"
"""The entry-point group in which another package registers an embedder (see `pertinent.build`)."""

DEFAULT_MODELS: Mapping[str, str] = {"cohere": "embed-english-v3.0"}
"""The model of a provider that is named without one."""


class Settings(BaseModel):
    """All settings with their defaults and descriptions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Annotated[Path, Field(description="the folder of the embedded index and the catalog")] = Path(
        ".pertinent"
    )
    embedder: Annotated[str, Field(description="the embedding model, as provider:model")] = (
        "local:all-MiniLM-L6-v2"
    )
    chunk_tokens: Annotated[
        int, Field(ge=20, le=2000, description="the approximate size of a chunk in tokens")
    ] = 200
    language: Annotated[
        str | None,
        Field(description="the language of the pages, for stems and stop words; by default the site's"),
    ] = None
    ranking: Annotated[Ranking, Field(description="the default ranking of a search")] = "hybrid"
    reranker: Annotated[
        str | None,
        Field(description="a model that reranks the best hits, as provider:model, or none"),
    ] = None
    rerank_depth: Annotated[int, Field(ge=1, le=100, description="how many hits of a list are reranked")] = 10
    rerank_share: Annotated[
        float, Field(ge=0, le=1, description="the weight of the reranker in the score of a hit")
    ] = 0.4
    reranker_api_key: Annotated[SecretStr | None, Field(description="key for the reranker http:URL")] = None
    fastembed_folder: Annotated[
        Path | None, Field(description="the files of the fastembed model; none means fastembed's cache")
    ] = None
    cohere_api_key: Annotated[SecretStr | None, Field(description="key of the Cohere API")] = None
    cohere_base_url: Annotated[
        str | None, Field(description="another address of the Cohere API, such as a proxy")
    ] = None
    openai_api_key: Annotated[
        SecretStr | None, Field(description="key of the server that speaks OpenAI's protocol")
    ] = None
    openai_base_url: Annotated[
        str | None, Field(description="a server that speaks OpenAI's protocol; none means OpenAI")
    ] = None
    embed_tokens_per_minute: Annotated[
        int, Field(ge=0, description="tokens a minute sent to a hosted model; 0 means no limit")
    ] = 0
    qdrant_url: Annotated[str | None, Field(description="a Qdrant server; none means embedded")] = None
    qdrant_api_key: Annotated[SecretStr | None, Field(description="key of the Qdrant server")] = None
    qdrant_collection: Annotated[
        str, Field(min_length=1, max_length=200, description="the collection on the Qdrant server")
    ] = "pertinent"
    qdrant_shards: Annotated[int, Field(ge=1, le=1024, description="shards of a new collection")] = 1
    qdrant_replicas: Annotated[int, Field(ge=1, le=64, description="copies of each shard in a cluster")] = 1
    qdrant_write_consistency: Annotated[
        int, Field(ge=1, le=64, description="replicas that must confirm a write")
    ] = 1
    qdrant_on_disk: Annotated[bool, Field(description="read vectors from disk: less memory, slower")] = False
    qdrant_quantization: Annotated[
        Literal["none", "scalar", "binary"], Field(description="search with smaller vectors, score exactly")
    ] = "none"
    qdrant_timeout: Annotated[
        float, Field(gt=0, le=600, description="how many seconds the Qdrant server has for an answer")
    ] = 10.0
    qdrant_fields: Annotated[
        dict[str, str], Field(description="the payload fields of an external collection")
    ] = {}
    external_base_url: Annotated[
        str | None, Field(description="the base address of an external collection's source paths")
    ] = None
    database_url: Annotated[
        SecretStr | None, Field(description="a PostgreSQL catalog; none means SQLite in the folder")
    ] = None
    lock_timeout: Annotated[
        float,
        Field(ge=0, description="how many seconds to wait for a process that writes or has the index open"),
    ] = 600.0
    database_timeout: Annotated[
        float, Field(gt=0, le=3600, description="how many seconds PostgreSQL has for a statement")
    ] = 30.0

    # An empty address would be every address of the machine.
    host: Annotated[str, Field(min_length=1, description="the address that the service listens on")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Field(ge=0, le=65535, description="the port; 0 chooses a free one")] = 8000
    api_keys: Annotated[
        tuple[SecretStr, ...],
        Field(description="API keys that the service accepts; none means no key is needed"),
    ] = ()
    public_keys: Annotated[
        tuple[SecretStr, ...],
        Field(description="keys that may only search and suggest, for pages that anyone can read"),
    ] = ()
    public_rate_limit: Annotated[
        int, Field(ge=0, description="requests a minute for each address with a public key; 0 means no limit")
    ] = 300
    open_metrics: Annotated[bool, Field(description="whether /metrics answers without a key")] = False
    rate_limit: Annotated[
        int, Field(ge=0, description="requests a minute for each key or address; 0 means no limit")
    ] = 0
    trusted_proxies: Annotated[
        tuple[str, ...], Field(description="addresses or networks of proxies whose X-Forwarded-For counts")
    ] = ()
    max_connections: Annotated[
        int, Field(ge=1, description="how many connections to the service may be open")
    ] = 1000
    max_connections_per_address: Annotated[
        int, Field(ge=1, description="how many connections may come from one address")
    ] = 200
    cors_origins: Annotated[
        tuple[str, ...], Field(description="origins allowed to call the service (CORS)")
    ] = ()
    request_timeout: Annotated[
        float, Field(gt=0, le=600, description="how many seconds a request to the service may take")
    ] = 10.0
    query_cache: Annotated[int, Field(ge=0, description="how many queries are cached")] = 1024
    otel_endpoint: Annotated[str | None, Field(description="the address for OpenTelemetry spans")] = None

    mcp_max_tokens: Annotated[
        int, Field(ge=2000, le=20_000, description="how many tokens an answer to an agent may have")
    ] = 8000
    book_title: Annotated[
        str | None, Field(max_length=200, description="the name of the book, for agents and llms.txt")
    ] = None

    golden: Annotated[
        Path | None, Field(description="the default golden set, and the one of the page at /label")
    ] = None
    reports: Annotated[Path, Field(description="the folder of validation reports")] = Path(
        "validation_results"
    )
    criteria: Annotated[dict[str, Any], Field(description="the default criteria of a verdict")] = {}

    @property
    def asks_servers(self) -> bool:
        """Whether the index, the catalog or a model is on a server."""
        database = self.database_url.get_secret_value() if self.database_url else "sqlite:"
        return (
            self.qdrant_url is not None
            or not database.startswith("sqlite")
            or self.embedder.startswith(("cohere:", "openai:"))
            or (self.reranker or "").startswith(("cohere:", "http:"))
        )

    @field_validator("language")
    @classmethod
    def _check_language(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if value.lower() not in LANGUAGES:
            raise ValueError(f"must be one of {', '.join(LANGUAGES)}")
        return value.lower()

    @field_validator("api_keys", "public_keys", "cors_origins", "trusted_proxies", mode="before")
    @classmethod
    def _split_list(cls, value: object) -> object:
        """Split a list at its commas, as environment variables have it."""
        if not isinstance(value, str):
            return value
        return [entry.strip() for entry in value.split(",") if entry.strip()]

    @field_validator("cors_origins")
    @classmethod
    def _check_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Write origins as browsers do; one with a path would never match."""
        origins = tuple(origin.rstrip("/").lower() for origin in value)
        for origin in origins:
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise ValueError(f"must be like https://site.example, with no path, or *, not {origin!r}")
        return origins

    @field_validator("trusted_proxies")
    @classmethod
    def _check_proxies(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for proxy in value:
            try:
                ip_network(proxy)
            except ValueError:
                raise ValueError(
                    f"must be addresses or networks, like 10.0.0.1 or 10.0.0.0/8, not {proxy!r}"
                ) from None
        return value

    @field_validator("criteria", "qdrant_fields", mode="before")
    @classmethod
    def _parse_table(cls, value: object) -> object:
        """Parse a table from JSON, as environment variables have it."""
        return parse_json(value) if isinstance(value, str) else value

    @field_validator("api_keys", "public_keys")
    @classmethod
    def _check_key_length(cls, value: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if any(len(key.get_secret_value()) < MIN_KEY for key in value):
            raise ValueError(f"a key must have at least {MIN_KEY} characters")
        return value

    @field_validator("public_keys")
    @classmethod
    def _check_public_keys(cls, value: tuple[SecretStr, ...], info: ValidationInfo) -> tuple[SecretStr, ...]:
        """Refuse public keys that would restrict nothing."""
        api_keys = info.data.get("api_keys", value)
        if value and not api_keys:
            raise ValueError("need `api_keys`, too: without them every route answers without a key")
        if info.data.get("api_keys") and set(value) & set(api_keys):
            raise ValueError("must not be in `api_keys`, too")
        return value

    @field_validator("folder", mode="before")
    @classmethod
    def _check_folder(cls, value: object) -> object:
        if value == "":
            raise ValueError("must not be empty; `.` is the current folder")
        if isinstance(value, str | Path) and "\0" in str(value):
            raise ValueError("must not contain a NUL character")
        return value

    @field_validator("external_base_url")
    @classmethod
    def _check_base_url(cls, value: str | None) -> str | None:
        if value is not None and not _BASE_URL.fullmatch(value):
            raise ValueError(f"must be an address like https://example.org/docs, not {value!r}")
        return value

    @field_validator("embedder")
    @classmethod
    def _complete_embedder(cls, value: str) -> str:
        """Return `provider:model`; a provider with a default model may be given alone."""
        provider, _, model = value.partition(":")
        model = model or DEFAULT_MODELS.get(provider, "")
        if not model or (provider not in PROVIDERS and find_plugin(provider) is None):
            providers = ", ".join(f"{name}:…" for name in PROVIDERS)
            raise ValueError(
                f"must be provider:model with one of {providers}, or the provider of an installed package, "
                f"not {value!r}"
            )
        return f"{provider}:{model}"

    @field_validator("reranker")
    @classmethod
    def _check_reranker(cls, value: str | None) -> str | None:
        """Check the form `provider:model`; none is the same as no value."""
        if value in (None, "", "none"):
            return None
        provider, _, model = value.partition(":")
        if provider == "http" and not model.startswith(("http://", "https://")):
            raise ValueError(f"must be http:URL, such as http:https://host/rerank, not {value!r}")
        if not model or provider not in RERANKER_PROVIDERS:
            providers = ", ".join(f"{name}:…" for name in RERANKER_PROVIDERS)
            raise ValueError(f"must be provider:model with one of {providers}, or none, not {value!r}")
        return value

    @field_validator("database_url")
    @classmethod
    def _check_database(cls, value: SecretStr | None) -> SecretStr | None:
        scheme = value.get_secret_value().partition("://")[0].partition("+")[0] if value else ""
        if value is not None and scheme not in ("postgresql", "postgres", "sqlite"):
            raise ValueError("must begin with postgresql:// or sqlite://")
        return value


@cache
def find_plugin(provider: str) -> EntryPoint | None:
    """Return the entry point of an embedder of another package; None if no package has that provider."""
    return next(iter(entry_points(group=EMBEDDER_PLUGINS, name=provider)), None)
