"""The spool of a crawl: parsed pages on disk, until it is known whether they are to be indexed."""

from __future__ import annotations

import os
import tempfile
import weakref
from typing import NamedTuple

from ...errors import SourceError
from .parsing import ParsedPage, deserialize_page, serialize_page


class SpooledPage(NamedTuple):
    """Where a page is in the spool."""

    start: int
    length: int


class CrawlSpool:
    """A temporary file of parsed pages: all pages of a site together may be larger than the memory."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        self.close = weakref.finalize(self, self._file.close)

    def add(self, page: ParsedPage) -> SpooledPage:
        """Append a page. Raises SourceError if the disk is full."""
        data = serialize_page(page)
        try:
            start = self._file.seek(0, os.SEEK_END)
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise SourceError(
                f"crawled pages can't be written to disk: {error.strerror or error}; free space, or set "
                "TMPDIR; nothing was changed"
            ) from error
        return SpooledPage(start, len(data))

    def read(self, spooled: SpooledPage) -> ParsedPage:
        """Read a page. Raises SourceError if the file is damaged."""
        self._file.seek(spooled.start)
        page = deserialize_page(self._file.read(spooled.length))
        if page is None:
            raise SourceError("the temporary file with crawled pages is damaged; nothing was changed")
        return page
