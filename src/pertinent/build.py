"""Settings to parts: the only place where an adapter is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import FingerprintMismatch, SettingsError
from .indexing.chunking import CHUNKER_VERSION
from .ports import Builds, Catalog, Embedder, Fingerprint
from .settings import Settings

if TYPE_CHECKING:
    from .stores.catalog.catalog import SqlCatalog
    from .stores.external.opening import ForeignCollection
    from .stores.qdrant.builds import QdrantBuilds
    from .stores.qdrant.server import Server

CATALOG_FILE = "catalog.sqlite3"
INDEX_FOLDER = "index"


def embedder(settings: Settings) -> Embedder:
    """The embedder that `provider:model` names, with a memory for queries."""
    made = _embedder(settings)
    if not settings.query_cache:
        return made
    from .embedders.cached import CachedQueries

    return CachedQueries(made, settings.query_cache)


def known_dimension(model: str) -> int | None:
    """How many elements the model's vectors have; None for a model that is not known beforehand."""
    from .embedders import sizes

    return sizes.known_dimension(model)


def _embedder(settings: Settings) -> Embedder:
    provider, _, model = settings.embedder.partition(":")
    if provider == "testing":
        from .testing.embedder import HashedWords

        return HashedWords()
    if provider in ("cohere", "openai"):
        return _hosted(settings, provider, model)
    from .embedders.local import MINILM, LocalEmbedder

    if provider == "onnx":
        return LocalEmbedder.load_folder(Path(model).expanduser().resolve())
    if model != MINILM:
        raise SettingsError(f"embedder: the local model is local:{MINILM}; onnx:FOLDER loads any other")
    return LocalEmbedder.load_minilm()


def _hosted(settings: Settings, provider: str, model: str) -> Embedder:
    from .embedders.hosted import HostedOptions

    options = HostedOptions(tokens_per_minute=settings.embed_tokens_per_minute or None)
    if provider == "cohere":
        from .embedders.cohere import CohereEmbedder

        return CohereEmbedder(
            model, settings.cohere_api_key, base_url=settings.cohere_base_url, options=options
        )
    from .embedders.openai import OpenAIEmbedder

    return OpenAIEmbedder(model, settings.openai_api_key, base_url=settings.openai_base_url, options=options)


def catalog(settings: Settings) -> Catalog:
    """The catalog: PostgreSQL where an address is set, or SQLite in the folder."""
    from .stores.catalog.catalog import SqlCatalog

    if settings.database_url is not None:
        return SqlCatalog.open(settings.database_url.get_secret_value())
    return SqlCatalog.open(f"sqlite:///{(settings.folder / CATALOG_FILE).resolve()}")


def builds(settings: Settings, catalog_id: Callable[[], str]) -> Builds:
    """Where the builds of the vector index are kept."""
    if settings.qdrant_url is None:
        from .stores.edge import EdgeBuilds

        return EdgeBuilds(settings.folder.resolve() / INDEX_FOLDER)
    return server_builds(settings, catalog_id)


def server_builds(settings: Settings, catalog_id: Callable[[], str]) -> QdrantBuilds:
    """The builds on a Qdrant server; none but those that belong to the catalog are ours."""
    from .stores.qdrant.builds import QdrantBuilds
    from .stores.qdrant.collection import CollectionOptions

    options = CollectionOptions(
        shards=settings.qdrant_shards,
        replicas=settings.qdrant_replicas,
        write_consistency=settings.qdrant_write_consistency,
        on_disk=settings.qdrant_on_disk,
        quantization=settings.qdrant_quantization,
    )
    return QdrantBuilds(lambda: _server(settings), settings.qdrant_collection, options, catalog_id)


def foreign(settings: Settings) -> ForeignCollection:
    """Where a collection of another pipeline may be."""
    from .stores.external.opening import ForeignCollection

    return ForeignCollection(
        lambda: _server(settings),
        settings.qdrant_collection,
        settings.qdrant_fields,
        settings.external_base_url or "",
        lambda: _external_documents(settings),
    )


def _external_documents(settings: Settings) -> SqlCatalog | None:
    """The database of the pipeline that filled the collection; only its table `documents` is read."""
    from .stores.catalog.catalog import SqlCatalog

    if settings.database_url is None:
        return None
    return SqlCatalog.attach(settings.database_url.get_secret_value())


def _server(settings: Settings) -> Server:
    from .stores.qdrant.server import Server

    key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None
    return Server(settings.qdrant_url or "", key, timeout=settings.qdrant_timeout)


def fingerprint(settings: Settings, made_by: Embedder) -> Fingerprint:
    """What an index made now would carry."""
    from .stores import bm25 as lexical

    return Fingerprint(made_by.name, made_by.dimension, _chunker(settings), lexical.SETTINGS)


def _chunker(settings: Settings) -> str:
    return f"structure-{CHUNKER_VERSION} tokens={settings.chunk_tokens}"


def without_loading(settings: Settings, found: Fingerprint) -> Fingerprint:
    """The fingerprint as far as the settings tell it: a run that embeds nothing need not load the model."""
    from .stores import bm25 as lexical

    # What an ONNX folder holds is known only when it is read.
    unknown = settings.embedder.startswith("onnx:") and found.embedder.startswith("onnx:")
    name = found.embedder if unknown else settings.embedder
    return replace(found, embedder=name, chunker=_chunker(settings), lexical=lexical.SETTINGS)


def same_settings(existing: Fingerprint, wanted: Fingerprint) -> bool:
    """Whether two builds were made with the same settings, whatever their numbers."""
    return replace(existing, build=wanted.build) == wanted


def check_fingerprint(found: Fingerprint, wanted: Fingerprint) -> None:
    """Refuse to go on with an index that was made with other things."""
    differences = [
        f"{name} is {getattr(found, name)!r} in the index and {getattr(wanted, name)!r} in the settings"
        for name in ("embedder", "dimension", "chunker", "lexical")
        if getattr(found, name) != getattr(wanted, name)
    ]
    if differences:
        raise FingerprintMismatch(
            f"this index was made with other settings: {'; '.join(differences)}. Go back to those, or make "
            "the index anew from the texts it holds with `pertinent reindex`"
        )
