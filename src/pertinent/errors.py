"""Every error that Pertinent raises on purpose.

PertinentError
├── InvalidInput (ValueError)       what the caller gave is out of range; names the field
│   └── DimensionMismatch           a vector of another length than the index was made for
├── SettingsError (ValueError)      the settings contradict each other or can't be read
├── SourceError                     a source can't be read at all
├── SyncRefused                     a sync that would do harm was stopped before it began
├── FingerprintMismatch             the index was made with another model, chunker or lexical setting
├── NotFound (LookupError)          no such chunk or page, or nothing was indexed yet
├── EmbedderError                   the model or its service failed
└── StoreError                      a store failed
    ├── IndexFailure                the vector index failed or can't be reached
    │   └── IndexLocked             another process has the embedded index open
    └── CatalogFailure              the catalog failed or can't be reached
"""

from __future__ import annotations


class PertinentError(Exception):
    """The root of the tree: catch this to catch all of them."""


class InvalidInput(PertinentError, ValueError):
    """A value that the caller gave is not acceptable."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class DimensionMismatch(InvalidInput):
    """A vector has another number of elements than the index."""

    def __init__(self, given: int, expected: int, field: str = "query_embedding") -> None:
        super().__init__(field, f"has {given} elements, but the index was made for {expected}")
        self.given = given
        self.expected = expected


class SettingsError(PertinentError, ValueError):
    """The settings can't be read, or contradict each other."""


class SourceError(PertinentError):
    """A source as a whole can't be read."""


class SyncRefused(PertinentError):
    """A sync was stopped before it changed anything."""


class FingerprintMismatch(PertinentError):
    """The index was made with other settings than the present ones."""


class NotFound(PertinentError, LookupError):
    """The thing asked for does not exist."""


class EmbedderError(PertinentError):
    """The embedding model, or the service behind it, failed."""


class StoreError(PertinentError):
    """A store failed."""


class IndexFailure(StoreError):
    """The vector index failed or can't be reached."""


class IndexLocked(IndexFailure):
    """Another process holds the embedded index."""


class CatalogFailure(StoreError):
    """The catalog failed or can't be reached."""
