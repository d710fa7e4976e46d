"""Places that a command is to write to: whether it can is found out before the work, not after it."""

from __future__ import annotations

import os
from pathlib import Path

from ...errors import InvalidInput


def check_file(field: str, path: Path) -> None:
    """Refuse a place where no file can be written; nothing is made there."""
    try:
        if path.is_dir():
            raise InvalidInput(field, f"can't write {path}: it is a folder")
        if not path.exists():
            check_folder(field, path.parent)
        elif not os.access(path, os.W_OK):
            raise InvalidInput(field, f"can't write {path}: it may not be changed")
    except OSError as error:
        raise InvalidInput(field, f"can't write {path}: {error.strerror or error}") from error


def check_folder(field: str, path: Path) -> None:
    """Refuse a folder that can't be written to, nor made; nothing is made."""
    try:
        nearest = next(one for one in (path.absolute(), *path.absolute().parents) if one.exists())
        if not nearest.is_dir():
            raise InvalidInput(field, f"can't write to {path}: {nearest} is no folder")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise InvalidInput(field, f"can't write to {path}: nothing may be made in {nearest}")
    except OSError as error:
        raise InvalidInput(field, f"can't write to {path}: {error.strerror or error}") from error
