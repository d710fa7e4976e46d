"""Checks of output paths, made before the work begins rather than after it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import combinations
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


def check_files_are_distinct(outputs: Mapping[str, Path], inputs: Iterable[Path]) -> None:
    """Raise InvalidInput if an output is a file that the command reads, or two outputs are the same file.

    Args:
        outputs: The file that each option names.
        inputs: The files that the command reads.
    """
    for option, path in outputs.items():
        if any(_is_same_file(path, source) for source in inputs):
            raise InvalidInput(option, f"can't write {path}: this run reads it; name another file")
    for (first, path), (option, same) in combinations(outputs.items(), 2):
        if _is_same_file(path, same):
            raise InvalidInput(option, f"can't write {same}: {first} writes the same file; name another file")


def _is_same_file(first: Path, second: Path) -> bool:
    """Whether two paths are the same file, also by a link; devices such as /dev/null never match."""
    if first.exists() and not first.is_file():
        return False
    both_exist = first.exists() and second.exists()
    return first.samefile(second) if both_exist else first.resolve() == second.resolve()


def remove_old_output(path: Path) -> None:
    """Remove a file of an earlier run; empty it if it can't be removed."""
    if path.is_file():
        target = path.resolve()  # so that a link stays
        try:
            target.unlink()
        except OSError:  # the folder is read-only, or the file is a mount point
            target.write_bytes(b"")


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
