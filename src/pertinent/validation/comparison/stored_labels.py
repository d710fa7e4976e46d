"""What a report stores so that its lists can be scored again, with the labels of another run.

For each label it stores the spans where it was found, for each list the chunks beyond `top_k`, and for each
page checksums of its text and of its chunks. The checksums tell whether a span means the same in another run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict, Field

from ...types import Chunk
from ..golden.golden_set import Label
from ..integrity import hash_text
from ..labels.resolve import ResolvedQuery
from ..labels.votes import Specificity
from ..runner import QueryOutcome
from ..scoring import Case
from ..target import PageView

STORED_DEPTH = 10
"""How many results of a list are stored; `top_k` results if that is more."""

CHECKSUM_LENGTH = 16
"""How many hex digits a checksum has. It only tells versions of a page, or labels, apart."""


class StoredModel(BaseModel):
    """A part of what is stored. Unknown fields are ignored: a later version may add some."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class StoredSpan(StoredModel):
    """A span of a page's text."""

    document_id: str
    start: int
    end: int

    def overlaps(self, span: StoredSpan) -> bool:
        """Whether both are on one page and share a character."""
        return self.document_id == span.document_id and max(self.start, span.start) < min(self.end, span.end)


class StoredPassage(StoredSpan):
    """The span of a chunk, and the hash of its text."""

    content_hash: str


class PageVersion(StoredModel):
    """Checksums of a page's text and of its chunks."""

    text: str
    chunks: str


class StoredLabel(StoredModel):
    """A label of a query."""

    key: str = Field(description="What it points at; see `label_locations`")
    grade: int = Field(ge=0, le=2)
    judge: str | None = None


class LabelLocation(StoredModel):
    """What all labels with one key point at, and where that was found in this run."""

    description: str = Field(description="What the labels point at, for messages")
    specificity: Specificity = Field(
        description="0 if the labels are on a page, 1 on a section, 2 on a passage; the most specific counts"
    )
    spans: list[StoredSpan] = Field(description="Where it was found; empty if it is lost")
    chunk_ids: list[str] = Field(description="The chunks that cover it; see `passages`")


def store_labels(resolved: ResolvedQuery) -> list[StoredLabel]:
    """Store the labels of a query."""
    labels = (label.label for label in resolved.labels)
    return [StoredLabel(key=_label_key(label), grade=label.grade, judge=label.judge) for label in labels]


def store_label_locations(cases: Iterable[Case]) -> dict[str, LabelLocation]:
    """Store where the labels of all queries were found, by key.

    Only judged chunks are stored: a golden set that judges pages needs none.
    """
    locations = {}
    for case in cases:
        for label in case.resolved.labels:
            locations[_label_key(label.label)] = LabelLocation(
                description=label.label.location,
                specificity=label.specificity,
                spans=[StoredSpan(**span._asdict()) for span in label.spans],
                chunk_ids=[chunk_id for chunk_id in label.chunk_ids if chunk_id in case.resolved.judgments],
            )
    return locations


def list_further_chunks(outcome: QueryOutcome) -> list[Chunk]:
    """List the chunks that follow the results of `top_k`, up to `STORED_DEPTH`."""
    return [hit.chunk for hit in outcome.deep_results[len(outcome.results) : STORED_DEPTH]]


def store_passages(cases: Sequence[Case], pages: Iterable[PageView]) -> dict[str, StoredPassage]:
    """Store the chunks that labels cover, and those that follow the results of `top_k`, by id."""
    judged = {chunk_id for case in cases for chunk_id in case.resolved.judgments}
    chunks = [chunk for page in pages for chunk in page.chunks if chunk.chunk_id in judged]
    chunks += [chunk for case in cases for chunk in list_further_chunks(case.outcome)]
    return {
        chunk.chunk_id: StoredPassage(
            document_id=chunk.document_id,
            start=chunk.start,
            end=chunk.end,
            content_hash=hash_text(chunk.text),
        )
        for chunk in chunks
    }


def store_pages(cases: Sequence[Case], pages: Iterable[PageView]) -> dict[str, PageVersion]:
    """Store the checksums of the pages that labels and results are on, by id."""
    page_ids: set[str] = set()
    for case in cases:
        depth = max(STORED_DEPTH, len(case.outcome.results))
        page_ids |= {hit.chunk.document_id for hit in case.outcome.deep_results[:depth]}
        page_ids |= {span.document_id for label in case.resolved.labels for span in label.spans}
    return {
        page.document_id: PageVersion(text=_checksum(page.text), chunks=_checksum(_describe_chunks(page)))
        for page in pages
        if page.document_id in page_ids
    }


def _describe_chunks(page: PageView) -> str:
    return "\n".join(f"{chunk.start} {chunk.end} {hash_text(chunk.text)}" for chunk in page.chunks)


def _label_key(label: Label) -> str:
    pointer = [label.page, label.url, label.anchor, label.quote, label.span, label.chunk]
    return _checksum(json.dumps(pointer))


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:CHECKSUM_LENGTH]
