"""The spool: a temporary file of changed pages, so that a sync of any size needs little memory.

A plan writes each changed page to the spool with its chunks, and keeps only its position.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

from .._internal.spool_file import SpoolFile
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
        folder: The folder whose disk holds the file; None is the system's folder for temporary files.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._file = SpoolFile(folder, "changed pages", IndexFailure)
        self.close = self._file.close

    def write(self, page: Page, batches: Iterable[Sequence[PlannedChunk]]) -> int:
        """Append a page and its chunks; return the position to read them from."""
        with self._file.use() as file:
            position = file.seek(0, os.SEEK_END)
            file.write(bytes(2 * _OFFSET_BYTES))
            _dump(replace(page, text=""), file)
            text_offset = file.tell()
            # In parts, and not pickled: that would keep a copy of a large text.
            for start in range(0, len(page.text), _PART_CHARACTERS):
                file.write(page.text[start : start + _PART_CHARACTERS].encode())
            chunks_offset = file.tell()
            file.seek(position)
            file.write(text_offset.to_bytes(_OFFSET_BYTES) + chunks_offset.to_bytes(_OFFSET_BYTES))
            file.seek(chunks_offset)
        for batch in filter(None, batches):
            self._append_batch(batch)
        self._append_batch(())
        return position

    def _append_batch(self, batch: Sequence[PlannedChunk]) -> None:
        with self._file.use() as file:
            _dump(tuple(batch), file)

    def read_page(self, position: int) -> Page:
        """Read the page at a position."""
        with self._file.use() as file:
            text_offset, chunks_offset = _read_offsets(file, position)
            page: Page = _load(file)
            file.seek(text_offset)
            return replace(page, text=file.read(chunks_offset - text_offset).decode())

    def read_chunks(self, position: int) -> Iterator[Sequence[PlannedChunk]]:
        """Yield the chunks of the page at a position, in the batches in which they were written."""
        with self._file.use() as file:
            _, offset = _read_offsets(file, position)
        while True:
            with self._file.use() as file:
                file.seek(offset)
                batch: Sequence[PlannedChunk] = _load(file)
                offset = file.tell()
            if not batch:
                return
            yield batch


def _read_offsets(file: IO[bytes], position: int) -> tuple[int, int]:
    """Return where the text and the chunks of the page at a position begin; the page itself is next."""
    file.seek(position)
    text_offset, chunks_offset = (int.from_bytes(file.read(_OFFSET_BYTES)) for _ in range(2))
    return text_offset, chunks_offset


def _dump(content: object, file: IO[bytes]) -> None:
    pickle.dump(content, file, protocol=pickle.HIGHEST_PROTOCOL)


def _load(file: IO[bytes]) -> Any:
    return pickle.load(file)  # noqa: S301 - no other process can reach the file
