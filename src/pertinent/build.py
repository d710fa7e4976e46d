"""Settings to parts: the only place where an adapter is chosen."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path

from .chunking import CHUNKER_VERSION
from .engine import Engine
from .errors import FingerprintMismatch, IndexFailure, IndexLocked, NotFound, SettingsError, StoreError
from .indexing import Indexer, Progress
from .ports import Catalog, Embedder, Fingerprint, VectorIndex
from .settings import Settings

CATALOG_FILE = "catalog.sqlite3"
INDEX_FOLDER = "index"
DISK_RESERVE = 100 * 2**20
"""How much must be free on the disk before anything is written."""


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
    from .embedders.local import MINILM, LocalEmbedder

    if provider == "onnx":
        return LocalEmbedder.folder(Path(model).expanduser().resolve())
    if model != MINILM:
        raise SettingsError(f"embedder: the local model is local:{MINILM}; onnx:FOLDER loads any other")
    return LocalEmbedder.minilm()


def catalog(settings: Settings) -> Catalog:
    """The catalog: PostgreSQL where an address is set, or SQLite in the folder."""
    from .stores.catalog import SqlCatalog

    if settings.database_url is not None:
        return SqlCatalog.open(settings.database_url.get_secret_value())
    return SqlCatalog.open(f"sqlite:///{(settings.folder / CATALOG_FILE).resolve()}")


def index(settings: Settings, made_with: Fingerprint) -> VectorIndex:
    """The build of the vector index that the fingerprint names."""
    from .stores.edge import EdgeIndex

    return EdgeIndex.open(_build_folder(settings, made_with), made_with.dimension)


def _build_folder(settings: Settings, made_with: Fingerprint) -> Path:
    return settings.folder.resolve() / INDEX_FOLDER / f"{made_with.build:03}"


class Workspace:
    """The parts that the settings name, each opened when it is first needed and then kept."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._opening = threading.RLock()
        self._embedder: Embedder | None = None
        self._catalog: Catalog | None = None
        self._index: VectorIndex | None = None
        self._engine: Engine | None = None
        self._retired: list[VectorIndex] = []
        self._closed = False

    def embedder(self) -> Embedder:
        """The embedder, checked against what the index was made with."""
        with self._opening:
            if self._embedder is None:
                made = embedder(self.settings)
                if self._has_catalog() and (found := self.catalog().fingerprint()):
                    check_fingerprint(found, fingerprint(self.settings, made))
                self._embedder = made
            return self._embedder

    def catalog(self) -> Catalog:
        """The catalog, made where there is none."""
        with self._opening:
            if self._closed:
                raise StoreError("this was closed; open it again with Pertinent.open")
            if self._catalog is None:
                self._catalog = catalog(self.settings)
            return self._catalog

    def index(self) -> VectorIndex:
        """The index, made where there is none."""
        with self._opening:
            if self._index is None:
                found = self.catalog().fingerprint()
                if found is None:
                    found = fingerprint(self.settings, self.embedder())
                    self.catalog().set_fingerprint(found)
                opened = index(self.settings, found)
                if not opened.count() and self._expects_chunks():
                    opened.close()
                    raise IndexFailure(
                        f"the index in {self.settings.folder} is empty, but the catalog has pages; "
                        "`pertinent reindex` makes it anew from the texts in the catalog"
                    )
                self._index = opened
            return self._index

    def _expects_chunks(self) -> bool:
        broken_off = set(self.catalog().pending())
        pages = self.catalog().pages()
        return any(page.chunks and page.document_id not in broken_off for page in pages)

    def _has_catalog(self) -> bool:
        return self.settings.database_url is not None or (self.settings.folder / CATALOG_FILE).exists()

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
        self._refuse_full_disk()
        if found := self.catalog().fingerprint():
            check_fingerprint(found, _without_loading(self.settings, found))
        return Indexer(self.embedder, self.index(), self.catalog(), self.settings.chunk_tokens, progress)

    def _refuse_full_disk(self) -> None:
        """The index is mapped into memory: a disk that fills up would end the process without a word."""
        place = next(
            one for one in (self.settings.folder, *self.settings.folder.resolve().parents) if one.exists()
        )
        free = shutil.disk_usage(place).free
        if free < DISK_RESERVE:
            raise IndexFailure(
                f"only {free // 2**20} MB are free in {self.settings.folder}; make room for at least "
                f"{DISK_RESERVE // 2**20} MB, or choose another --folder"
            )

    def reindex(self, progress: Progress) -> int:
        """Build the index anew beside the old one with the present settings, then take it; counts chunks.

        The texts come from the catalog. The old build answers, and keeps other processes out, until the
        catalog records the swap; searches that are under way then end on it. A build that was broken
        off is made again from its beginning.
        """
        self.require()
        old = self._held_build()
        made_by = self._embedder or embedder(self.settings)
        new = replace(fingerprint(self.settings, made_by), build=old.build + 1)
        folder = _build_folder(self.settings, new)
        if folder.exists():
            shutil.rmtree(folder)
        fresh = index(self.settings, new)
        indexer = Indexer(lambda: made_by, fresh, self.catalog(), self.settings.chunk_tokens, progress)
        try:
            self.catalog().swap(new, indexer.rebuild())
        except BaseException:
            fresh.close()
            raise
        with self._opening:
            if self._index is not None:
                self._retired.append(self._index)
            self._index, self._embedder, self._engine = fresh, made_by, None
        self._sweep(new)
        return fresh.count()

    def _held_build(self) -> Fingerprint:
        """What the index in use was made with; it is opened, whatever its state, to keep others out."""
        with self._opening:
            old = self.catalog().fingerprint()
            assert old is not None  # noqa: S101 - `require` has seen it
            if self._index is None:
                try:
                    self._index = index(self.settings, old)
                except IndexLocked:
                    raise
                except IndexFailure:
                    # Damaged: nobody can have it open.
                    shutil.rmtree(_build_folder(self.settings, old), ignore_errors=True)
            return old

    def _sweep(self, in_use: Fingerprint) -> None:
        """Remove the folders of all other builds; whoever still reads one has its files open."""
        kept = _build_folder(self.settings, in_use)
        for folder in kept.parent.iterdir():
            if folder != kept:
                shutil.rmtree(folder, ignore_errors=True)

    def require(self) -> None:
        """Refuse to go on where nothing was ever indexed: that is no empty answer."""
        if not self._has_catalog() or not self.catalog().fingerprint() or not self.catalog().pages():
            raise NotFound(
                f"nothing is indexed in {self.settings.folder} yet; `pertinent index PATH` does that"
            )

    def close(self) -> None:
        """Close whatever was opened."""
        with self._opening:
            for part in (*self._retired, self._index, self._catalog):
                if part is not None:
                    part.close()
            self._index = self._catalog = self._engine = None
            self._retired.clear()
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
