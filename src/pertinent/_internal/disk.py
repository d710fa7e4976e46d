"""Free space on the disk.

An index is mapped into memory: on a full disk, writing would end the process without an error.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from ..errors import IndexFailure

MIN_FREE = 100 * 2**20
"""How many bytes must be free before anything is written."""


def check_free_space(folder: Path) -> None:
    """Raise IndexFailure if the disk of a folder, which need not exist yet, is nearly full."""
    existing = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < MIN_FREE:
        raise IndexFailure(
            f"only {free // 2**20} MB are free in {folder}; free at least {MIN_FREE // 2**20} MB, or "
            "choose another --folder"
        )
