"""The composition root: turns settings into adapters, and is the only module that chooses one.

An embedder may come from another package. The package names a factory in the entry-point group
`pertinent.embedders`, under the provider that the settings then use:

    [project.entry-points."pertinent.embedders"]
    acme = "acme_models:create_embedder"

With `embedder = "acme:small"` in the settings, `create_embedder("small")` is called. It returns a
`pertinent.ports.Embedder` whose name is `acme:small`, or raises SettingsError for a model that it does not
have. The tests of this repository use `testing:hashed-words` in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .embedders import known_models, model_sizes
from .errors import FingerprintMismatch, SettingsError
from .indexing.chunking import CHUNKER_VERSION
from .ports import Builds, CatalogReader, Embedder, Fingerprint, IndexReader
from .settings import Settings, find_plugin

if TYPE_CHECKING:
    from .ports import Reranker
    from .search.reranking import Reranking
    from .stores.catalog.catalog import SqlCatalog
    from .stores.external.opening import ExternalCollection
    from .stores.qdrant.builds import QdrantBuilds
    from .stores.qdrant.server import Server

CATALOG_FILE = "catalog.sqlite3"
INDEX_FOLDER = "index"
DEFAULT_LANGUAGE = "english"

CATALOG_SHARE = 0.2
"""The part of `request_timeout` that a search waits for a catalog on a server."""

RERANKER_SHARE = 0.3
"""The part of `request_timeout` that a search waits for a hosted reranker."""

lookup_dimension = model_sizes.lookup_dimension
KnownModel = known_models.KnownModel
ModelState = known_models.State
list_known_models = known_models.list_known_models
describe_unknown_model = known_models.describe_unknown_model

OpenReaders = Callable[[Embedder], tuple[IndexReader, CatalogReader]]
"""Opens the readers of an external collection, whose vectors must fit the embedder."""


def create_embedder(settings: Settings) -> Embedder:
    """Create the embedder that `provider:model` names, with a cache for query vectors."""
    created = _choose_embedder(settings)
    if not settings.query_cache:
        return created
    from .embedders.cached import CachedQueries

    return CachedQueries(created, settings.query_cache)


def _choose_embedder(settings: Settings) -> Embedder:
    provider, _, model = settings.embedder.partition(":")
    if provider in ("cohere", "openai"):
        return _create_hosted_embedder(settings, provider, model)
    if provider == "local":
        return _create_local_embedder(model)
    if provider == "onnx":
        from .embedders.onnx_embedder import OnnxEmbedder

        return OnnxEmbedder.load_folder(Path(model).expanduser().resolve())
    if provider == "fastembed":
        from .embedders.fastembed import FastEmbedder

        return FastEmbedder(model, settings.fastembed_folder)
    return _create_plugin_embedder(provider, model)


def _create_local_embedder(model: str) -> Embedder:
    if model == "all-MiniLM-L6-v2":
        from .embedders.local import LocalEmbedder

        return LocalEmbedder.load_minilm()
    if model == "bge-small-en-v1.5":
        from .embedders.bge import load_bge

        return load_bge()
    names = " or ".join(f"local:{name}" for name in model_sizes.LOCAL)
    raise SettingsError(f"embedder: there is no local model {model}; use {names}, or onnx:FOLDER")


def _create_plugin_embedder(provider: str, model: str) -> Embedder:
    """Create an embedder of another package, by its entry point."""
    plugin = find_plugin(provider)
    if plugin is None:
        raise SettingsError(
            f"embedder: no installed package has the provider {provider}; install it, or correct the name"
        )
    try:
        factory: Callable[[str], Embedder] = plugin.load()
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"embedder: {provider} can't be loaded from {plugin.value}: {error}") from error
    return factory(model)


def _create_hosted_embedder(settings: Settings, provider: str, model: str) -> Embedder:
    from .embedders.hosted import HostedOptions

    options = HostedOptions(tokens_per_minute=settings.embed_tokens_per_minute or None)
    if provider == "cohere":
        from .embedders.cohere import CohereEmbedder

        return CohereEmbedder(
            model, settings.cohere_api_key, base_url=settings.cohere_base_url, options=options
        )
    from .embedders.openai import OpenAIEmbedder

    return OpenAIEmbedder(model, settings.openai_api_key, base_url=settings.openai_base_url, options=options)


def create_reranking(settings: Settings) -> Reranking | None:
    """Create the reranker that `provider:model` names, with its settings; None if none is set."""
    if settings.reranker is None:
        return None
    from .search.reranking import Reranking

    provider, _, model = settings.reranker.partition(":")
    timeout = settings.request_timeout * RERANKER_SHARE if provider in ("cohere", "http") else None
    reranker = _choose_reranker(settings, provider, model)
    return Reranking(reranker, settings.rerank_depth, settings.rerank_share, timeout)


def _choose_reranker(settings: Settings, provider: str, model: str) -> Reranker:
    if provider == "cohere":
        from .rerankers.cohere import CohereReranker

        return CohereReranker(model, settings.cohere_api_key, base_url=settings.cohere_base_url)
    if provider == "http":
        from .rerankers.http import HttpReranker

        return HttpReranker(model, settings.reranker_api_key)
    from .rerankers.local import MS_MARCO, LocalReranker

    if provider == "onnx":
        return LocalReranker.load_folder(Path(model).expanduser().resolve())
    if model != MS_MARCO:
        raise SettingsError(
            f"reranker: there is no local model {model}; use local:{MS_MARCO}, or onnx:FOLDER"
        )
    return LocalReranker.load_ms_marco()


def word_test(language: str) -> Callable[[str], bool]:
    """Return a test for words that exist in the language, so that a search does not correct them.

    The words are those of the local model's vocabulary, which is English.
    """
    if language != "english":
        return lambda _word: False
    from .embedders.local import is_whole_word

    return is_whole_word


def open_catalog(settings: Settings) -> SqlCatalog:
    """Open the catalog: in PostgreSQL if a database URL is set, otherwise in SQLite in the folder."""
    from .stores.catalog.catalog import SqlCatalog

    if settings.database_url is not None:
        return SqlCatalog.open(settings.database_url.get_secret_value(), settings.database_timeout)
    return SqlCatalog.open(f"sqlite:///{(settings.folder / CATALOG_FILE).resolve()}")


def choose_catalog_timeout(settings: Settings) -> float | None:
    """Return how many seconds a search waits for the catalog; None for a file of our own."""
    return None if settings.database_url is None else settings.request_timeout * CATALOG_SHARE


def open_builds(settings: Settings, catalog_id: Callable[[], str]) -> Builds:
    """Return the builds of the index: on a Qdrant server if its URL is set, otherwise in the folder."""
    if settings.qdrant_url is None:
        from .stores.edge_builds import EdgeBuilds

        return EdgeBuilds(settings.folder.resolve() / INDEX_FOLDER)
    return server_builds(settings, catalog_id)


def server_builds(settings: Settings, catalog_id: Callable[[], str]) -> QdrantBuilds:
    """Return the builds on a Qdrant server that belong to the catalog."""
    from .stores.qdrant.builds import QdrantBuilds
    from .stores.qdrant.collection import CollectionOptions

    options = CollectionOptions(
        shards=settings.qdrant_shards,
        replicas=settings.qdrant_replicas,
        write_consistency=settings.qdrant_write_consistency,
        on_disk=settings.qdrant_on_disk,
        quantization=settings.qdrant_quantization,
    )
    return QdrantBuilds(lambda: _connect(settings), settings.qdrant_collection, options, catalog_id)


def external_collection(settings: Settings) -> ExternalCollection:
    """Return the collection of that name on the server, which another pipeline may have filled."""
    from .stores.external.opening import ExternalCollection

    return ExternalCollection(
        lambda: _connect(settings),
        settings.qdrant_collection,
        settings.qdrant_fields,
        settings.external_base_url or "",
        lambda: _external_documents(settings),
    )


def external_readers(settings: Settings) -> OpenReaders | None:
    """Return what opens the collection that another pipeline filled; None if there is none."""
    if settings.qdrant_url is None:
        return None
    collection = external_collection(settings)
    return collection.open if collection.exists() else None


def _external_documents(settings: Settings) -> SqlCatalog | None:
    """Return the database of the pipeline that filled the collection; only its table `documents` is read."""
    from .stores.catalog.catalog import SqlCatalog

    if settings.database_url is None:
        return None
    return SqlCatalog.attach(settings.database_url.get_secret_value(), settings.database_timeout)


def _connect(settings: Settings) -> Server:
    from .stores.qdrant.server import Server

    key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None
    return Server(settings.qdrant_url or "", key, timeout=settings.qdrant_timeout)


def make_fingerprint(settings: Settings, embedder: Embedder, language: str) -> Fingerprint:
    """Return the fingerprint of an index in this language that is made with these settings."""
    return Fingerprint(
        embedder.name,
        embedder.dimension,
        _chunker(settings),
        _lexical(language),
        model_revision=model_sizes.lookup_revision(embedder.name),
    )


def _chunker(settings: Settings) -> str:
    return f"structure-{CHUNKER_VERSION} tokens={settings.chunk_tokens}"


def _lexical(language: str) -> str:
    from .search.bm25 import Bm25

    return Bm25(language).settings


def index_language(fingerprint: Fingerprint) -> str:
    """Return the language that an index was made with."""
    from .search.bm25 import Bm25

    return Bm25.from_settings(fingerprint.lexical).language


def expected_fingerprint(settings: Settings, existing: Fingerprint) -> Fingerprint:
    """Return the fingerprint that the settings ask for, without loading the model.

    What only the model can tell (its dimension, and the name of the model in an ONNX folder) is taken from
    the existing fingerprint. A run that embeds nothing need not load the model.
    """
    unknown = settings.embedder.startswith("onnx:") and existing.embedder.startswith("onnx:")
    name = existing.embedder if unknown else settings.embedder
    lexical = _lexical(settings.language or index_language(existing))
    return replace(
        existing,
        embedder=name,
        chunker=_chunker(settings),
        lexical=lexical,
        model_revision=model_sizes.lookup_revision(name),
    )


def has_same_settings(existing: Fingerprint, expected: Fingerprint) -> bool:
    """Whether two builds were made with the same settings, whatever their numbers."""
    return replace(existing, build=expected.build) == expected


def settings_to_restore(existing: Fingerprint, expected: Fingerprint) -> list[str]:
    """Return the lines of pertinent.toml that must change so that the index opens."""
    tokens, language = _chunk_tokens(existing), index_language(existing)
    lines = {
        f'embedder = "{existing.embedder}"': existing.embedder != expected.embedder,
        f"chunk_tokens = {tokens}": tokens != _chunk_tokens(expected),
        f'language = "{language}"': language != index_language(expected),
    }
    return [line for line, differs in lines.items() if differs]


def _chunk_tokens(fingerprint: Fingerprint) -> str:
    tokens = re.search(r"tokens=(\d+)", fingerprint.chunker)
    return tokens[1] if tokens else ""


def check_fingerprint(existing: Fingerprint, expected: Fingerprint) -> None:
    """Raise FingerprintMismatch if the index was made with other settings than the present ones."""
    differences = [
        f"{name} is {getattr(existing, name)!r} in the index and {getattr(expected, name)!r} in the settings"
        for name in ("embedder", "dimension", "chunker", "lexical")
        if getattr(existing, name) != getattr(expected, name)
    ]
    if differences:
        lines = settings_to_restore(existing, expected)
        # Without any, another version of Pertinent made the index.
        restore = f"Restore those settings ({', '.join(lines)}), or rebuild" if lines else "Rebuild"
        raise FingerprintMismatch(
            f"this index was made with other settings: {'; '.join(differences)}. {restore} the index from "
            "the stored texts with `pertinent reindex`"
        )
    if existing.model_revision != expected.model_revision:
        raise FingerprintMismatch(
            f"this index was made with revision {existing.model_revision} of the model {existing.embedder}. "
            f"This version of Pertinent has revision {expected.model_revision}, whose vectors differ: "
            "rebuild the index from the stored texts with `pertinent reindex`"
        )
