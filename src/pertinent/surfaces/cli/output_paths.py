"""Checks of output paths, made before the work begins rather than after it."""

from __future__ import annotations

import os
from pathlib import Path

from ...errors import InvalidInput


def check_file_is_writable(option: str, path: Path) -> None:
    """Raise InvalidInput if the file can't be written; nothing is created."""
    try:
        if path.is_dir():
            raise InvalidInput(option, f"can't write {path}: it is a folder")
        if not path.exists():
            check_folder_is_writable(option, path.parent)
        elif not os.access(path, os.W_OK):
            raise InvalidInput(option, f"can't write {path}: no permission to change it")
    except OSError as error:
        raise InvalidInput(option, f"can't write {path}: {error.strerror or error}") from error


def check_folder_is_writable(option: str, path: Path) -> None:
    """Raise InvalidInput if the folder can neither be written to nor be created; nothing is created."""
    try:
        absolute = path.absolute()
        existing = next(folder for folder in (absolute, *absolute.parents) if folder.exists())
        if not existing.is_dir():
            raise InvalidInput(option, f"can't write to {path}: {existing} is not a folder")
        if not os.access(existing, os.W_OK | os.X_OK):
            raise InvalidInput(option, f"can't write to {path}: no permission to create files in {existing}")
    except OSError as error:
        raise InvalidInput(option, f"can't write to {path}: {error.strerror or error}") from error
