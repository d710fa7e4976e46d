"""The builds of an embedded index, in numbered folders."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from .._internal.disk import measure_disk_use
from ..ports import Fingerprint
from ..search.bm25 import Bm25
from .edge import EdgeIndex

_REMOVED = ".removed"
"""The suffix of a build's folder while it is deleted."""


class EdgeBuilds:
    """`ports.Builds` of an embedded index, a folder each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, made_with: Fingerprint) -> EdgeIndex:
        """Open a build; create its folder if it does not exist."""
        folder = self._build_folder(made_with.build)
        return EdgeIndex.open(folder, made_with.dimension, Bm25.from_settings(made_with.lexical))

    def use(self, number: int) -> None:
        """Do nothing: the catalog records which build is in use."""

    def exists(self, number: int) -> bool:
        """Whether there is a folder of this number."""
        return self._build_folder(number).exists()

    def numbers(self) -> list[int]:
        """List the builds that have a folder."""
        folders = self._folder.iterdir() if self._folder.exists() else ()
        return sorted(int(folder.name) for folder in folders if folder.name.isdecimal())

    def is_empty(self) -> bool:
        """Whether no build has a folder."""
        return not self.numbers()

    def remove(self, number: int) -> None:
        """Delete the folder of a build; a process that still reads it has the files open.

        It is renamed first: a kill must not leave a part of a build that can be opened.
        """
        self._delete_removed()  # a killed process may have left some
        folder = self._build_folder(number)
        with suppress(OSError):
            folder.rename(folder.with_suffix(_REMOVED))
        self._delete_removed()

    def _delete_removed(self) -> None:
        for folder in self._folder.glob(f"*{_REMOVED}"):
            shutil.rmtree(folder, ignore_errors=True)

    def disk_use(self, number: int) -> int:
        """Return how many bytes the folder of a build takes."""
        return measure_disk_use(self._build_folder(number))

    def _build_folder(self, number: int) -> Path:
        return self._folder / f"{number:03}"
