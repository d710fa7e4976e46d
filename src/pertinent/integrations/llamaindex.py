"""A retriever for LlamaIndex."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..surfaces.search_filters import make_options
from ..types import Filters, Hit
from .passages import Book, describe_hit, open_book

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import (
        NodeRelationship,
        NodeWithScore,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )
except ImportError as error:
    raise ImportError("LlamaIndex is not installed: pip install 'pertinent[llama-index]'") from error

if TYPE_CHECKING:
    from llama_index.core.callbacks import CallbackManager

PROMPT_KEYS = frozenset({"title", "section", "citation"})
"""The metadata that a language model reads beside the text; the others are for programs."""


class PertinentNodeRetriever(BaseRetriever):
    """Finds passages as LlamaIndex nodes with scores.

    The metadata of a node has `score`, `title`, `section`, `citation`, `url`, `anchor`, `span`, `chunk_id`
    and `document_id`. A language model is shown title, section and citation with the text.

    Args:
        book: An opened `Pertinent`, a `PertinentClient`, or the address of a service.
        api_key: A key of the service, with its address.
        top_k: The maximum number of passages.
        threshold: The minimum score of a passage.
        filters: Search only where `document_id`, `section`, `url` or `source_type` match.
        callback_manager: LlamaIndex's callbacks.

    Examples:
        >>> retriever = PertinentNodeRetriever("http://127.0.0.1:8000", top_k=3)
        >>> nodes = retriever.retrieve("How do nodes talk to each other?")
    """

    def __init__(
        self,
        book: Book | str,
        *,
        api_key: str | None = None,
        top_k: int = 5,
        threshold: float = 0.0,
        filters: Filters | Mapping[str, str] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        make_options(filters, top_k=top_k, threshold=threshold)
        self._book = open_book(book, api_key)
        self._top_k = top_k
        self._threshold = threshold
        self._filters = filters
        super().__init__(callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        answer = self._book.search(
            query_bundle.query_str, self._top_k, self._threshold, filters=self._filters
        )
        return [NodeWithScore(node=_make_node(hit), score=hit.score) for hit in answer.hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _make_node(hit: Hit) -> TextNode:
    chunk, metadata = hit.chunk, describe_hit(hit)
    start, end = chunk.span
    hidden = [key for key in metadata if key not in PROMPT_KEYS]
    return TextNode(
        id_=chunk.chunk_id,
        text=chunk.text,
        metadata=metadata,
        start_char_idx=start,
        end_char_idx=end,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=chunk.document_id)},
    )
