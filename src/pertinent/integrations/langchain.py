"""A retriever for LangChain."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from pydantic import ConfigDict, Field, PrivateAttr, SecretStr, SkipValidation

from ..surfaces.client import PertinentClient
from ..surfaces.library import Pertinent
from ..surfaces.search_filters import make_options
from ..types import Filters
from .passages import Book, describe_hit, open_book

try:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise ImportError("LangChain is not installed: pip install 'pertinent[langchain]'") from error

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun


class PertinentRetriever(BaseRetriever):
    """Finds passages as LangChain documents.

    The metadata of a document has `score`, `title`, `section`, `citation`, `url`, `anchor`, `span`,
    `chunk_id` and `document_id`; `source`, where LangChain's chains look for it, is the citation.

    Args:
        book: An opened `Pertinent`, a `PertinentClient`, or the address of a service.
        api_key: A key of the service, with its address.
        top_k: The maximum number of passages; `invoke(query, top_k=3)` overrides it.
        threshold: The minimum score of a passage.
        filters: Search only where `document_id`, `section`, `url` or `source_type` match; `invoke(query,
            filters=…)` overrides it.

    Examples:
        >>> retriever = PertinentRetriever(book="http://127.0.0.1:8000", top_k=3)
        >>> documents = retriever.invoke("How do nodes talk to each other?")
    """

    # An error must not show the key. An option of another retriever, such as `k`, must not be ignored.
    model_config = ConfigDict(hide_input_in_errors=True, extra="forbid")

    # Opened once, so another book needs another retriever, or a copy. open_book checks it, with one message.
    book: SkipValidation[Pertinent | PertinentClient | str] = Field(frozen=True)
    api_key: SecretStr | None = Field(default=None, frozen=True)
    top_k: int = 5
    threshold: float = 0.0
    filters: Filters | Mapping[str, str] | None = None

    _book: Book = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Check the options, and connect to the service if there is an address."""
        super().model_post_init(context)
        make_options(self.filters, top_k=self.top_k, threshold=self.threshold)
        self._book = open_book(self.book, self.api_key.get_secret_value() if self.api_key else None)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the retriever; a copy with other options checks them, and opens its own book."""
        copied = super().model_copy(update=update, deep=deep)
        if update:
            copied.model_post_init(None)
        return copied

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
        top_k: int | None = None,
        filters: Filters | Mapping[str, str] | None = None,
    ) -> list[Document]:
        return self._find_documents(query, top_k, filters)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
        top_k: int | None = None,
        filters: Filters | Mapping[str, str] | None = None,
    ) -> list[Document]:
        return await asyncio.to_thread(self._find_documents, query, top_k, filters)

    def _find_documents(
        self, query: str, top_k: int | None, filters: Filters | Mapping[str, str] | None
    ) -> list[Document]:
        answer = self._book.search(
            query,
            self.top_k if top_k is None else top_k,
            self.threshold,
            filters=self.filters if filters is None else filters,
        )
        return [
            Document(
                id=hit.chunk.chunk_id,
                page_content=hit.chunk.text,
                metadata={"source": hit.chunk.citation, **describe_hit(hit)},
            )
            for hit in answer.hits
        ]
