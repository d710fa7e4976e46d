"""Settings to parts: the only place where an adapter is chosen."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path

from .chunking import CHUNKER_VERSION
from .engine import Engine
from .errors import FingerprintMismatch, IndexFailure, NotFound, SettingsError
from .indexing import Indexer, Progress
from .ports import Catalog, Embedder, Fingerprint, VectorIndex
from .settings import Settings

CATALOG_FILE = "catalog.sqlite3"
INDEX_FOLDER = "index"


def embedder(settings: Settings) -> Embedder:
    """The embedder that `provider:model` names."""
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
    settings.folder.mkdir(parents=True, exist_ok=True)
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

    def embedder(self) -> Embedder:
        """The embedder, checked against what the index was made with."""
        with self._opening:
            if self._embedder is None:
                made = embedder(self.settings)
                if found := self.catalog().fingerprint():
                    check_fingerprint(found, fingerprint(self.settings, made))
                self._embedder = made
            return self._embedder

    def catalog(self) -> Catalog:
        """The catalog, made where there is none."""
        with self._opening:
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
        catalog = self.catalog()
        return not catalog.pending() and any(page.chunks for page in catalog.pages())

    def engine(self) -> Engine:
        """What answers queries; refused where nothing was indexed yet."""
        with self._opening:
            if self._engine is None:
                self.require()
                self._engine = Engine(self.embedder(), self.index(), self.catalog())
            return self._engine

    def indexer(self, progress: Progress) -> Indexer:
        """What syncs sources."""
        if found := self.catalog().fingerprint():
            check_fingerprint(found, _without_loading(self.settings, found))
        return Indexer(self.embedder, self.index(), self.catalog(), self.settings.chunk_tokens, progress)

    def reindex(self, progress: Progress) -> int:
        """Build the index anew beside the old one with the present settings, then take it; counts chunks.

        The texts come from the catalog. Until the catalog records the swap the old build is in use;
        one that was broken off is made again from its beginning.
        """
        with self._opening:
            self.require()
            old = self.catalog().fingerprint()
            made_by = self._embedder or embedder(self.settings)
            new = replace(fingerprint(self.settings, made_by), build=old.build + 1 if old else 1)
            folder = _build_folder(self.settings, new)
            shutil.rmtree(folder, ignore_errors=True)
            fresh = index(self.settings, new)
            try:
                indexer = Indexer(
                    lambda: made_by, fresh, self.catalog(), self.settings.chunk_tokens, progress
                )
                self.catalog().swap(new, indexer.rebuild())
            except BaseException:
                fresh.close()
                raise
            if self._index is not None:
                self._index.close()
            self._index, self._embedder, self._engine = fresh, made_by, None
            if old is not None:
                shutil.rmtree(_build_folder(self.settings, old), ignore_errors=True)
            return fresh.count()

    def require(self) -> None:
        """Refuse to go on where nothing was ever indexed: that is no empty answer."""
        local = self.settings.database_url is None
        if (local and not (self.settings.folder / CATALOG_FILE).exists()) or not self.catalog().fingerprint():
            raise NotFound(
                f"nothing is indexed in {self.settings.folder} yet; `pertinent index PATH` does that"
            )

    def close(self) -> None:
        """Close whatever was opened."""
        with self._opening:
            for part in (self._index, self._catalog):
                if part is not None:
                    part.close()
            self._index = self._catalog = self._engine = None


def fingerprint(settings: Settings, made_by: Embedder) -> Fingerprint:
    """What an index made now would carry."""
    from .stores import lexical

    return Fingerprint(made_by.name, made_by.dimension, _chunker(settings), lexical.SETTINGS)


def _chunker(settings: Settings) -> str:
    return f"structure-{CHUNKER_VERSION} tokens={settings.chunk_tokens}"


def _without_loading(settings: Settings, found: Fingerprint) -> Fingerprint:
    """The fingerprint as far as the settings tell it: a run that embeds nothing need not load the model."""
    name = found.embedder if settings.embedder.startswith("onnx:") else settings.embedder
    return replace(found, embedder=name, chunker=_chunker(settings))


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
