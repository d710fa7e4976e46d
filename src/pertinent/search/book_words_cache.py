"""The words of the book in memory, read again after the catalog has changed."""

from __future__ import annotations

import threading
import time

from ..errors import CatalogFailure
from ..ports import CatalogReader
from ..types import SectionName, Vocabulary
from .book_words import BookWords
from .terms import Analyzer

CHECK_SECONDS = 1.0
"""How long the words are used before the catalog is asked whether they have changed."""

MAX_CHUNKS_INLINE = 20_000
"""A larger book is read again in the background, and searches use the earlier words meanwhile."""

MAX_CHUNKS_WITH_SECTIONS = 100_000
"""A larger book is known by the names of its pages alone: names of sections would take too much memory."""

MAX_PAGE_NAMES = 100_000
"""How many page names are used of a book that is known by these alone."""

NO_VOCABULARY = Vocabulary({}, 0)


class BookWordsCache:
    """Loads the words of a catalog, and loads them again when its version has changed. Thread-safe."""

    def __init__(self, catalog: CatalogReader, language: str) -> None:
        self._catalog = catalog
        self.analyzer = Analyzer(language)
        self._lock = threading.Lock()
        self._version: int | None = None
        self._checked = float("-inf")
        self._reloading = False
        self._words = BookWords(NO_VOCABULARY, (), self.analyzer)

    def load(self) -> BookWords:
        """Return the words; those read last while the catalog does not answer or a large book is read."""
        with self._lock:
            if time.monotonic() - self._checked < CHECK_SECONDS:
                return self._words
            try:
                version = self._catalog.vocabulary_version()
                if version != self._version:
                    if self._words.vocabulary.chunks <= MAX_CHUNKS_INLINE:
                        self._words, self._version = self._read(), version
                    elif not self._reloading:
                        self._reloading = True
                        threading.Thread(target=self._reload, args=(version,), daemon=True).start()
            except CatalogFailure:
                pass
            self._checked = time.monotonic()
            return self._words

    def _reload(self, version: int) -> None:
        """Read the words without keeping searches waiting."""
        try:
            words = self._read()
            with self._lock:
                self._words, self._version = words, version
        except CatalogFailure:
            pass
        finally:
            self._reloading = False

    def _read(self) -> BookWords:
        vocabulary = self._catalog.vocabulary()
        if vocabulary.chunks <= MAX_CHUNKS_WITH_SECTIONS:
            names = self._catalog.section_names()
        else:
            records = self._catalog.pages()[:MAX_PAGE_NAMES]
            names = [SectionName(page.document_id, page.url, "", page.title, "") for page in records]
        words = BookWords(vocabulary, names, self.analyzer)
        words.prepare()
        return words
