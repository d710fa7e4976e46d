"""Checks of the files of an index before Qdrant Edge opens it.

The files that it writes once have checksums: what searches find depends on every byte of them. They belong to
optimised segments. Vectors and payloads are not among them: each has a checksum of its own.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..errors import IndexFailure
from .candidates import DENSE, LEXICAL

FILE_NAME = "checksums.json"

_WRITTEN_ONCE = (
    "id_tracker.mappings",
    f"vector_storage-{DENSE}/quantized.data",
    f"vector_index-{DENSE}/links_compressed.bin",
    f"vector_index-{LEXICAL}/inverted_index.dat",
)
"""The ids, 8-bit vectors, graph and lists of words of a segment, which Qdrant reads whole at opening."""

_ID_LOG = "mutable_id_tracker.mappings"
"""The log of the ids in a segment that is not optimised yet, with an entry for each new or deleted point."""

_ID_BYTES = {1: 8, 2: 16, 3: 8, 4: 16}
"""How long an id is, by the kind of its entry in the log: 1 and 3 are numbers, 2 and 4 are UUIDs."""

_NEW_POINT = (1, 2)
"""The kinds of entries of new points, whose id is followed by the number of the point in its segment."""

_NUMBER_BYTES = 4
"""How long that number is."""


def check_files(folder: Path) -> None:
    """Read the files of an index from beginning to end, and compare them with their checksums.

    The system then has them in its cache: Qdrant drops them from there when it closes them, and would read
    them page by page, which takes several times as long. A file that can't be read is left to Qdrant.

    Raises:
        IndexFailure: A file is damaged.
    """
    recorded = _read_checksums(folder)
    for path in _iterate_files(folder):
        with suppress(OSError):
            name = str(path.relative_to(folder))
            checksum = _compute_checksum(path)
            if checksum != recorded.get(name, checksum):
                raise IndexFailure(
                    f"the index in {folder} is damaged: {name} does not match its checksum. `pertinent "
                    "reindex` rebuilds it from the texts in the catalog"
                )
    for path in folder.glob(f"segments/*/{_ID_LOG}"):
        with suppress(OSError):
            if not _has_plausible_numbers(path.read_bytes()):
                raise IndexFailure(
                    f"the index in {folder} is damaged: {path.relative_to(folder)} has an impossible number "
                    "of a point. `pertinent reindex` rebuilds it from the texts in the catalog"
                )


def _has_plausible_numbers(id_log: bytes) -> bool:
    """Whether the points of a segment may have these numbers.

    They are consecutive, so a log has fewer points than bytes. Qdrant makes room for all numbers up to the
    highest: one flipped bit would take gigabytes and minutes. Other damage in the log is left to Qdrant.
    """
    position = 0
    while position < len(id_log) and (id_bytes := _ID_BYTES.get(id_log[position])):
        number_position = position + 1 + id_bytes
        is_new = id_log[position] in _NEW_POINT
        position = number_position + (_NUMBER_BYTES if is_new else 0)
        if is_new and int.from_bytes(id_log[number_position:position], "little") >= len(id_log):
            return False
    return True


def record_checksums(folder: Path) -> None:
    """Record the checksums of new files, and forget those of deleted ones."""
    recorded = _read_checksums(folder)
    names = {str(path.relative_to(folder)): path for path in _iterate_files(folder)}
    if names.keys() == recorded.keys():
        return
    checksums = {name: recorded.get(name) or _compute_checksum(path) for name, path in names.items()}
    temporary_file = folder / f"{FILE_NAME}.new"
    temporary_file.write_text(json.dumps(checksums), encoding="utf-8")
    temporary_file.replace(folder / FILE_NAME)


def _iterate_files(folder: Path) -> Iterator[Path]:
    for name in _WRITTEN_ONCE:
        yield from folder.glob(f"segments/*/{name}")


def _read_checksums(folder: Path) -> dict[str, str]:
    """Read the record; a lost or damaged one has no checksums."""
    try:
        recorded = json.loads((folder / FILE_NAME).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return recorded if isinstance(recorded, dict) else {}


def _compute_checksum(path: Path) -> str:
    checksum = 0
    buffer = memoryview(bytearray(2**20))
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(buffer):
            checksum = zlib.crc32(buffer[:size], checksum)
    return f"{checksum:08x}"
