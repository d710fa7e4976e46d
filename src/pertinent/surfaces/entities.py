"""The entities of seed 002: a query as a vector, and a passage found for it. They check themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..build import known_dimension
from ..errors import InvalidInput
from ..identity import is_url
from ..limits import RETRIEVAL_LAYER, check_at_least, check_share, check_string, check_text
from ..search.engine import check_numbers
from ..types import Hit

QUERY_TEXT = replace(RETRIEVAL_LAYER, query="query_text")


@dataclass(frozen=True, slots=True)
class QueryEmbedding:
    """A query as a vector (seed 002)."""

    vector: list[float]
    query_text: str
    model: str = "embed-english-v3.0"

    def __post_init__(self) -> None:
        QUERY_TEXT.check_query(self.query_text)
        check_text("model", self.model)
        length = len(check_numbers("vector", self.vector))
        expected = known_dimension(self.model)
        if expected is not None and length != expected:
            raise InvalidInput("vector", f"has {length} elements; those of {self.model} have {expected}")
        if not length:
            raise InvalidInput("vector", "must not be empty")


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A passage found for a vector (seed 002)."""

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
    """The hit in seed 002's names; refused where the chunk lacks its text or its address."""
    return RetrievalResult(
        text=hit.chunk.text,
        source_url=hit.chunk.url,
        relevance_score=hit.score,
        chunk_id=hit.chunk.chunk_id,
        position=max(hit.chunk.position, 0),
        title=hit.chunk.title,
    )
