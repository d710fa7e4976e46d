"""The record in an index of the catalog's commits: a list of their ids."""

from __future__ import annotations

DAMAGED_RECORD = ("damaged index record",)
"""Stands for a damaged record. It matches no commit of a catalog, so the index counts as outdated."""


def parse_record(record: object) -> tuple[str, ...]:
    """Return the ids of a record, as JSON has it."""
    return tuple(map(str, record)) if isinstance(record, list) and record else DAMAGED_RECORD
