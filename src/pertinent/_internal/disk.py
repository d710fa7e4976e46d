"""Room on the disk.

An index is mapped into memory: a disk that fills up would end the process without a word.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from ..errors import IndexFailure

RESERVE = 100 * 2**20
"""How much must be free before anything is written."""


def refuse_full(folder: Path) -> None:
    """Refuse to write into a folder, which need not be there yet, on a disk that is nearly full."""
    place = next(one for one in (folder, *folder.resolve().parents) if one.exists())
    free = shutil.disk_usage(place).free
    if free < RESERVE:
        raise IndexFailure(
            f"only {free // 2**20} MB are free in {folder}; make room for at least {RESERVE // 2**20} MB, or "
            "choose another --folder"
        )
