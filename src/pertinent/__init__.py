"""Pertinent: retrieval for documentation that finds the right passage and cites it exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import PertinentError
    from .surfaces.entities import QueryEmbedding, RetrievalResult
    from .surfaces.library import (
        Pertinent,
        generate_query_embedding,
        retrieve,
        retrieve_content_chunks,
        validate,
    )
    from .types import Answer, Chunk, Filters, Hit

__all__ = [
    "Answer",
    "Chunk",
    "Filters",
    "Hit",
    "Pertinent",
    "PertinentError",
    "QueryEmbedding",
    "RetrievalResult",
    "generate_query_embedding",
    "retrieve",
    "retrieve_content_chunks",
    "validate",
]

_HOMES = {"PertinentError": "errors", "Answer": "types", "Chunk": "types", "Filters": "types", "Hit": "types"}


def __getattr__(name: str) -> Any:
    # Late, so that `pertinent --help` need not load what it does not use.
    if name not in __all__:
        raise AttributeError(f"module 'pertinent' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES.get(name, 'surfaces.library')}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
