"""Settings to parts: the only place where an adapter is chosen."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .chunking import CHUNKER_VERSION
from .disk import refuse_full
from .engine import Engine
from .errors import (
    FingerprintMismatch,
    IndexFailure,
    IndexLocked,
    NotFound,
    SettingsError,
    StoreError,
    SyncRefused,
)
from .indexing import Indexer
from .ports import Builds, Catalog, Embedder, Fingerprint, VectorIndex, Written
from .progress import Progress
from .settings import Settings
from .succession import Succession

if TYPE_CHECKING:
    from .stores.foreign_opening import ForeignCollection
    from .stores.qdrant_builds import QdrantBuilds
    from .stores.qdrant_server import Server

CATALOG_FILE = "catalog.sqlite3"
INDEX_FOLDER = "index"


def embedder(settings: Settings) -> Embedder:
    """The embedder that `provider:model` names, with a memory for queries."""
    made = _embedder(settings)
    if not settings.query_cache:
        return made
    from .embedders.cached import CachedQueries

    return CachedQueries(made, settings.query_cache)


def _embedder(settings: Settings) -> Embedder:
    provider, _, model = settings.embedder.partition(":")
    if provider == "testing":
        from .testing.embedder import HashedWords

        return HashedWords()
    if provider in ("cohere", "openai"):
        return _hosted(settings, provider, model)
    from .embedders.local import MINILM, LocalEmbedder

    if provider == "onnx":
        return LocalEmbedder.folder(Path(model).expanduser().resolve())
    if model != MINILM:
        raise SettingsError(f"embedder: the local model is local:{MINILM}; onnx:FOLDER loads any other")
    return LocalEmbedder.minilm()


def _hosted(settings: Settings, provider: str, model: str) -> Embedder:
    from .embedders.hosted import Terms

    terms = Terms(tokens_per_minute=settings.embed_tokens_per_minute or None)
    if provider == "cohere":
        from .embedders.cohere import CohereEmbedder

        return CohereEmbedder(model, settings.cohere_api_key, base_url=settings.cohere_base_url, terms=terms)
    from .embedders.openai import OpenAIEmbedder

    return OpenAIEmbedder(model, settings.openai_api_key, base_url=settings.openai_base_url, terms=terms)


def catalog(settings: Settings) -> Catalog:
    """The catalog: PostgreSQL where an address is set, or SQLite in the folder."""
    from .stores.catalog import SqlCatalog

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
    from .stores.qdrant_builds import QdrantBuilds
    from .stores.qdrant_collection import CollectionOptions

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
    from .stores.foreign_opening import ForeignCollection

    return ForeignCollection(lambda: _server(settings), settings.qdrant_collection, settings.qdrant_fields)


def _server(settings: Settings) -> Server:
    from .stores.qdrant_server import Server

    key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None
    return Server(settings.qdrant_url or "", key, timeout=settings.qdrant_timeout)


Accept = Callable[[Engine, Sequence[tuple[str, Written]], Fingerprint], None]
"""Looks at a new build (what answers from it, what it holds, what the old one was made with)."""


class Workspace:
    """The parts that the settings name, each opened when it is first needed and then kept."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._opening = threading.RLock()
        self._embedder: Embedder | None = None
        self._catalog: Catalog | None = None
        self._index: VectorIndex | None = None
        self._engine: Engine | None = None
        self._foreign: bool | None = None
        self._number = 0
        """Which build the open index is."""
        self._builds = builds(settings, lambda: self.catalog().catalog_id())
        self._succession = Succession(self._builds, self.catalog, remote=settings.qdrant_url is not None)
        self._closed = False

    def embedder(self) -> Embedder:
        """The embedder, checked against what the index was made with."""
        with self._opening:
            if self._embedder is None:
                made = embedder(self.settings)
                if not self.is_foreign and self._has_catalog() and (found := self.catalog().fingerprint()):
                    check_fingerprint(found, fingerprint(self.settings, made))
                self._embedder = made
            return self._embedder

    def catalog(self) -> Catalog:
        """The catalog, made where there is none."""
        with self._opening:
            if self._closed:
                raise StoreError("this was closed; open it again with Pertinent.open")
            if self._catalog is None and self.is_foreign:
                self._open_foreign()
            if self._catalog is None:
                self._catalog = catalog(self.settings)
            return self._catalog

    @property
    def is_foreign(self) -> bool:
        """Whether the collection is one that another pipeline filled: it is read, and never written to."""
        with self._opening:
            if self._foreign is None:
                self._foreign = self.settings.qdrant_url is not None and foreign(self.settings).exists()
            return self._foreign

    def _open_foreign(self) -> None:
        self._index, self._catalog = foreign(self.settings).open(self.embedder())

    def _refuse_foreign(self) -> None:
        if self.is_foreign:
            foreign(self.settings).refuse()

    def index(self) -> VectorIndex:
        """The index, made where there is none."""
        with self._opening:
            if self._index is None and self.is_foreign:
                self._open_foreign()
            if self._index is None:
                found = self.catalog().fingerprint()
                if found is None:
                    found = fingerprint(self.settings, self.embedder())
                    self.catalog().set_fingerprint(found)
                opened = self._builds.open(found)
                if not opened.count():
                    if self._expects_chunks():
                        opened.close()
                        raise IndexFailure(
                            f"the index in {self.settings.folder} is empty, but the catalog has pages; "
                            "`pertinent reindex` makes it anew from the texts in the catalog"
                        )
                    self._builds.use(found.build)
                self._index, self._number = opened, found.build
            return self._index

    def _expects_chunks(self) -> bool:
        broken_off = set(self.catalog().pending())
        pages = self.catalog().pages()
        return any(page.chunks and page.document_id not in broken_off for page in pages)

    def _has_catalog(self) -> bool:
        return self.settings.database_url is not None or (self.settings.folder / CATALOG_FILE).exists()

    def known(self, chunk_ids: Sequence[str]) -> set[str]:
        """Which of the chunks there are."""
        if self.is_foreign:
            return {one for one in chunk_ids if self.catalog().chunk(one)}
        return set(self.catalog().describe(chunk_ids))

    def engine(self) -> Engine:
        """What answers queries; refused where nothing was indexed yet."""
        with self._opening:
            if self._engine is None:
                self.require()
                self._engine = Engine(
                    self.embedder(), self.index(), self.catalog(), self.settings.query_cache
                )
            return self._engine

    def indexer(self, progress: Progress) -> Indexer:
        """What syncs sources."""
        self._refuse_foreign()
        refuse_full(self.settings.folder)
        if found := self.catalog().fingerprint():
            check_fingerprint(found, _without_loading(self.settings, found))
        return Indexer(self.embedder, self.index(), self.catalog(), self.settings.chunk_tokens, progress)

    def reindex(self, progress: Progress, accept: Accept | None = None) -> int:
        """Build the index anew beside the old one with the present settings, then take it; counts chunks.

        The texts come from the catalog. The old build answers, and keeps other processes out, until the
        catalog records the swap; then it is kept to go back to. `accept` may look at the new build before
        it is taken, and refuse it with SyncRefused. One that broke off is kept, and the next with the same
        settings goes on with it.
        """
        self._refuse_foreign()
        self.require()
        refuse_full(self.settings.folder)
        old = self._held_build()
        made_by = self._embedder or embedder(self.settings)
        new, fresh = self._succession.begin(fingerprint(self.settings, made_by))
        indexer = Indexer(lambda: made_by, fresh, self.catalog(), self.settings.chunk_tokens, progress)
        try:
            rebuilt = indexer.rebuild()
            if accept is not None:
                accept(Engine(made_by, fresh, self.catalog()), rebuilt, old)
            self.catalog().swap(new, rebuilt)
        except BaseException as error:
            fresh.close()
            if isinstance(error, SyncRefused):
                self._builds.remove(new.build)
            raise
        self._take(new, fresh)
        with self._opening:
            self._embedder = made_by
        self._succession.sweep()
        return fresh.count()

    def rollback(self) -> Fingerprint:
        """Go back to the build before the one in use; the next sync writes what has changed since.

        Its chunks are recorded as that build has them, and every page is noted as pending.
        """
        self._refuse_foreign()
        self.require()
        present, before = self.catalog().fingerprint(), self.catalog().previous()
        if before is None or present is None or before.build not in self._builds.numbers():
            raise NotFound("there is no build to go back to; `pertinent reindex` keeps the one it replaces")
        self._held_build()
        old = self._succession.open(before)
        kept = self._succession.recorded(old)
        if not kept:
            old.close()
            raise NotFound("the build to go back to is empty: it was lost when the one in use was made")
        self.catalog().begin([page.document_id for _, (page, _, _) in kept])
        self.catalog().swap(before, kept)
        self._take(before, old)
        return before

    def to_set(self) -> list[str]:
        """What the settings must say for the index in use, where they say something else."""
        found = self.catalog().fingerprint()
        if found is None:
            return []
        wanted = _without_loading(self.settings, found)
        tokens = re.search(r"tokens=(\d+)", found.chunker)
        lines = {
            f'embedder = "{found.embedder}"': found.embedder != wanted.embedder,
            f"chunk_tokens = {tokens[1] if tokens else ''}": found.chunker != wanted.chunker,
        }
        return [line for line, differs in lines.items() if differs]

    def drop_old(self) -> int | None:
        """Remove the build before the one in use; its number, or None where there is none."""
        self._refuse_foreign()
        before = self.catalog().previous()
        if before is None:
            return None
        with self._opening:
            self._succession.remove(before.build)
        self.catalog().forget_previous()
        return before.build

    def _take(self, made_with: Fingerprint, opened: VectorIndex) -> None:
        """Answer from this build from now on."""
        self._builds.use(made_with.build)
        with self._opening:
            if self._index is not None:
                self._succession.retired[self._number] = self._index
            self._index, self._number, self._embedder, self._engine = opened, made_with.build, None, None

    def _held_build(self) -> Fingerprint:
        """What the index in use was made with; it is opened, whatever its state, to keep others out."""
        with self._opening:
            old = self.catalog().fingerprint()
            assert old is not None  # noqa: S101 - `require` has seen it
            if self._index is None:
                try:
                    self._index, self._number = self._builds.open(old), old.build
                except IndexLocked:
                    raise
                except IndexFailure:
                    # A server may only be slow; a folder is damaged, and nobody can have it open.
                    if self.settings.qdrant_url is not None:
                        raise
                    self._builds.remove(old.build)
            return old

    def require(self) -> None:
        """Refuse to go on where nothing was ever indexed: that is no empty answer."""
        if self.is_foreign:
            return
        if not self._has_catalog() or not self.catalog().fingerprint() or not self.catalog().pages():
            raise NotFound(
                f"nothing is indexed in {self.settings.folder} yet; `pertinent index PATH` does that"
            )

    def close(self) -> None:
        """Close whatever was opened."""
        with self._opening:
            for part in (self._succession, self._index, self._catalog):
                if part is not None:
                    part.close()
            # A hosted model holds connections; a local one holds nothing.
            getattr(self._embedder, "close", lambda: None)()
            self._index = self._catalog = self._engine = None
            self._closed = True


def fingerprint(settings: Settings, made_by: Embedder) -> Fingerprint:
    """What an index made now would carry."""
    from .stores import lexical

    return Fingerprint(made_by.name, made_by.dimension, _chunker(settings), lexical.SETTINGS)


def _chunker(settings: Settings) -> str:
    return f"structure-{CHUNKER_VERSION} tokens={settings.chunk_tokens}"


def _without_loading(settings: Settings, found: Fingerprint) -> Fingerprint:
    """The fingerprint as far as the settings tell it: a run that embeds nothing need not load the model."""
    from .stores import lexical

    # What an ONNX folder holds is known only when it is read.
    unknown = settings.embedder.startswith("onnx:") and found.embedder.startswith("onnx:")
    name = found.embedder if unknown else settings.embedder
    return replace(found, embedder=name, chunker=_chunker(settings), lexical=lexical.SETTINGS)


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
