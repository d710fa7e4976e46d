"""The file in a build's folder with the ids of the catalog's commits that the build has."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from .commit_record import UNREADABLE, parse_record

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
        return UNREADABLE


def write_commits(folder: Path, commit_ids: Sequence[str]) -> None:
    """Replace the file as a whole; it is on the disk when this returns."""
    new = folder / f"{FILE_NAME}.new"
    with new.open("w", encoding="utf-8") as file:
        json.dump(list(commit_ids), file)
        file.flush()
        os.fsync(file.fileno())
    new.replace(folder / FILE_NAME)
    if os.name == "posix":  # Windows can't open a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
