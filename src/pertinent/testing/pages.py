"""Pages and a source in memory, for tests that need no files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..identity import document_id
from ..sources.normal_form import BlockPiece, HeadingPiece, Piece, assemble
from ..types import Page, Unreadable


def page(name: str, sections: Mapping[str, str | Sequence[str]], *, title: str | None = None) -> Page:
    """Create a page at https://book.example/docs/NAME; each section but "" gets a level-two heading."""
    url = f"https://book.example/docs/{name}"
    pieces: list[Piece] = []
    for heading, paragraphs in sections.items():
        if heading:
            pieces.append(HeadingPiece(2, heading, heading.lower().replace(" ", "-")))
        texts = [paragraphs] if isinstance(paragraphs, str) else paragraphs
        pieces += [BlockPiece("code" if text.startswith("```") else "prose", text) for text in texts]
    text, page_sections = assemble(pieces, title or name)
    return Page(
        document_id=document_id(url, name),
        url=url,
        title=title or name,
        source_path=f"docs/{name}.md",
        slug=name,
        source_type="docusaurus-page",
        text=text,
        sections=page_sections,
    )


class InMemorySource:
    """A source of the given pages."""

    def __init__(
        self,
        *pages: Page | Unreadable,
        name: str = "https://book.example/docs",
        language: str | None = None,
    ) -> None:
        self.name = name
        self.language = language
        self.location = f"memory:{name}"
        self.notes: tuple[str, ...] = ()
        self.pages = list(pages)

    @property
    def total(self) -> int:
        """The number of pages."""
        return len(self.pages)

    def read(self) -> Iterator[Page | Unreadable]:
        """Yield the pages."""
        yield from self.pages
