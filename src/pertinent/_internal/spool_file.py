"""A temporary file for what does not fit into memory until the end of a run."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import PertinentError


class SpoolFile:
    """A file without a name: it disappears with the process, however that ends.

    Args:
        folder: The folder whose disk holds the file; None is the system's folder for temporary files,
            which may be in memory.
        contents: What the file holds, for messages.
        error: The class of the errors that are raised if the file can't be used.
    """

    def __init__(self, folder: Path | None, contents: str, error: type[PertinentError]) -> None:
        self._contents = contents
        self._error = error
        self._advice = f"free space in {folder}" if folder else "free space, or set TMPDIR"
        with self._translate_errors():
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - `close` closes it
        self.close = weakref.finalize(self, self._file.close)

    @contextmanager
    def use(self) -> Iterator[IO[bytes]]:
        """Give the open file; what is written to it is on disk at the end, or an error is raised."""
        with self._translate_errors():
            yield self._file
            self._file.flush()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._error(
                f"{self._contents} can't be kept on disk: {error.strerror or error}; {self._advice}"
            ) from error
