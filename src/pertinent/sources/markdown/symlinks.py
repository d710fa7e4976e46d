"""Decide which symlinks of a Markdown source are followed."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from ..._internal.regular_files import read_file_below, read_regular_file
from ...types import Skipped

_MAX_NAMES = 10  # links that are named


class LinkBoundary:
    """The folders of a source, which its symlinks must not leave; records the links that do.

    Args:
        folders: The source folder, and others that belong to it.
        follow_links: Follow all links, wherever they lead.
    """

    def __init__(self, folders: Iterable[Path], *, follow_links: bool = False) -> None:
        self._folders = [os.path.realpath(folder) for folder in folders]
        self._follow_links = follow_links
        self._site: str | None = None
        self._project: str | None = None
        self._skipped: set[str] = set()
        self._skipped_docs: set[str] = set()
        self._repeated: set[str] = set()

    def add_folders(self, folders: Iterable[Path]) -> None:
        """Let links lead into these folders, too."""
        self._folders += map(os.path.realpath, folders)

    def set_site(self, folder: Path) -> None:
        """Let pages import files of this site, too."""
        self._site = os.path.realpath(folder)

    def set_project(self, folder: Path) -> None:
        """Let the config of a site name docs folders in the project that the site belongs to."""
        self._project = os.path.realpath(folder)

    def is_in_project(self, folder: Path) -> bool:
        """Whether a folder that a config names is in the source, or in the project of the site."""
        real = os.path.realpath(folder)
        in_project = self._project is not None and _is_below(real, self._project)
        return self._follow_links or in_project or self._contains(real)

    def allows_docs(self, folder: Path) -> bool:
        """Whether the docs folder that a config names may be read."""
        if not self.allows(folder):
            return False
        if not self.is_in_project(folder):
            self._skipped_docs.add(os.path.abspath(folder))  # noqa: PTH100 - keeps links
            return False
        return True

    def allows(self, path: str | Path) -> bool:
        """Whether a file or folder may be read: no link leads to it, or its target is in the source."""
        lexical, real = os.path.abspath(path), os.path.realpath(path)  # noqa: PTH100 - keeps links
        if self._follow_links or real == lexical or self._contains(real):
            return True
        self._skipped.add(lexical)
        return False

    def note_repeated(self, folder: str) -> None:
        """Record a link to a folder that is read under another path."""
        self._repeated.add(folder)

    def allows_import(self, path: Path) -> bool:
        """Whether a page may import a file: it is in the source, or in the site that has the source."""
        real = os.path.realpath(path)
        in_site = self._site is not None and _is_below(real, self._site)
        if self._follow_links or in_site or self._contains(real):
            return True
        self._skipped.add(os.path.abspath(path))  # noqa: PTH100 - keeps links
        return False

    def read_file(self, path: Path) -> bytes:
        """Read a file that was allowed before; it, or a folder above it, may be a link by now.

        Raises:
            OSError: The file can't be read, is a pipe or a device, or is outside the source.
        """
        if self._follow_links:
            return read_regular_file(path)
        real = os.path.realpath(path)
        site = () if self._site is None else (self._site,)
        for folder in (*self._folders, *site):
            if real != folder and _is_below(real, folder):
                return read_file_below(folder, real)
        raise OSError(errno.ELOOP, "it is a link that leads outside the source folder")

    def _contains(self, real: str) -> bool:
        return any(_is_below(real, folder) for folder in self._folders)

    def list_skipped(self) -> list[Skipped]:
        """Name the links that were not followed, and the docs folders that were not read."""
        topmost = [path for path in self._skipped if self._skipped.isdisjoint(map(str, Path(path).parents))]
        follow = "; --follow-links reads them"
        groups = (
            ("links that lead outside the source folder", topmost, follow),
            ("docs folders that the config names outside the project", self._skipped_docs, follow),
            ("links to folders that are read under another path", self._repeated, ""),
        )
        return [
            Skipped(f"{what}: {self._list_names(paths)}{advice}", len(paths))
            for what, paths, advice in groups
            if paths
        ]

    def _list_names(self, paths: Collection[str]) -> str:
        names = sorted(os.path.relpath(path, self._folders[0]) for path in paths)
        return ", ".join(names[:_MAX_NAMES]) + (", …" if len(names) > _MAX_NAMES else "")


def _is_below(real: str, folder: str) -> bool:
    return os.path.commonpath((folder, real)) == folder
