"""Read files that may be replaced while a source is read: by a symlink, a pipe or a device."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MAX_BYTES = 2**28
"""The size of the largest file that is read: a file needs several times its size in memory."""

# Opening a pipe does not wait for its writer; these flags don't exist on Windows.
_FILE_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def read_regular_file(path: str | Path) -> bytes:
    """Read a file.

    Raises:
        OSError: The file can't be opened, is too large or is just being written, or it is a pipe or a
            device, from which reading might never end.
    """
    return _read_all(os.open(path, _FILE_FLAGS))


def read_file_below(folder: str, path: str) -> bytes:
    """Read a file of a folder without following any symlink below the folder.

    Args:
        folder: The folder.
        path: The path of the file, which begins with that of the folder.

    Raises:
        OSError: As `read_regular_file` does; also if a part of the path below the folder is a symlink.
    """
    if os.open not in os.supports_dir_fd:  # Windows
        return read_regular_file(path)
    *parents, name = Path(path).relative_to(folder).parts
    parent = os.open(folder, _FOLDER_FLAGS | _NO_LINK)
    try:
        for part in parents:
            child = os.open(part, _FOLDER_FLAGS | _NO_LINK, dir_fd=parent)
            os.close(parent)
            parent = child
        return _read_all(os.open(name, _FILE_FLAGS | _NO_LINK, dir_fd=parent))
    finally:
        os.close(parent)


def _read_all(descriptor: int) -> bytes:
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if status.st_size > MAX_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {MAX_BYTES // 2**20} MB; split it")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            # Python reserves as much memory as it may read.
            content = file.read(status.st_size + 1)
    finally:
        os.close(descriptor)
    if len(content) > status.st_size:
        raise OSError(errno.EAGAIN, "it grew while it was read; try again")
    return content
