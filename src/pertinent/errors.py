"""Every error that Pertinent raises on purpose.

PertinentError
├── InvalidInput (ValueError)       what the caller gave is out of range; names the field
│   ├── DimensionMismatch           a vector of another length than the index was made for
│   └── InvalidFile                 a file has errors; lists all of them, with their lines
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

from collections.abc import Sequence


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


class InvalidFile(InvalidInput):
    """A file has errors: all of them, one line each."""

    LISTED = 100
    """How many errors are listed; a file may have very many of a kind."""

    def __init__(self, field: str, path: str, errors: Sequence[str]) -> None:
        lines = [" ".join(error.split()) for error in errors[: self.LISTED]]
        if len(errors) > self.LISTED:
            lines.append(f"and {len(errors) - self.LISTED:,} more")
        single = len(errors) == 1
        message = f"{path}: {lines[0]}" if single else f"{path} has {len(errors):,} errors:"
        super().__init__(field, "\n  ".join([message] if single else [message, *lines]))


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
