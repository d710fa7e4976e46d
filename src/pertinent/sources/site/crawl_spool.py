"""The spool of a crawl: parsed pages on disk, until it is known whether they are to be indexed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from ..._internal.spool_file import SpoolFile
from ...errors import SourceError
from .parsing import ParsedPage, deserialize_page, serialize_page


class SpooledPage(NamedTuple):
    """Where a page is in the spool."""

    start: int
    length: int


class CrawlSpool:
    """A temporary file of parsed pages: all pages of a site together may be larger than the memory.

    It is on the disk of the `folder`; None is the system's folder for temporary files.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._file = SpoolFile(folder, "crawled pages", SourceError)
        self.close = self._file.close

    def add(self, page: ParsedPage) -> SpooledPage:
        """Append a page. Raises SourceError if the disk is full."""
        data = serialize_page(page)
        with self._file.use() as file:
            start = file.seek(0, os.SEEK_END)
            file.write(data)
        return SpooledPage(start, len(data))

    def read(self, spooled: SpooledPage) -> ParsedPage:
        """Read a page. Raises SourceError if the file is damaged."""
        with self._file.use() as file:
            file.seek(spooled.start)
            page = deserialize_page(file.read(spooled.length))
        if page is None:
            raise SourceError("the temporary file with crawled pages is damaged; nothing was changed")
        return page
