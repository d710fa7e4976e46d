"""The words of the book in memory, read again after the catalog has changed."""

from __future__ import annotations

import threading
import time

from ..errors import CatalogFailure
from ..ports import CatalogReader
from ..types import Vocabulary
from .book_words import BookWords
from .terms import Analyzer

CHECK_SECONDS = 1.0
"""How long the words are used before the catalog is asked whether they have changed."""

NO_VOCABULARY = Vocabulary({}, 0)


class BookWordsCache:
    """Loads the words of a catalog, and loads them again when its version has changed. Thread-safe."""

    def __init__(self, catalog: CatalogReader, language: str) -> None:
        self._catalog = catalog
        self.analyzer = Analyzer(language)
        self._lock = threading.Lock()
        self._version: int | None = None
        self._checked = float("-inf")
        self._words = BookWords(NO_VOCABULARY, (), self.analyzer)

    def load(self) -> BookWords:
        """Return the words; those read last while the catalog does not answer."""
        with self._lock:
            if time.monotonic() - self._checked < CHECK_SECONDS:
                return self._words
            try:
                version = self._catalog.vocabulary_version()
                if version != self._version:
                    vocabulary, sections = self._catalog.vocabulary(), self._catalog.section_names()
                    self._words = BookWords(vocabulary, sections, self.analyzer)
                    self._version = version
            except CatalogFailure:
                pass
            self._checked = time.monotonic()
            return self._words
