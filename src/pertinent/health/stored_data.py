"""The checks of an index that Pertinent made: its data, and whether searches find it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..ports import CatalogReader, Embedder, Fingerprint, VectorIndex
from . import audit
from .audit import Finding, Inventory
from .findability import find_unfindable_chunks


@dataclass(frozen=True, slots=True)
class StoredData:
    """All stored chunks and pages, and the stores that have them."""

    inventory: Inventory
    index: VectorIndex
    catalog: CatalogReader
    fingerprint: Fingerprint
    embedder: Embedder | None
    """The model of the index; None if it did not load, or if the settings name another one."""


@dataclass(frozen=True, slots=True)
class StoredDataCheck:
    """A check of stored data."""

    name: str
    summary: str
    """What holds if the check finds nothing."""
    find: Callable[[StoredData], list[Finding]]


def _find_bad_pages(data: StoredData) -> list[Finding]:
    return [*audit.find_unreadable_pages(data.inventory), *audit.find_repeated_pages(data.inventory)]


def _find_drift(data: StoredData) -> list[Finding]:
    return [
        *audit.find_drift(data.inventory),
        *audit.find_wrong_descriptions(data.inventory, data.catalog),
    ]


def _find_altered_texts(data: StoredData) -> list[Finding]:
    return [*audit.find_altered_texts(data.inventory), *audit.find_altered_pages(data.inventory)]


def _find_bad_vectors(data: StoredData) -> list[Finding]:
    return [
        *audit.find_stale_vectors(data.inventory, data.index, data.fingerprint.embedder),
        *audit.find_damaged_vectors(data.inventory, data.index),
    ]


def _find_wrong_embeddings(data: StoredData) -> list[Finding]:
    if data.embedder is None:
        return []
    return audit.find_wrong_vectors(data.inventory, data.index, data.embedder)


def _find_bad_words(data: StoredData) -> list[Finding]:
    return [
        *audit.find_wrong_word_weights(data.inventory, data.index, data.fingerprint.lexical),
        *audit.find_wrong_vocabulary(data.inventory, data.catalog),
    ]


STORED_DATA_CHECKS = (
    StoredDataCheck("pages", "each can be read and is indexed once", _find_bad_pages),
    StoredDataCheck("drift", "index and catalog hold the same chunks", _find_drift),
    StoredDataCheck("hashes", "every text matches its hash", _find_altered_texts),
    StoredDataCheck(
        "slices",
        "every chunk is a slice of its page",
        lambda data: audit.find_wrong_slices(data.inventory),
    ),
    StoredDataCheck(
        "positions",
        "chunks are numbered 0, 1, 2 …",
        lambda data: audit.find_wrong_positions(data.inventory),
    ),
    StoredDataCheck("vectors", "each was made from its chunk and matches its checksum", _find_bad_vectors),
    StoredDataCheck(
        "embeddings", "a sample was embedded again and compared, if the model loaded", _find_wrong_embeddings
    ),
    StoredDataCheck("words", "those of every chunk are indexed and counted", _find_bad_words),
    StoredDataCheck(
        "filters",
        "each finds its chunks",
        lambda data: audit.find_damaged_filters(data.inventory, data.index),
    ),
    StoredDataCheck(
        "searches",
        "a sample of chunks is found by vector and by word",
        lambda data: find_unfindable_chunks(data.inventory, data.index, data.fingerprint.lexical),
    ),
)
