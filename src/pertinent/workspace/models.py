"""The models that the settings name: loaded when first needed, kept loaded, closed together."""

from __future__ import annotations

import threading

from .. import build
from ..ports import Embedder
from ..search.reranking import Reranking
from ..settings import Settings


class Models:
    """The embedder and the reranker, which several workspaces may use one after the other. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loading = threading.Lock()
        self._embedder: Embedder | None = None
        self._reranking: Reranking | None = None

    def embedder(self) -> Embedder:
        """Return the embedder of the settings, whether or not it fits the index."""
        with self._loading:
            if self._embedder is None:
                self._embedder = build.create_embedder(self._settings)
            return self._embedder

    def reranking(self) -> Reranking | None:
        """Return the reranker of the settings; None if none is set."""
        with self._loading:
            if self._reranking is None:
                self._reranking = build.create_reranking(self._settings)
            return self._reranking

    def close(self) -> None:
        """Close the connections of hosted models, and unload local ones, which take much memory."""
        with self._loading:
            # Only a hosted embedder has connections to close.
            getattr(self._embedder, "close", lambda: None)()
            if self._reranking is not None:
                self._reranking.reranker.close()
            self._embedder = self._reranking = None
