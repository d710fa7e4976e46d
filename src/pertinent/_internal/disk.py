"""Free space on the disk, and copies of folders.

An index is mapped into memory: on a full disk, writing would end the process without an error.
"""

from __future__ import annotations

import errno
import math
import os
import shutil
from pathlib import Path

from ..errors import IndexFailure

MIN_FREE = 100 * 2**20
"""How many bytes must be free before anything is written."""

MIN_FREE_TO_DELETE = 40 * 2**20
"""How many bytes must be free before points are deleted: a new segment of the engine's log takes 32 MB."""

MAKE_SPACE = "Delete what you can, and run the command again: it completes the work"


def measure_disk_use(folder: Path) -> int:
    """Return how many bytes the files of a folder take; files with holes take less than their length."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def is_read_only(path: Path) -> bool:
    """Whether this process can't change an existing file or folder."""
    if not path.exists():
        return False
    # Root may write without permission, but not to a read-only file system.
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY) or not os.access(path, os.W_OK)


def copy_with_holes(source: Path, target: Path) -> None:
    """Copy a folder; holes in its files take no space in the copy either."""
    for path in source.rglob("*"):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir(parents=True, exist_ok=True)
        else:
            copy.parent.mkdir(parents=True, exist_ok=True)
            _copy_file(path, copy)


def _copy_file(source: Path, target: Path) -> None:
    with source.open("rb") as reader, target.open("wb") as writer:
        size = os.fstat(reader.fileno()).st_size
        writer.truncate(size)
        end = 0
        while end < size:
            try:
                start = os.lseek(reader.fileno(), end, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # only a hole is left
                    return
                raise
            end = os.lseek(reader.fileno(), start, os.SEEK_HOLE)
            reader.seek(start)
            writer.seek(start)
            while (position := reader.tell()) < end:
                if not (data := reader.read(min(2**20, end - position))):
                    raise OSError(errno.EIO, "the file became shorter while it was copied", str(source))
                writer.write(data)


def check_space_for_build(folder: Path, needed: int) -> None:
    """Raise IndexFailure if a new build of `needed` bytes would fill the disk of the folder."""
    free = _measure_free_space(folder)
    missing = needed + MIN_FREE - free
    if missing > 0:
        raise IndexFailure(
            f"a second build of the index needs about {_to_megabytes(needed + MIN_FREE)} MB, but only "
            f"{free // 2**20} MB are free in {folder}: free {_to_megabytes(missing)} MB. "
            "`pertinent reindex --drop-previous` deletes the previous build, if there is one"
        )


def _measure_free_space(folder: Path) -> int:
    existing = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    return shutil.disk_usage(existing).free


def _to_megabytes(size: int) -> int:
    return math.ceil(size / 2**20)


def check_free_space(folder: Path, needed: int = MIN_FREE) -> None:
    """Raise IndexFailure if the disk of a folder, which need not exist yet, has less than `needed` bytes."""
    free = _measure_free_space(folder)
    if free < needed:
        raise IndexFailure(
            f"only {free // 2**20} MB are free in {folder}, and at least {needed // 2**20} MB are needed. "
            f"{MAKE_SPACE}"
        )
