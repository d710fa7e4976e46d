"""What is validated: a pipeline that searches, and can list what it stores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ..errors import PertinentError
from ..types import SECTION_SEPARATOR, Answer, Chunk, Page, SearchOptions


class NoVerdict(PertinentError):
    """The pipeline is broken, so its retrieval cannot be judged."""


class PageSection(NamedTuple):
    """The text under a heading of a page, up to the next heading: `[start:end]` of the page's text.

    A section of a few words may share its chunk with another one, whose anchor the chunk then has.
    """

    section: str
    """The headings above the text, as in `Chunk.section`."""
    anchor: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PageView:
    """A page with its text, its sections, and its current chunks, each a slice of the text."""

    document_id: str
    url: str
    title: str
    source_path: str
    text: str
    sections: tuple[PageSection, ...]
    chunks: tuple[Chunk, ...]

    @classmethod
    def from_page(cls, page: Page, chunks: Iterable[Chunk]) -> PageView:
        """Return the view of a page with these chunks; a heading without text of its own is no section."""
        sections = tuple(
            PageSection(
                SECTION_SEPARATOR.join(section.path),
                section.anchor,
                section.blocks[0].start,
                section.blocks[-1].end,
            )
            for section in page.sections
            if section.blocks
        )
        return cls(
            page.document_id, page.url, page.title, page.source_path, page.text, sections, tuple(chunks)
        )


class ContentVersion(NamedTuple):
    """The state of the stored pages, to notice a sync during a validation."""

    pending: int = 0
    """How many pages a sync is changing, or left unfinished when it was interrupted."""
    pages: object = None
    """A value that changes when a page does."""


class ValidationTarget(Protocol):
    """A pipeline under validation: the one of this process, or a remote service."""

    def describe_pipeline(self) -> Mapping[str, str]:
        """Return what identifies the pipeline: embedder, chunker, settings, address."""

    def search(self, text: str, options: SearchOptions) -> Answer:
        """Search without a cache: a cached answer must not be measured.

        Raises:
            NoVerdict: The answer is that of another search.
        """

    def content_version(self) -> ContentVersion:
        """Return the state of the pages; the pending ones are counted before the others are read."""

    def pages(self) -> Iterator[PageView]:
        """Iterate over all pages, as the catalog has them."""

    def find_indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        """Return those of the chunks that are in the index."""

    def audit(self) -> list[str]:
        """Check everything that is stored; each fault is described in a line that names the chunk or page."""
