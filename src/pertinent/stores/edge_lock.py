"""The lock of an embedded index: one process at a time may open its folder.

Qdrant has a lock of its own, but takes it only after it has opened files of the index, and changed some. A
process that was refused so late would break the next write of the process that has the index open.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import IO

from ..errors import IndexLocked

LOCK_NAME = "pertinent.lock"


def lock_folder(folder: Path) -> IO[bytes]:
    """Lock a folder until the returned file is closed.

    Raises:
        IndexLocked: Another process, or another object of this one, has locked it.
    """
    file = (folder / LOCK_NAME).open("ab")
    # Windows has no fcntl, and some file systems have no locks: there Qdrant's own lock remains.
    with suppress(ImportError, OSError):
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise make_lock_error(folder) from error
    return file


def make_lock_error(folder: Path) -> IndexLocked:
    """Say that the index is open elsewhere, and what to do."""
    return IndexLocked(
        f"another process, or another Pertinent in this one, has the index in {folder} open: wait for it to "
        "end, or close it. One process at a time can open an embedded index. `pertinent serve` answers many "
        "callers: if it runs, ask it with `PertinentClient(ADDRESS)`"
    )
