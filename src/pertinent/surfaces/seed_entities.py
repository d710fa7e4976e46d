"""Seed 002's entities, which check themselves: the embedding of a query, and a retrieved passage."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..build import lookup_dimension
from ..errors import InvalidInput
from ..identity import is_url
from ..limits import RETRIEVAL_LAYER, check_at_least, check_share, check_string, check_text
from ..search.query_vector import check_numbers
from ..types import Hit

QUERY_TEXT = replace(RETRIEVAL_LAYER, query="query_text")


@dataclass(frozen=True, slots=True)
class QueryEmbedding:
    """The embedding of a query (seed 002).

    Args:
        vector: The vector, of the dimension of the model.
        query_text: The text of the query, 1 to 1000 characters.
        model: The model that made the vector.

    Raises:
        InvalidInput: A field is not what the seed allows; the error names the field.
    """

    vector: list[float]
    query_text: str
    model: str = "embed-english-v3.0"

    def __post_init__(self) -> None:
        QUERY_TEXT.check_query(self.query_text)
        check_text("model", self.model)
        length = len(check_numbers("vector", self.vector))
        expected = lookup_dimension(self.model)
        if expected is not None and length != expected:
            raise InvalidInput("vector", f"has {length} elements; vectors of {self.model} have {expected}")
        if not length:
            raise InvalidInput("vector", "must not be empty")


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A passage retrieved for a vector (seed 002).

    Args:
        text: The text of the passage.
        source_url: The address of its page.
        relevance_score: The cosine similarity, 0.0 to 1.0.
        chunk_id: The id of the chunk.
        position: The position of the chunk in its page, from 0.
        title: The title of the page.

    Raises:
        InvalidInput: A field is not what the seed allows; the error names the field.
    """

    text: str
    source_url: str
    relevance_score: float
    chunk_id: str
    position: int = 0
    title: str = ""

    def __post_init__(self) -> None:
        check_text("text", self.text)
        if not is_url(check_text("source_url", self.source_url)):
            raise InvalidInput("source_url", f"must be an address, not {self.source_url!r}")
        check_share("relevance_score", self.relevance_score)
        check_text("chunk_id", self.chunk_id)
        check_at_least("position", self.position, 0)
        check_string("title", self.title)


def to_retrieval_result(hit: Hit) -> RetrievalResult:
    """Convert a hit to seed 002's result; raise InvalidInput if it lacks a text or an address."""
    return RetrievalResult(
        text=hit.chunk.text,
        source_url=hit.chunk.url,
        relevance_score=hit.score,
        chunk_id=hit.chunk.chunk_id,
        position=max(hit.chunk.position, 0),
        title=hit.chunk.title,
    )
