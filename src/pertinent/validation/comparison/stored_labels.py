"""What a report keeps so that a later run can score its lists again, with other labels.

A label is kept with the spans where it was found, a list with the passages beyond `top_k`, and a page with
checksums of its text and of its chunks: they tell whether a span means the same in another run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict, Field

from ...types import Chunk
from ..golden.golden_set import Label
from ..labels.resolve import ResolvedQuery
from ..runner import QueryOutcome
from ..scoring import Case
from ..target import PageView

KEPT_DEPTH = 10
"""How many results of a list are kept, or `top_k` where that is more."""

CHECKSUM = 16
"""How many hex digits a checksum has: it tells versions of one page or label apart."""


class Record(BaseModel):
    """A part of what is kept; a report of a later version may know more fields."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class StoredSpan(Record):
    """A span of a page's text."""

    document_id: str
    start: int
    end: int

    def overlaps(self, span: StoredSpan) -> bool:
        """Whether both are on one page and share a character."""
        return self.document_id == span.document_id and max(self.start, span.start) < min(self.end, span.end)


class StoredPassage(StoredSpan):
    """A chunk, by its place and its text."""

    content_hash: str


class PageVersion(Record):
    """Checksums of a page: equal ones mean the same text, and the same chunks."""

    text: str
    chunks: str


class StoredLabel(Record):
    """A label of a query."""

    key: str = Field(description="Which place it points at; see `label_places`")
    grade: int = Field(ge=0, le=2)
    judge: str | None = None


class LabelPlace(Record):
    """What labels with one key point at, and where that was found in this run."""

    place: str = Field(description="The place in words, for messages")
    spans: list[StoredSpan] = Field(description="Where it was found; empty where it is lost")
    chunk_ids: list[str] = Field(description="The chunks that cover it; see `passages`")


def store_labels(resolved: ResolvedQuery) -> list[StoredLabel]:
    """The labels of a query."""
    labels = (label.label for label in resolved.labels)
    return [StoredLabel(key=_label_key(label), grade=label.grade, judge=label.judge) for label in labels]


def store_label_places(cases: Iterable[Case]) -> dict[str, LabelPlace]:
    """Where the labels of all queries were found, by key; a golden set that judges pages needs no chunks."""
    places = {}
    for case in cases:
        for label in case.resolved.labels:
            spans = [
                StoredSpan(document_id=place.document_id, start=place.start, end=place.end)
                for place in label.places
            ]
            chunk_ids = [chunk_id for chunk_id in label.chunk_ids if chunk_id in case.resolved.judgments]
            places[_label_key(label.label)] = LabelPlace(
                place=label.label.place, spans=spans, chunk_ids=chunk_ids
            )
    return places


def list_further_chunks(outcome: QueryOutcome) -> list[Chunk]:
    """The results that follow those of `top_k`, as far as a report keeps them."""
    return [hit.chunk for hit in outcome.deep_results[len(outcome.results) : KEPT_DEPTH]]


def store_passages(cases: Sequence[Case], pages: Iterable[PageView]) -> dict[str, StoredPassage]:
    """The chunks that labels cover, and those that follow the results of `top_k`, by id."""
    judged = {chunk_id for case in cases for chunk_id in case.resolved.judgments}
    chunks = [chunk for page in pages for chunk in page.chunks if chunk.chunk_id in judged]
    chunks += [chunk for case in cases for chunk in list_further_chunks(case.outcome)]
    return {
        chunk.chunk_id: StoredPassage(
            document_id=chunk.document_id,
            start=chunk.start,
            end=chunk.end,
            content_hash=chunk.content_hash,
        )
        for chunk in chunks
    }


def store_pages(cases: Sequence[Case], pages: Iterable[PageView]) -> dict[str, PageVersion]:
    """The checksums of the pages that a label or a list names, by id."""
    named: set[str] = set()
    for case in cases:
        depth = max(KEPT_DEPTH, len(case.outcome.results))
        named |= {hit.chunk.document_id for hit in case.outcome.deep_results[:depth]}
        named |= {place.document_id for label in case.resolved.labels for place in label.places}
    return {
        page.document_id: PageVersion(text=_checksum(page.text), chunks=_checksum(_outline(page)))
        for page in pages
        if page.document_id in named
    }


def _outline(page: PageView) -> str:
    return "\n".join(f"{chunk.start} {chunk.end} {chunk.content_hash}" for chunk in page.chunks)


def _label_key(label: Label) -> str:
    pointer = [label.page, label.url, label.anchor, label.quote, label.span, label.chunk]
    return _checksum(json.dumps(pointer))


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:CHECKSUM]
