"""Pertinent: retrieval for documentation that finds the right passage and cites it exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import PertinentError
    from .surfaces.client import AsyncPertinentClient, PertinentClient
    from .surfaces.library import Pertinent
    from .surfaces.seed_entities import QueryEmbedding, RetrievalResult
    from .surfaces.seed_functions import (
        generate_query_embedding,
        retrieve,
        retrieve_content_chunks,
        validate,
    )
    from .types import Answer, Chunk, Filters, Hit, Suggestion

__all__ = [
    "Answer",
    "AsyncPertinentClient",
    "Chunk",
    "Filters",
    "Hit",
    "Pertinent",
    "PertinentClient",
    "PertinentError",
    "QueryEmbedding",
    "RetrievalResult",
    "Suggestion",
    "generate_query_embedding",
    "retrieve",
    "retrieve_content_chunks",
    "validate",
]

_MODULES = {
    "PertinentError": "errors",
    **dict.fromkeys(("Answer", "Chunk", "Filters", "Hit", "Suggestion"), "types"),
    "Pertinent": "surfaces.library",
    **dict.fromkeys(("AsyncPertinentClient", "PertinentClient"), "surfaces.client"),
    **dict.fromkeys(("QueryEmbedding", "RetrievalResult"), "surfaces.seed_entities"),
}
"""Where a public name is defined, unless it is a function of a seed."""


def __getattr__(name: str) -> Any:
    # Lazy, so that `pertinent --help` starts fast.
    if name not in __all__:
        raise AttributeError(f"module 'pertinent' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_MODULES.get(name, 'surfaces.seed_functions')}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
