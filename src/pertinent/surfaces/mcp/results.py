"""What the tools return: the structured output of each, with the descriptions that agents read."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

PassageId = Annotated[str, Field(description="Id of the passage, for `fetch`")]
PageId = Annotated[str, Field(description="Id of the page, for `fetch`")]
PageTitle = Annotated[str, Field(description="Title of the page")]
SectionPath = Annotated[str, Field(description="Headings above the passage; empty for the page itself")]
Citation = Annotated[str, Field(description="Address to cite, with the anchor of the section")]
Note = Annotated[str, Field(description="What to know about this answer; empty if nothing")]


class FoundPassage(BaseModel):
    """A passage that answers the query."""

    id: PassageId
    title: PageTitle
    section: SectionPath
    url: Citation
    text: Annotated[str, Field(description="Text of the passage, in Markdown")]
    score: Annotated[float, Field(description="From 0.5, about as likely right as wrong, to 1")]
    page_id: PageId


class SearchResults(BaseModel):
    """The passages, best first; none if nothing is good enough."""

    results: list[FoundPassage]
    note: Note


class FetchedMetadata(BaseModel):
    """Where a text stands, and what is before and after it."""

    page_id: PageId
    section: SectionPath
    source_path: Annotated[str, Field(description="File or path that the page was read from")]
    previous_id: Annotated[str | None, Field(description="Id of the passage before this text, if any")]
    next_id: Annotated[str | None, Field(description="Id of the passage after this text, if any")]
    note: Note


class FetchedText(BaseModel):
    """A passage with its surroundings, a section or a page."""

    id: Annotated[str, Field(description="Id of the passage or page")]
    title: PageTitle
    url: Citation
    text: Annotated[str, Field(description="The text, in Markdown")]
    metadata: FetchedMetadata


class PageEntry(BaseModel):
    """A page."""

    id: PageId
    title: PageTitle
    url: Annotated[str, Field(description="Address of the page")]


class Folder(BaseModel):
    """A part of the documentation."""

    prefix: Annotated[str, Field(description="What the addresses of its pages begin with")]
    pages: Annotated[int, Field(description="How many pages it has")]


class PageList(BaseModel):
    """The pages, in the order of the documentation."""

    pages: list[PageEntry]
    total: Annotated[int, Field(description="How many pages have this prefix")]
    folders: Annotated[list[Folder], Field(description="If pages are left out: the parts to list instead")]
    note: Note


class NameEntry(BaseModel):
    """A page or section whose name fits."""

    title: PageTitle
    section: SectionPath
    url: Citation
    page_id: PageId


class NameList(BaseModel):
    """The names that fit, best first."""

    suggestions: list[NameEntry]
    note: Note
