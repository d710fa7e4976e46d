"""The record in an index of the catalog's commits: a list of their ids."""

from __future__ import annotations

UNREADABLE = ("unreadable",)
"""Stands for a damaged record: the index is compared with the catalog, as if it lacked commits."""


def parse_record(record: object) -> tuple[str, ...]:
    """Return the ids of a record, as JSON has it."""
    return tuple(map(str, record)) if isinstance(record, list) and record else UNREADABLE
