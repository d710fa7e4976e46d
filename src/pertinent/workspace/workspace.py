"""The parts that the settings name, put together: what a process opens, keeps and gives back."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property

from .. import build
from .._internal.disk import refuse_full
from .._internal.progress import Progress, Silent
from ..errors import (
    FingerprintMismatch,
    IndexFailure,
    IndexLocked,
    NotFound,
    PertinentError,
    StoreError,
    SyncRefused,
)
from ..indexing.sync import Indexer
from ..ports import Catalog, CatalogReader, Embedder, Fingerprint, IndexReader, PageWrite, VectorIndex
from ..search.engine import Engine
from ..settings import Settings
from .builds import Succession

_LOOKS, _LOOK_SECONDS = 50, 0.1

Accept = Callable[[Engine, Sequence[tuple[str, PageWrite]], Fingerprint], None]
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
        self._external: tuple[IndexReader, CatalogReader] | None = None
        self._number = 0
        """Which build the open index is."""
        self._builds = build.builds(settings, lambda: self.writable_catalog().catalog_id())
        self._succession = Succession(
            self._builds, self.writable_catalog, remote=settings.qdrant_url is not None
        )
        self._closed = False
        self._writing = threading.Lock()

    def embedder(self) -> Embedder:
        """The embedder, checked against what the index was made with."""
        with self._opening:
            if self._embedder is None:
                embedder = build.embedder(self.settings)
                if self._has_catalog():
                    self.check_settings(build.fingerprint(self.settings, embedder))
                self._embedder = embedder
            return self._embedder

    def check_settings(self, wanted: Fingerprint) -> None:
        """Refuse an index that was made with other settings; one without chunks takes any."""
        existing = self.catalog().fingerprint()
        if existing is None:
            return
        try:
            build.check_fingerprint(existing, wanted)
        except FingerprintMismatch:
            if self.catalog().has_chunks():
                raise

    def has_pages(self) -> bool:
        """Whether pages are indexed; creates nothing to find out."""
        return self._is_indexed() and not self.catalog().is_empty()

    def catalog(self) -> CatalogReader:
        """The catalog to read from; one of our own is created where there is none."""
        external = self._open_readers()
        return external[1] if external else self.writable_catalog()

    def index(self) -> IndexReader:
        """The index to search; one of our own is created where there is none."""
        external = self._open_readers()
        return external[0] if external else self.writable_index()

    @cached_property
    def _open_external(self) -> build.OpenReaders | None:
        """Opens the collection that another pipeline filled; None if the index is our own."""
        return build.external_readers(self.settings)

    def _open_readers(self) -> tuple[IndexReader, CatalogReader] | None:
        with self._opening:
            self._require_open()
            if self._external is None and self._open_external is not None:
                self._external = self._open_external(self.embedder())
            return self._external

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError("this was closed; open it again with Pertinent.open")

    def require_writable(self) -> None:
        """Raise SyncRefused if the settings name a collection that another pipeline filled."""
        if self._open_external is not None:
            raise SyncRefused(
                f"the collection {self.settings.qdrant_collection} was filled by another pipeline, and "
                "Pertinent never writes to it: change it with that pipeline, or set QDRANT_COLLECTION_NAME "
                "to another name for an index of your own"
            )

    def writable_catalog(self) -> Catalog:
        """The catalog of our own, created where there is none; SyncRefused for an external collection."""
        with self._opening:
            self._require_open()
            self.require_writable()
            if self._catalog is None:
                self._catalog = build.catalog(self.settings)
            return self._catalog

    def writable_index(self) -> VectorIndex:
        """The index of our own, created where there is none; SyncRefused for an external collection."""
        with self._opening:
            self.require_writable()
            if self._index is None:
                self._adopt_settings()
            if self._index is None:
                found = self.writable_catalog().fingerprint()
                if found is None:
                    found = build.fingerprint(self.settings, self.embedder())
                    self.writable_catalog().set_fingerprint(found)
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

    def _adopt_settings(self) -> None:
        """Rebuild an index without chunks where the settings have changed: it has nothing to lose."""
        existing = self.catalog().fingerprint()
        if existing is None or self.catalog().has_chunks():
            return
        wanted = build.fingerprint(self.settings, self.embedder())
        if build.same_settings(existing, wanted):
            return

        def refuse() -> None:
            """Another process may be about to fill the index with its own settings."""
            build.check_fingerprint(existing, wanted)

        with nullcontext() if self._writing.locked() else self.writable_catalog().write_lock(refuse):
            self.check_settings(wanted)
            self.reindex(Silent())
            self.drop_old()

    def _expects_chunks(self) -> bool:
        broken_off = set(self.writable_catalog().pending())
        pages = self.catalog().pages()
        return any(page.chunks and page.document_id not in broken_off for page in pages)

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
        """The text of each of the chunks that exists."""
        chunks = map(self.catalog().chunk, chunk_ids)
        return {chunk.chunk_id: chunk.text for chunk in chunks if chunk is not None}

    def engine(self) -> Engine:
        """What answers queries; refused where nothing was ever indexed."""
        with self._opening:
            if self._engine is None:
                self.require()
                self._engine = Engine(
                    self.embedder(),
                    self.index(),
                    self.catalog(),
                    ranking=self.settings.ranking,
                    cache_size=self.settings.query_cache,
                )
            return self._engine

    def indexer(self, progress: Progress) -> Indexer:
        """What syncs sources; to apply its plans, be `writing`."""
        catalog = self.writable_catalog()
        if found := catalog.fingerprint():
            self.check_settings(build.without_loading(self.settings, found))
            self._follow(found)
        return Indexer(self.embedder, self.writable_index(), catalog, self.settings.chunk_tokens, progress)

    @contextmanager
    def writing(self, progress: Progress, *, new: bool = False) -> Iterator[None]:
        """Nobody else writes meanwhile, in this process or another; whoever does is waited for.

        Where nothing is indexed yet it is refused, unless that is to be made.
        """
        told = False

        def waiting() -> None:
            nonlocal told
            if not told:
                progress.stage("Waiting for another process that writes to this index", None)
                told = True
            progress.advance(0)

        self.require_writable()
        if not new:
            self.require()
        refuse_full(self.settings.folder)
        with self._writing, self.writable_catalog().write_lock(waiting):
            if told:
                self._await_index()
            yield

    def _await_index(self) -> None:
        """An embedded index is given back when the process ends that wrote to it, a moment after its turn."""
        for _ in range(_LOOKS):
            try:
                self.index()
            except IndexLocked:
                time.sleep(_LOOK_SECONDS)
            except PertinentError:
                return  # whoever needs it will say so
            else:
                return

    def _follow(self, found: Fingerprint) -> None:
        """Go on with the build that the catalog names, where another process has made it anew."""
        with self._opening:
            if self._index is not None and self._number != found.build:
                self._succession.retired[self._number] = self._index
                self._index, self._engine = None, None

    def reindex(self, progress: Progress, accept: Accept | None = None) -> int:
        """Build the index anew beside the old one with the present settings, then take it; counts chunks.

        The texts come from the catalog. The old build answers, and keeps other processes out, until the
        catalog records the swap; then it is kept to go back to. `accept` may look at the new build before
        it is taken, and refuse it with SyncRefused. One that broke off is kept, and the next with the same
        settings goes on with it.
        """
        self.require()
        catalog, old = self.writable_catalog(), self._held_build()
        made_by = self._embedder or build.embedder(self.settings)
        new, fresh = self._succession.begin(build.fingerprint(self.settings, made_by))
        indexer = Indexer(lambda: made_by, fresh, catalog, self.settings.chunk_tokens, progress)
        try:
            rebuilt = indexer.rebuild()
            if accept is not None:
                engine = Engine(made_by, fresh, catalog, ranking=self.settings.ranking)
                accept(engine, rebuilt, old)
            catalog.activate_build(new, rebuilt)
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
        self.require()
        catalog = self.writable_catalog()
        present, before = catalog.fingerprint(), catalog.previous()
        if before is None or present is None or before.build not in self._builds.numbers():
            raise NotFound("there is no build to go back to; `pertinent reindex` keeps the one it replaces")
        self._held_build()
        old = self._succession.open(before)
        kept = self._succession.recorded(old)
        if not kept:
            old.close()
            raise NotFound("the build to go back to has none of the pages that are indexed now")
        catalog.begin([write.page.document_id for _, write in kept])
        catalog.activate_build(before, kept)
        self._take(before, old)
        return before

    def to_set(self) -> list[str]:
        """What the settings must say for the index in use, where they say something else."""
        found = self.catalog().fingerprint()
        if found is None:
            return []
        wanted = build.without_loading(self.settings, found)
        tokens = re.search(r"tokens=(\d+)", found.chunker)
        lines = {
            f'embedder = "{found.embedder}"': found.embedder != wanted.embedder,
            f"chunk_tokens = {tokens[1] if tokens else ''}": found.chunker != wanted.chunker,
        }
        return [line for line, differs in lines.items() if differs]

    def drop_old(self) -> int | None:
        """Remove the build before the one in use; its number, or None where there is none."""
        before = self.writable_catalog().previous()
        if before is None:
            return None
        with self._opening:
            self._succession.remove(before.build)
        self.writable_catalog().forget_previous()
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
        """Refuse to go on where nothing was ever indexed; an index without chunks is an index."""
        if not self._is_indexed():
            raise NotFound(
                f"nothing is indexed in {self.settings.folder} yet; `pertinent index PATH` does that"
            )

    def close(self) -> None:
        """Close whatever was opened."""
        with self._opening:
            for part in (self._succession, self._index, self._catalog, *(self._external or ())):
                if part is not None:
                    part.close()
            # A hosted model holds connections; a local one holds nothing.
            getattr(self._embedder, "close", lambda: None)()
            self._index = self._catalog = self._engine = self._external = None
            self._closed = True
