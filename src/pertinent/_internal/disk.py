"""Free space on the disk.

An index is mapped into memory: on a full disk, writing would end the process without an error.
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path

from ..errors import IndexFailure

MIN_FREE = 100 * 2**20
"""How many bytes must be free before anything is written."""


def measure_disk_use(folder: Path) -> int:
    """Return how many bytes the files of a folder take; files with holes take less than their length."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def check_space_for_build(folder: Path, needed: int) -> None:
    """Raise IndexFailure if a new build of `needed` bytes would fill the disk of the folder, which need not exist."""
    free = _measure_free_space(folder)
    missing = needed + MIN_FREE - free
    if missing > 0:
        raise IndexFailure(
            f"a new build needs about {_to_megabytes(needed + MIN_FREE)} MB beside the present one, and only "
            f"{free // 2**20} MB are free in {folder}: free {_to_megabytes(missing)} MB. "
            "`pertinent reindex --drop-previous` deletes the build before the present one, if there is one"
        )


def _measure_free_space(folder: Path) -> int:
    existing = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    return shutil.disk_usage(existing).free


def _to_megabytes(size: int) -> int:
    return math.ceil(size / 2**20)


def check_free_space(folder: Path) -> None:
    """Raise IndexFailure if the disk of a folder, which need not exist yet, is nearly full."""
    free = _measure_free_space(folder)
    if free < MIN_FREE:
        raise IndexFailure(
            f"only {free // 2**20} MB are free in {folder}; free at least {MIN_FREE // 2**20} MB, or "
            "choose another --folder"
        )
