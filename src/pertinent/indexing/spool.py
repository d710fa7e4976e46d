"""The spool: a temporary file of changed pages, so that a sync of any size needs little memory.

A plan writes each changed page to the spool with its chunks, and keeps only its position. The spool is a
file without a name: it disappears with the process, however that ends.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import IndexFailure
from ..types import Chunk, FrontMatter, Page

_OFFSET_BYTES = 8
"""The offsets before each page: where its text and its chunks begin, so that these can be read alone."""

_PART_CHARACTERS = 2**20
"""How much of a text is encoded at a time."""


class PlannedChunk(NamedTuple):
    """A chunk of a changed page, and whether the index has no vector for it yet."""

    chunk: Chunk
    front_matter: FrontMatter
    """That of the page, which is searched with its first chunk."""
    embedding_key: str
    to_embed: bool


class PageSpool:
    """A file of pages, each followed by its text, and its chunks in batches.

    It is written once, and read any number of times.

    Args:
        folder: The folder whose disk holds the file; None is the system's folder for temporary files,
            which may be in memory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        with _translate_errors():
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - `close` closes it
        self.close = weakref.finalize(self, self._file.close)

    def write(self, page: Page, batches: Iterable[Sequence[PlannedChunk]]) -> int:
        """Append a page and its chunks; return the position to read them from."""
        position = self._file.seek(0, os.SEEK_END)
        self._write(bytes(2 * _OFFSET_BYTES))
        self._dump(replace(page, text=""))
        text_offset = self._file.tell()
        # In parts, and not pickled: that would keep a copy of a large text.
        for start in range(0, len(page.text), _PART_CHARACTERS):
            self._write(page.text[start : start + _PART_CHARACTERS].encode())
        chunks_offset = self._file.tell()
        self._file.seek(position)
        self._write(text_offset.to_bytes(_OFFSET_BYTES) + chunks_offset.to_bytes(_OFFSET_BYTES))
        self._file.seek(chunks_offset)
        for batch in batches:
            if batch:
                self._dump(tuple(batch))
        self._dump(())
        return position

    def read_page(self, position: int) -> Page:
        """Read the page at a position."""
        text_offset, chunks_offset = self._read_offsets(position)
        page: Page = self._load(position + 2 * _OFFSET_BYTES)[0]
        self._file.seek(text_offset)
        return replace(page, text=self._file.read(chunks_offset - text_offset).decode())

    def read_chunks(self, position: int) -> Iterator[Sequence[PlannedChunk]]:
        """Yield the chunks of the page at a position, in the batches in which they were written."""
        _, offset = self._read_offsets(position)
        while True:
            batch, offset = self._load(offset)
            if not batch:
                return
            yield batch

    def _read_offsets(self, position: int) -> tuple[int, int]:
        """Return where the text and the chunks of the page at a position begin."""
        self._file.seek(position)
        text_offset, chunks_offset = (int.from_bytes(self._file.read(_OFFSET_BYTES)) for _ in range(2))
        return text_offset, chunks_offset

    def _write(self, content: bytes) -> None:
        with _translate_errors():
            self._file.write(content)

    def _dump(self, content: object) -> None:
        with _translate_errors():
            pickle.dump(content, self._file, protocol=pickle.HIGHEST_PROTOCOL)

    def _load(self, position: int) -> tuple[Any, int]:
        """Read what was dumped at a position; return it with the position behind it."""
        self._file.seek(position)
        content = pickle.load(self._file)  # noqa: S301 - no other process can reach the file
        return content, self._file.tell()


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IndexFailure(
            f"changed pages can't be written to disk: {error.strerror or error}; free space, or set TMPDIR"
        ) from error
