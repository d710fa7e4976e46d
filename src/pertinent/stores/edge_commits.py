"""The file in a build's folder with the ids of the catalog's commits that the build has."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from .commit_record import DAMAGED_RECORD, parse_record

FILE_NAME = "commits.json"


def read_commits(folder: Path) -> tuple[str, ...]:
    """Read the ids; none if there is no file, as in a build of an earlier version."""
    try:
        text = (folder / FILE_NAME).read_bytes()
    except FileNotFoundError:
        return ()
    try:
        return parse_record(json.loads(text))
    except (ValueError, RecursionError):
        return DAMAGED_RECORD


def write_commits(folder: Path, commit_ids: Sequence[str]) -> None:
    """Replace the file atomically, and sync it to the disk."""
    temporary_file = folder / f"{FILE_NAME}.new"
    with temporary_file.open("w", encoding="utf-8") as file:
        json.dump(list(commit_ids), file)
        file.flush()
        os.fsync(file.fileno())
    temporary_file.replace(folder / FILE_NAME)
    if os.name == "posix":  # Windows can't open a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
