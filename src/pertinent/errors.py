"""The exceptions of Pertinent.

PertinentError
├── InvalidInput (ValueError)       a value of the caller is out of range; names the field
│   ├── DimensionMismatch           a vector has another length than those of the index
│   └── InvalidFile                 a file has errors; lists them with their lines
├── SettingsError (ValueError)      the settings contradict each other or can't be read
├── SourceError                     a source can't be read at all
├── SyncRefused                     a sync was stopped before it changed anything
│   └── LockTimeout                 another process held the write lock for too long
├── FingerprintMismatch             the index was made with another model, chunker or lexical setting
├── NotFound (LookupError)          no such chunk or page, or nothing was indexed yet
├── EmbedderError                   the embedding model or its service failed
├── RerankerError                   the reranker or its service failed
└── StoreError                      a store failed
    ├── IndexFailure                the vector index failed or can't be reached
    │   ├── IndexUnreachable        the server of the vector index does not answer
    │   ├── IndexMissing            the collection of the vector index does not exist
    │   ├── IndexOutdated           the vector index lacks commits of the catalog
    │   └── IndexLocked             another process has the embedded index open
    └── CatalogFailure              the catalog failed or can't be reached
        └── DamagedPage             a page in the catalog can't be read
"""

from __future__ import annotations

from collections.abc import Sequence


class PertinentError(Exception):
    """The base class of all exceptions of Pertinent."""


class InvalidInput(PertinentError, ValueError):
    """A value of the caller is invalid.

    Args:
        field: The name of the value.
        message: What the value must be.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class DimensionMismatch(InvalidInput):
    """A vector has another number of elements than the index."""

    def __init__(self, actual: int, expected: int, field: str = "query_embedding") -> None:
        super().__init__(field, f"has {actual} elements, but the index was made for {expected}")
        self.actual = actual
        self.expected = expected


class InvalidFile(InvalidInput):
    """A file has errors; the message lists them, one a line."""

    MAX_LISTED = 100
    """How many errors are listed; a file may have very many."""

    def __init__(self, field: str, path: str, errors: Sequence[str]) -> None:
        lines = [" ".join(error.split()) for error in errors[: self.MAX_LISTED]]
        if len(errors) > self.MAX_LISTED:
            lines.append(f"and {len(errors) - self.MAX_LISTED:,} more")
        single = len(errors) == 1
        message = f"{path}: {lines[0]}" if single else f"{path} has {len(errors):,} errors:"
        super().__init__(field, "\n  ".join([message] if single else [message, *lines]))


class SettingsError(PertinentError, ValueError):
    """The settings can't be read, are invalid, or contradict each other."""


class SourceError(PertinentError):
    """A source as a whole can't be read."""


class SyncRefused(PertinentError):
    """A sync was stopped before it changed anything."""


class LockTimeout(SyncRefused):
    """Another process has written to the index, or had it open, for longer than `lock_timeout`."""


class FingerprintMismatch(PertinentError):
    """The index was made with other settings than the current ones."""


class NotFound(PertinentError, LookupError):
    """A chunk, page, source or index does not exist."""


class EmbedderError(PertinentError):
    """The embedding model or its service failed."""


class RerankerError(PertinentError):
    """The reranker or its service failed."""


class StoreError(PertinentError):
    """A store failed."""


class IndexFailure(StoreError):
    """The vector index failed or can't be reached."""


class IndexUnreachable(IndexFailure):
    """The server of the vector index does not answer."""


class IndexMissing(IndexFailure):
    """The collection of the vector index was never made, or was deleted."""


class IndexOutdated(IndexFailure):
    """The vector index lacks commits of the catalog: they went to another index, or it was restored."""


class IndexLocked(IndexFailure):
    """Another process, or another Pertinent in this one, has the embedded index open."""

    def __init__(self, message: str, holder: str = "", *, by_this_process: bool = False) -> None:
        super().__init__(message)
        self.holder = holder
        """The name of the process; empty if it is unknown."""
        self.by_this_process = by_this_process
        """Whether the process is this one, which must not wait for itself."""


class CatalogFailure(StoreError):
    """The catalog failed or can't be reached."""


class DamagedPage(CatalogFailure):
    """A page in the catalog, or one of its chunks, can't be read."""
