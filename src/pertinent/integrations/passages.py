"""What the retrievers share: the index or service that they search, and the metadata of a passage."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidInput
from ..identity import is_url
from ..surfaces.client import PertinentClient
from ..surfaces.library import Pertinent
from ..types import Hit

Book = Pertinent | PertinentClient
"""What a retriever searches."""


def open_book(book: Book | str, api_key: str | None = None) -> Book:
    """Return an opened index or client as it is, and a client for the address of a service.

    Args:
        book: An opened `Pertinent`, a `PertinentClient`, or the address of a service.
        api_key: A key of the service; only with an address.

    Raises:
        InvalidInput: The book is none of these, or the address is invalid.
    """
    if isinstance(book, str) and is_url(book):
        return PertinentClient(book, api_key)
    if not isinstance(book, Pertinent | PertinentClient):
        name = repr(book) if isinstance(book, str) else type(book).__name__
        raise InvalidInput(
            "book",
            "must be an opened index (`Pertinent.open(FOLDER)`), a PertinentClient or the address of a "
            f"service (http://… or https://…), not {name}",
        )
    if api_key is not None:
        raise InvalidInput("api_key", "belongs to the address of a service; pass the address as book")
    return book


def describe_hit(hit: Hit) -> dict[str, Any]:
    """Return the metadata of a passage, as values that JSON can hold.

    `citation` is its address, `url#anchor`. `span` is its start and end in the text of the page; None if
    unknown, as in a collection that another pipeline filled.
    """
    chunk = hit.chunk
    return {
        "score": hit.score,
        "title": chunk.title,
        "section": chunk.section,
        "citation": chunk.citation,
        "url": chunk.url,
        "anchor": chunk.anchor,
        "span": None if None in chunk.span else list(chunk.span),
        "chunk_id": chunk.chunk_id,
        "document_id": chunk.document_id,
    }
