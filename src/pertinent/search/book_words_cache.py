"""The words of the book in memory, read again after the catalog has changed."""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from ..errors import CatalogFailure
from ..ports import CatalogReader
from ..types import SectionName, Vocabulary
from .book_words import BookWords
from .terms import Analyzer

CHECK_SECONDS = 1.0
"""How long the words are used before the catalog is asked whether they have changed."""

MAX_CHUNKS_WITH_SECTIONS = 100_000
"""A larger book is known by the names of its pages alone: names of sections would take too much memory."""

MAX_PAGE_NAMES = 100_000
"""How many page names are used of a book that is known by these alone."""

MAX_WAIT_SECONDS = 1.0
"""How long searches wait for new words before they use the old ones."""

NO_VOCABULARY = Vocabulary({}, 0)


class BookWordsCache:
    """Loads the words of a catalog, and loads them again when its version has changed. Thread-safe.

    A separate thread reads the catalog. While the catalog does not answer, searches use the words read last.
    """

    def __init__(self, catalog: CatalogReader, language: str) -> None:
        self._catalog = catalog
        self.analyzer = Analyzer(language)
        self.is_outdated = False
        """Whether the words in memory are not those of the catalog, because they could not be read."""
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="book-words")
        self._refresh: Future[None] | None = None
        self._refresh_began = 0.0
        self._version: int | None = None
        self._index_version: int | None = None
        self._checked = -math.inf
        self._words = BookWords(NO_VOCABULARY, (), self.analyzer)

    def load(self, index_version: int | None = None) -> BookWords:
        """Return the words; the previous ones while the catalog is silent or a large book is loading.

        Args:
            index_version: The version of the index, whose change means that the words may have changed.
        """
        with self._lock:
            refresh = self._start_refresh_if_due(index_version)
            if refresh is None:
                return self._words
            # Without any words, searches would rank otherwise.
            has_words = self._checked > -math.inf
            wait = self._refresh_began + MAX_WAIT_SECONDS - time.monotonic() if has_words else None
        with suppress(TimeoutError):
            refresh.result(wait)
        return self._words

    def get_cached(self, index_version: int | None = None) -> BookWords:
        """Return the words read last, without waiting for new ones."""
        with self._lock:
            self._start_refresh_if_due(index_version)
            return self._words

    def _start_refresh_if_due(self, index_version: int | None) -> Future[None] | None:
        """Return the running refresh, or start one if it is due; None if the words are fresh."""
        now = time.monotonic()
        if self._refresh is None or self._refresh.done():
            if index_version == self._index_version and now - self._checked < CHECK_SECONDS:
                return None
            self._index_version = index_version
            self._refresh, self._refresh_began = self._thread.submit(self._refresh_words), now
        return self._refresh

    def _refresh_words(self) -> None:
        # A catalog that does not answer may be down for a moment: its words are those read last.
        is_outdated = self._version is None
        with suppress(CatalogFailure):
            version = self._catalog.vocabulary_version()
            is_outdated = version != self._version
            if is_outdated:
                self._words, self._version, is_outdated = self._read(), version, False
        self.is_outdated = is_outdated
        self._checked = time.monotonic()

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
