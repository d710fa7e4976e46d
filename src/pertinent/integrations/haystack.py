"""A retriever for Haystack."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from ..errors import InvalidInput
from ..surfaces.search_filters import make_options
from ..types import Filters
from .passages import Book, describe_hit, open_book

try:
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.utils import Secret
except ImportError as error:
    raise ImportError("Haystack is not installed: pip install 'pertinent[haystack]'") from error

FIELDS = tuple(f"meta.{field.name}" for field in fields(Filters))
"""The fields of a document that a search can filter by."""


@component
class PertinentTextRetriever:
    """Finds passages as Haystack documents, for a pipeline in Python or in YAML.

    The meta of a document has `score`, `title`, `section`, `citation`, `url`, `anchor`, `span`, `chunk_id`
    and `document_id`.

    Args:
        book: An opened `Pertinent`, a `PertinentClient`, or the address of a service. A pipeline can be saved
            with an address only.
        api_key: A key of the service, with its address.
        top_k: The maximum number of passages, unless `run` is given another one.
        threshold: The minimum score of a passage.
        filters: Haystack filters, unless `run` is given others: `==` on `meta.document_id`, `meta.section`,
            `meta.url` or `meta.source_type`, and `AND`.

    Examples:
        >>> retriever = PertinentTextRetriever("http://127.0.0.1:8000", top_k=3)
        >>> documents = retriever.run("How do nodes talk to each other?")["documents"]
    """

    def __init__(
        self,
        book: Book | str,
        api_key: Secret | None = None,
        top_k: int = 5,
        threshold: float = 0.0,
        filters: dict[str, Any] | None = None,
    ) -> None:
        make_options(_convert_filters(filters), top_k=top_k, threshold=threshold)
        self.book = book
        self.api_key = api_key
        self.top_k = top_k
        self.threshold = threshold
        self.filters = filters
        self._book = open_book(book, _resolve_key(api_key))

    def to_dict(self) -> dict[str, Any]:
        """Serialize the component with the address of its service.

        Raises:
            InvalidInput: The component has an opened index or client, which a file can't name.
        """
        if not isinstance(self.book, str):
            raise InvalidInput(
                "book", "only the address of a service can be saved; `pertinent serve` starts one"
            )
        return default_to_dict(
            self,
            book=self.book,
            api_key=self.api_key,
            top_k=self.top_k,
            threshold=self.threshold,
            filters=self.filters,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PertinentTextRetriever:
        """Create the component from what `to_dict` returned."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Find the passages that answer a query best.

        Args:
            query: The question or the words to search for.
            filters: Haystack filters, instead of those of the component.
            top_k: The maximum number of passages, instead of that of the component.
        """
        answer = self._book.search(
            query,
            self.top_k if top_k is None else top_k,
            self.threshold,
            filters=_convert_filters(self.filters if filters is None else filters),
        )
        documents = [
            Document(id=hit.chunk.chunk_id, content=hit.chunk.text, meta=describe_hit(hit), score=hit.score)
            for hit in answer.hits
        ]
        return {"documents": documents}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Find the passages that answer a query best, without blocking the event loop."""
        return await asyncio.to_thread(self.run, query, filters, top_k)


def _resolve_key(api_key: object) -> str | None:
    if api_key is None:
        return None
    if not isinstance(api_key, Secret):  # it may be the key itself, which no message quotes
        name = type(api_key).__name__
        raise InvalidInput("api_key", f'must be a Secret, as Secret.from_env_var("NAME"), not {name}')
    key: str | None = api_key.resolve_value()
    return key


def _convert_filters(filters: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Convert Haystack's filters to those of a search.

    Examples:
        >>> _convert_filters({"field": "meta.section", "operator": "==", "value": "Limits"})
        {'section': 'Limits'}
    """
    if not filters:
        return None
    converted: dict[str, str] = {}
    for field, value in _list_comparisons(filters):
        name = field.removeprefix("meta.")
        if converted.setdefault(name, value) != value:
            raise InvalidInput("filters", f"{field} has two values, {converted[name]!r} and {value!r}")
    return converted


def _list_comparisons(filters: Any) -> Iterator[tuple[str, str]]:
    """Yield field and value of each comparison; raise InvalidInput for what a search can't do."""
    match filters:
        case {"operator": "AND", "conditions": [*conditions]}:
            for condition in conditions:
                yield from _list_comparisons(condition)
        case {"field": str(field), "operator": "==", "value": str(value)} if field in FIELDS:
            yield field, value
        case _:
            raise InvalidInput(
                "filters",
                f"must be == with text on {', '.join(FIELDS)}, or an AND of such conditions, not {filters!r}",
            )
