"""The parts that the settings name, put together: what a process opens, keeps and gives back."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

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
from ..ports import Catalog, Embedder, Fingerprint, VectorIndex, Written
from ..search.engine import Engine
from ..settings import Settings
from .builds import Succession

_LOOKS, _LOOK_SECONDS = 50, 0.1

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
        self._builds = build.builds(settings, lambda: self.catalog().catalog_id())
        self._succession = Succession(self._builds, self.catalog, remote=settings.qdrant_url is not None)
        self._closed = False
        self._writing = threading.Lock()

    def embedder(self) -> Embedder:
        """The embedder, checked against what the index was made with."""
        with self._opening:
            if self._embedder is None:
                embedder = build.embedder(self.settings)
                if not self.is_foreign and self._has_catalog():
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
            if self._has_chunks():
                raise

    def _has_chunks(self) -> bool:
        return any(page.chunks for page in self.catalog().pages())

    def has_pages(self) -> bool:
        """Whether pages are indexed; nothing is created to find that out."""
        return self.is_foreign or (self._has_catalog() and bool(self.catalog().pages()))

    def catalog(self) -> Catalog:
        """The catalog, made where there is none."""
        with self._opening:
            if self._closed:
                raise StoreError("this was closed; open it again with Pertinent.open")
            if self._catalog is None and self.is_foreign:
                self._open_foreign()
            if self._catalog is None:
                self._catalog = build.catalog(self.settings)
            return self._catalog

    @property
    def is_foreign(self) -> bool:
        """Whether the collection is one that another pipeline filled: it is read, and never written to."""
        with self._opening:
            if self._foreign is None:
                self._foreign = self.settings.qdrant_url is not None and build.foreign(self.settings).exists()
            return self._foreign

    def _open_foreign(self) -> None:
        self._index, self._catalog = build.foreign(self.settings).open(self.embedder())

    def _refuse_foreign(self) -> None:
        if self.is_foreign:
            build.foreign(self.settings).refuse()

    def index(self) -> VectorIndex:
        """The index, made where there is none."""
        with self._opening:
            if self._index is None and self.is_foreign:
                self._open_foreign()
            if self._index is None:
                self._adopt_settings()
            if self._index is None:
                found = self.catalog().fingerprint()
                if found is None:
                    found = build.fingerprint(self.settings, self.embedder())
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

    def _adopt_settings(self) -> None:
        """Rebuild an index without chunks where the settings have changed: it has nothing to lose."""
        existing = self.catalog().fingerprint()
        if existing is None or self._has_chunks():
            return
        wanted = build.fingerprint(self.settings, self.embedder())
        if build.same_settings(existing, wanted):
            return

        def refuse() -> None:
            """Another process may be about to fill the index with its own settings."""
            build.check_fingerprint(existing, wanted)

        with nullcontext() if self._writing.locked() else self.catalog().write_lock(refuse):
            self.check_settings(wanted)
            self.reindex(Silent())
            self.drop_old()

    def _expects_chunks(self) -> bool:
        broken_off = set(self.catalog().pending())
        pages = self.catalog().pages()
        return any(page.chunks and page.document_id not in broken_off for page in pages)

    def _has_catalog(self) -> bool:
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
        self._refuse_foreign()
        if found := self.catalog().fingerprint():
            self.check_settings(build.without_loading(self.settings, found))
            self._follow(found)
        return Indexer(self.embedder, self.index(), self.catalog(), self.settings.chunk_tokens, progress)

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

        self._refuse_foreign()
        if not new:
            self.require()
        refuse_full(self.settings.folder)
        with self._writing, self.catalog().write_lock(waiting):
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
        self._refuse_foreign()
        self.require()
        old = self._held_build()
        made_by = self._embedder or build.embedder(self.settings)
        new, fresh = self._succession.begin(build.fingerprint(self.settings, made_by))
        indexer = Indexer(lambda: made_by, fresh, self.catalog(), self.settings.chunk_tokens, progress)
        try:
            rebuilt = indexer.rebuild()
            if accept is not None:
                engine = Engine(made_by, fresh, self.catalog(), ranking=self.settings.ranking)
                accept(engine, rebuilt, old)
            self.catalog().activate_build(new, rebuilt)
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
            raise NotFound("the build to go back to has none of the pages that are indexed now")
        self.catalog().begin([page.document_id for _, (page, _, _) in kept])
        self.catalog().activate_build(before, kept)
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
        """Refuse to go on where nothing was ever indexed; an index without chunks is an index."""
        if self.is_foreign:
            return
        if not self._has_catalog() or not self.catalog().fingerprint():
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
