"""What is judged: something that searches, and can tell what it holds. Never a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..types import Answer, Chunk, SearchOptions


@dataclass(frozen=True, slots=True)
class PageView:
    """A page with its text and today's chunks, each a slice of it."""

    document_id: str
    url: str
    title: str
    source_path: str
    text: str
    chunks: tuple[Chunk, ...]


class Subject(Protocol):
    """A pipeline under validation: this process's own, or a service at an address."""

    def facts(self) -> Mapping[str, str]:
        """What the run should be remembered by: embedder, chunker, corpus, settings, address."""

    def search(self, text: str, options: SearchOptions) -> Answer:
        """Search without a cache: a cached answer must not be measured."""

    def pages(self) -> Iterator[PageView]:
        """Every page, as the truth about pages has it."""

    def indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        """Which of the chunks can be found at all."""

    def audit(self) -> list[str]:
        """What is wrong with anything that is stored, in words that name it; nothing where all is well."""
