"""The stores that the settings name, with their models: opened when needed, kept open, closed together."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path

from .. import build
from .._internal.disk import check_free_space
from .._internal.progress import NoProgress, Progress
from ..errors import (
    FingerprintMismatch,
    IndexFailure,
    IndexLocked,
    IndexOutdated,
    NotFound,
    StoreError,
    SyncRefused,
)
from ..indexing.sync import Indexer
from ..ports import Catalog, CatalogReader, Embedder, Fingerprint, IndexReader, Source, VectorIndex
from ..search.engine import Engine
from ..search.reranking import Reranking
from ..settings import Settings
from ..types import Chunk
from .builds import IndexBuilds
from .lock_wait import hold_write_lock
from .missing_index import explain_lost_chunks, explain_missing_index
from .models import Models
from .outdated_index import check_commits
from .reindex import drop_previous, reindex


class Workspace:
    """An index with its catalog, embedder and engine, each opened when first needed. Thread-safe.

    Args:
        settings: The settings.
        models: Models that stay loaded when the workspace is closed, for the next one.
        accept_outdated: Also open an index that lacks commits of the catalog, to examine it.
    """

    def __init__(
        self, settings: Settings, models: Models | None = None, *, accept_outdated: bool = False
    ) -> None:
        self.settings, self._accept_outdated = settings, accept_outdated
        self._models, self._owns_models = models or Models(settings), models is None
        self._opening = threading.RLock()
        self._embedder: Embedder | None = None
        self._catalog: Catalog | None = None
        self._index: VectorIndex | None = None
        self._engine: Engine | None = None
        self._external: tuple[IndexReader, CatalogReader] | None = None
        self._source_language: str | None = None
        self._number = 0
        """The number of the open build."""
        builds = build.open_builds(settings, lambda: self.writable_catalog().catalog_id())
        self.builds = IndexBuilds(builds, self.writable_catalog, remote=settings.qdrant_url is not None)
        self._closed = False
        self._writing = threading.Lock()

    def embedder(self) -> Embedder:
        """Return the embedder.

        Raises:
            FingerprintMismatch: The index was made with another one.
        """
        with self._opening:
            if self._embedder is None:
                self._check_fingerprint()
                self._embedder = self._models.embedder()
            return self._embedder

    def _check_fingerprint(self) -> None:
        """Refuse an index that was made with another embedder, or with other settings."""
        existing = self.catalog().fingerprint() if self._has_catalog() else None
        if existing is not None:
            # A hosted model may need a request for its dimension; a difference in its name does not.
            self.check_settings(build.expected_fingerprint(self.settings, existing))
            self.check_settings(self.make_fingerprint(self._models.embedder()))

    def create_embedder(self) -> Embedder:
        """Return the embedder of the settings, even if the index was made with another one."""
        return self._models.embedder()

    def make_fingerprint(self, embedder: Embedder) -> Fingerprint:
        """Return the fingerprint of an index that is made with the present settings."""
        return build.make_fingerprint(self.settings, embedder, self.language())

    def language(self) -> str:
        """Return the language of the settings, else of the index; if empty, of the source to be indexed."""
        if self.settings.language is not None:
            return self.settings.language
        existing = self.catalog().fingerprint() if self._has_catalog() else None
        if self._source_language and (existing is None or not self.catalog().has_chunks()):
            return self._source_language
        return build.index_language(existing) if existing else build.DEFAULT_LANGUAGE

    def check_settings(self, settings: Fingerprint) -> None:
        """Refuse an index that was made with other settings, unless it has no chunks."""
        existing = self.catalog().fingerprint()
        if existing is None:
            return
        try:
            build.check_fingerprint(existing, settings)
        except FingerprintMismatch:
            if self.catalog().has_chunks():
                raise

    def has_pages(self) -> bool:
        """Whether pages are indexed; creates nothing to find out."""
        return self._is_indexed() and not self.catalog().is_empty()

    def catalog(self) -> CatalogReader:
        """Return the catalog to read from; create one of our own if there is none."""
        external = self._open_readers()
        return external[1] if external else self.writable_catalog()

    def index(self) -> IndexReader:
        """Return the index to search; create one of our own if there is none."""
        external = self._open_readers()
        return external[0] if external else self.writable_index()

    @cached_property
    def _open_external(self) -> build.OpenReaders | None:
        """Opens, when called, the collection that another pipeline filled; None if the index is our own."""
        return build.external_readers(self.settings)

    def _open_readers(self) -> tuple[IndexReader, CatalogReader] | None:
        with self._opening:
            self._require_open()
            if self._external is None and self._open_external is not None:
                self._external = self._open_external(self.embedder())
            return self._external

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError("this Pertinent is closed; open a new one with Pertinent.open")

    def require_writable(self) -> None:
        """Raise SyncRefused if the settings name a collection that another pipeline filled."""
        if self._open_external is not None:
            raise SyncRefused(
                f"the collection {self.settings.qdrant_collection} was filled by another pipeline, and "
                "Pertinent never writes to it: change it with that pipeline, or set QDRANT_COLLECTION_NAME "
                "to another name for an index of your own"
            )

    def writable_catalog(self) -> Catalog:
        """Return the catalog of our own, created if there is none; raise SyncRefused for an external one."""
        with self._opening:
            self._require_open()
            self.require_writable()
            if self._catalog is None:
                self._catalog = build.open_catalog(self.settings)
            return self._catalog

    def writable_index(self) -> VectorIndex:
        """Return the index of our own, created if there is none; raise SyncRefused for an external one."""
        with self._opening:
            self.require_writable()
            if self._index is None:
                self._adopt_settings()
            if self._index is None:
                fingerprint = self.writable_catalog().fingerprint()
                if fingerprint is None:
                    fingerprint = self.builds.assign_number(self.make_fingerprint(self.embedder()))
                    self.writable_catalog().set_fingerprint(fingerprint)
                self._index, self._number = self._open_build(fingerprint), fingerprint.build
            return self._index

    def _open_build(self, fingerprint: Fingerprint) -> VectorIndex:
        """Open a build, created if it does not exist; raise IndexFailure if its chunks are lost."""
        opened = self.builds.open(fingerprint) if self.builds.has_build(fingerprint.build) else None
        is_lost = (
            self.catalog().has_chunks() if opened is None else not opened.count() and self._expects_chunks()
        )
        if is_lost:
            if opened is not None:
                opened.close()
            raise IndexFailure(explain_lost_chunks(self.settings))
        return self._check_commits(opened or self.builds.open(fingerprint), fingerprint)

    def _check_commits(self, opened: VectorIndex, fingerprint: Fingerprint) -> VectorIndex:
        """Return the build; close it and raise IndexOutdated if it lacks commits of the catalog."""
        if self._accept_outdated:
            return opened
        try:
            check_commits(opened, fingerprint, self.writable_catalog(), self.settings)
        except BaseException:
            opened.close()
            raise
        return opened

    def _adopt_settings(self) -> None:
        """Rebuild an index without chunks if the settings have changed; it has nothing to lose."""
        existing = self.catalog().fingerprint()
        if existing is None or self.catalog().has_chunks():
            return
        current = self.make_fingerprint(self.embedder())
        if build.has_same_settings(existing, current):
            return

        def refuse() -> None:
            """Refuse instead of waiting: another process may be filling the index with its own settings."""
            build.check_fingerprint(existing, current)

        with nullcontext() if self._writing.locked() else self.writable_catalog().write_lock(refuse):
            self.check_settings(current)
            reindex(self, NoProgress())
            drop_previous(self)

    def _expects_chunks(self) -> bool:
        """Whether the index must have chunks: those of pages that no interrupted run was writing."""
        interrupted = set(self.writable_catalog().pending())
        pages = self.catalog().pages()
        return any(page.chunks and page.document_id not in interrupted for page in pages)

    def _is_indexed(self) -> bool:
        """Whether something was indexed; creates nothing to find out."""
        if self._has_catalog():
            return self.catalog().fingerprint() is not None
        return self._open_external is not None

    def _has_catalog(self) -> bool:
        """Whether there is a catalog of our own."""
        if self._open_external is not None:
            return False
        return self.settings.database_url is not None or (self.settings.folder / build.CATALOG_FILE).exists()

    def read_texts(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """Return the text of each of the chunks that the index has; empty where its point is damaged."""
        point_ids = self.catalog().find_points(chunk_ids)
        points = self.index().chunks(list(point_ids.values()))
        return {
            chunk_id: stored.text if isinstance(stored := points[point], Chunk) else ""
            for chunk_id, point in point_ids.items()
            if point in points
        }

    def engine(self) -> Engine:
        """Return the search engine.

        Raises:
            NotFound: Nothing was ever indexed.
        """
        # Without the lock: another thread may hold it while it waits for a store.
        if (engine := self._engine) is not None:
            return engine
        with self._opening:
            if self._engine is None:
                self.require()
                cache_size = self.settings.query_cache
                self._engine = self.create_engine(self.embedder(), self.index(), cache_size)
            return self._engine

    def create_engine(
        self, embedder: Embedder, index: IndexReader, cache_size: int = 0, language: str | None = None
    ) -> Engine:
        """Create an engine with the workspace's catalog and settings; the index may have another language."""
        language = language or self.language()
        return Engine(
            embedder,
            index,
            self.catalog(),
            ranking=self.settings.ranking,
            cache_size=cache_size,
            language=language,
            is_word=build.word_test(language),
            catalog_timeout=build.choose_catalog_timeout(self.settings),
            reranking=self.reranking,
        )

    @property
    def reranking(self) -> Reranking | None:
        """The reranker of the settings, loaded when first needed; None if none is set."""
        return self._models.reranking()

    def create_indexer(self, progress: Progress, source: Source | None = None) -> Indexer:
        """Create the indexer that syncs sources; apply its plans inside `writing`.

        An index without chunks is made in the language of the source, unless the settings have one.
        """
        catalog = self.writable_catalog()
        if source is not None and self.settings.language is None and not catalog.has_chunks():
            self._source_language = source.language
            with self._opening:
                self._adopt_settings()
        self.close_replaced_build()
        index = self.writable_index()
        if (fingerprint := catalog.fingerprint()) is not None:
            # Again: since the index was opened, another process may have written to another one.
            check_commits(index, fingerprint, catalog, self.settings)
        return Indexer(
            self.embedder,
            index,
            catalog,
            self.settings.chunk_tokens,
            progress,
            language=None if self.settings.language else self.language(),
            spool_folder=self.spool_folder,
        )

    @property
    def spool_folder(self) -> Path | None:
        """The folder of the spool of a sync: beside the index, if it has a folder."""
        return self.settings.folder if os.access(self.settings.folder, os.W_OK) else None

    @contextmanager
    def writing(self, progress: Progress, *, new: bool = False, frees_space: bool = False) -> Iterator[None]:
        """Hold the write lock of the index, across threads and processes; wait until it is free.

        Args:
            progress: Receives the stage of waiting.
            new: Allow an index that does not exist yet.
            frees_space: Allow a disk that is nearly full.

        Raises:
            LockTimeout: Another process held the lock, or had the index open, longer than `lock_timeout`.
        """
        self.require_writable()
        if not new:
            self.require()
        if not frees_space:
            check_free_space(self.settings.folder)
        catalog, timeout = self.writable_catalog(), self.settings.lock_timeout
        with self._writing, hold_write_lock(catalog, self.builds, timeout, progress):
            yield
            self.builds.use_current()

    def close_replaced_build(self) -> None:
        """Stop using the open build if another process has replaced it; refuse one with other settings."""
        fingerprint = self.catalog().fingerprint() if self._has_catalog() else None
        if fingerprint is None:
            return
        self.check_settings(build.expected_fingerprint(self.settings, fingerprint))
        with self._opening:
            if self._index is not None and self._number != fingerprint.build:
                self.builds.previous[self._number] = self._index
                self._index, self._engine = None, None

    def activate(
        self, fingerprint: Fingerprint, opened: VectorIndex, embedder: Embedder | None = None
    ) -> None:
        """Search this build from now on; the embedder is loaded when needed if none is passed."""
        with self._opening:
            if self._index is not None:
                self.builds.previous[self._number] = self._index
            self._index, self._number = opened, fingerprint.build
            self._embedder, self._engine = embedder, None

    def remove_build(self, number: int) -> None:
        """Delete a build that is not in use."""
        with self._opening:
            self.builds.remove(number)

    def open_current_build(self) -> tuple[Fingerprint, VectorIndex | None]:
        """Return the fingerprint of the build in use, and open the build, if it can be used."""
        with self._opening:
            old = self.catalog().fingerprint()
            assert old is not None  # noqa: S101 - `require` checked it
            if self._index is None and self.builds.has_build(old.build):
                try:
                    opened = self.builds.open(old)
                    self._index, self._number = self._check_commits(opened, old), old.build
                except IndexLocked:
                    raise
                except IndexOutdated:
                    pass  # it is replaced
                except IndexFailure:
                    # A server may just be slow. A local build may be damaged, and is not needed; it stays,
                    # as the reason may also be a lack of memory or files.
                    if self.settings.qdrant_url is not None:
                        raise
            return old, self._index

    def require(self) -> None:
        """Raise NotFound if nothing was ever indexed; an index without chunks is fine."""
        if not self._is_indexed():
            lost_catalog = not self.builds.builds.is_empty()
            raise NotFound(explain_missing_index(self.settings, lost_catalog=lost_catalog))

    def close(self) -> None:
        """Close all that is open."""
        with self._opening:
            stores = (self.builds, self._index, self._catalog, *(self._external or ()))
            for store in stores:
                if store is not None:
                    store.close()
            if self._owns_models:
                self._models.close()
            self._index = self._catalog = self._engine = self._external = self._embedder = None
            self._closed = True
