"""The verdict on 10,000 queries: what judging takes beyond retrieval."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pertinent.identity import point_id
from pertinent.indexing.chunking import chunk_page
from pertinent.sources import open_source
from pertinent.testing.embedder import HashedWords
from pertinent.types import Answer, Chunk, Hit, Page, Scores, SearchOptions
from pertinent.validation.golden.golden_set import GoldenSet
from pertinent.validation.target import ContentVersion, PageView
from pertinent.validation.validate import ValidationOptions, validate

QUERIES = 10_000
TYPES = ("specific", "broad", "paraphrase")
CATEGORIES = ("factual", "conceptual", "contextual")


class Instant:
    """A pipeline whose answers are there at once."""

    def __init__(self, pages: Sequence[PageView]) -> None:
        self._pages = pages
        self._chunks = [chunk for page in pages for chunk in page.chunks]
        self._random = random.Random(1)
        self.seconds = 0.0

    def describe_pipeline(self) -> Mapping[str, str]:
        return {}

    def search(self, text: str, options: SearchOptions) -> Answer:
        start = time.perf_counter()
        sampled = self._random.sample(self._chunks, options.top_k)
        hits = tuple(_hit(chunk, 1 - rank / 200) for rank, chunk in enumerate(sampled))
        answer = Answer(text, "hybrid", hits, options.top_k, 0.0, "now")
        self.seconds += time.perf_counter() - start
        return answer

    def content_version(self) -> ContentVersion:
        return ContentVersion()

    def pages(self) -> Iterator[PageView]:
        yield from self._pages

    def find_indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        return set(chunk_ids)

    def audit(self) -> list[str]:
        return []


def _hit(chunk: Chunk, score: float) -> Hit:
    return Hit(chunk, score, Scores(score, score), point_id(chunk.chunk_id))


def measure(book: Path) -> dict[str, Any]:
    pages = [_view(page) for page in open_source(str(book)).read() if isinstance(page, Page)]
    subject = Instant(pages)
    golden = _golden(pages)
    start = time.perf_counter()
    report = validate(subject, golden, ValidationOptions(together=False, diagnose=False))
    seconds = time.perf_counter() - start
    return {
        "queries": QUERIES,
        "labels": sum(len(query.labels) for query in golden.queries),
        "measures": len(report.metrics["all"]),
        "groups": len(report.metrics),
        "whole_s": round(seconds, 2),
        "retrieval_s": round(subject.seconds, 2),
        "beyond_retrieval_s": round(seconds - subject.seconds, 2),
    }


def _view(page: Page) -> PageView:
    return PageView.from_page(page, chunk_page(page, HashedWords().count_tokens, target=200, most=256))


def _golden(pages: Sequence[PageView]) -> GoldenSet:
    """Six passages answer each query, named by their anchors."""
    chance = random.Random(2)
    locations = [(page.source_path, chunk.anchor) for page in pages for chunk in page.chunks if chunk.anchor]
    queries = [
        {
            "id": f"q{number}",
            "text": f"question {number}",
            "query_type": TYPES[number % 3],
            "category": CATEGORIES[number // 3 % 3],
            "labels": [
                {"page": page, "anchor": anchor, "grade": chance.choice((1, 1, 2))}
                for page, anchor in chance.sample(locations, 6)
            ],
        }
        for number in range(QUERIES)
    ]
    return GoldenSet.model_validate({"name": "many", "queries": queries})
