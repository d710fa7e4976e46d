"""The lock of an embedded index: one process at a time may open its folder.

Qdrant has a lock of its own, but takes it only after it has opened files of the index, and changed some. A
process that was refused so late would break the next write of the process that has the index open.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from .._internal.process_name import UNKNOWN_PROCESS, name_process
from ..errors import IndexFailure, IndexLocked

LOCK_NAME = "pertinent.lock"

_HeldLock = tuple[int, int, int]
"""The number of the process, and device and inode of the file that it has locked."""

_held_locks: list[_HeldLock] = []
"""The locks of this process.

The name in the file does not identify the process: one in another container may have the same name.
"""


class FolderLock:
    """Locks a folder until it is closed or deleted, as the shard in the folder is.

    Args:
        folder: The folder of the index.
        shared: Keep others from writing to a folder that this process can only read.

    Raises:
        IndexLocked: Another process, or another object of this one, has locked the folder.
    """

    def __init__(self, folder: Path, *, shared: bool = False) -> None:
        self._folder = folder
        self._descriptor: int | None = None
        self._held: _HeldLock | None = None
        self._names_process = False
        """Whether the file has the name of this process."""
        access = os.O_RDONLY if shared else os.O_RDWR | os.O_CREAT
        self._descriptor = os.open(folder / LOCK_NAME, access, 0o666)
        # Windows has no fcntl, and some file systems have no locks: there Qdrant's own lock remains.
        with suppress(ImportError, OSError):
            import fcntl

            try:
                fcntl.flock(self._descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError as error:
                self.close()
                raise make_lock_error(folder) from error
            if not shared:
                self._names_process = True
                os.ftruncate(self._descriptor, 0)
                os.pwrite(self._descriptor, name_process().encode(), 0)
        self._held = _identify(os.fstat(self._descriptor))
        _held_locks.append(self._held)

    @property
    def is_inherited(self) -> bool:
        """Whether another process took the lock, and this one was forked from it.

        The system lets both use it, but the engine of each would overwrite what the other has written.
        """
        return self._held is not None and self._held[0] != os.getpid()

    def check_folder(self) -> None:
        """Raise IndexFailure if the folder was moved, deleted or replaced while this process has it open.

        The engine has its files open, and would mix them with those of the folder that is there now.
        """
        assert self._descriptor is not None  # noqa: S101 - the caller has not closed it
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(self._descriptor), (self._folder / LOCK_NAME).stat()):
                return
        raise IndexFailure(
            f"the index in {self._folder} was moved, deleted or replaced while this process had it open; "
            "start the process again"
        )

    def close(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            if self._names_process and not self.is_inherited:
                # The next process that locks the folder may be unable to write its own name.
                with suppress(OSError):
                    os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None
            if self._held is not None:
                _held_locks.remove(self._held)

    __del__ = close


def _identify(status: os.stat_result) -> _HeldLock:
    return os.getpid(), status.st_dev, status.st_ino


def make_lock_error(folder: Path) -> IndexLocked:
    """Return the error that names the process that has the index open, and says what to do."""
    holder, by_this_process = "", False
    with suppress(OSError):
        by_this_process = _identify((folder / LOCK_NAME).stat()) in _held_locks
        holder = (folder / LOCK_NAME).read_text(encoding="utf-8", errors="replace")
    owner = "another Pertinent in this process" if by_this_process else UNKNOWN_PROCESS
    return IndexLocked(
        f"{owner} has the index in {folder} open ({holder or 'its name is unknown'}): wait for it to end, or "
        "close it. One process at a time can open an embedded index. `pertinent serve` answers many callers: "
        "if it runs, ask it with `PertinentClient(ADDRESS)`",
        holder,
        by_this_process=by_this_process,
    )
