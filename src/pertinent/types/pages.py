"""Pages as sources give them: their text, blocks, sections and front matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

BlockKind = Literal["prose", "item", "code", "table"]

FRONT_MATTER_MAX = 500
"""How many characters of a page's front matter can be searched for."""


@dataclass(frozen=True, slots=True)
class Block:
    """A range of a page's text: a paragraph, a list item, a code fence or a table."""

    kind: BlockKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks under one heading of a page, up to the next heading."""

    path: tuple[str, ...]
    anchor: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of a page's front matter by which searches find it; empty if the page does not have them."""

    description: str = ""
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sidebar_label: str = ""

    def text_above(self, position: int) -> str:
        """Return the fields in one line, cut if long, for the first chunk of the page; "" for all others."""
        if position:
            return ""
        fields = (self.sidebar_label, self.description, ", ".join(self.keywords), ", ".join(self.tags))
        return " · ".join(filter(None, fields))[:FRONT_MATTER_MAX]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a source: its normalised text, and its structure as ranges of that text."""

    document_id: str
    url: str
    title: str
    source_path: str
    slug: str
    source_type: str
    text: str
    sections: tuple[Section, ...]
    front_matter: FrontMatter = FrontMatter()


@dataclass(frozen=True, slots=True)
class LazyPage:
    """A page that is parsed only if the index does not have a page with this hash."""

    document_id: str
    page_hash: str
    page: Callable[[], Page] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Pages that a source left out on purpose, with the reason; reported at the end of a sync."""

    reason: str
    pages: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A page that a source could not read; its indexed version is kept."""

    source_path: str
    reason: str
    path_identifies_page: bool = True
    """Whether the path names the page. If not, it may be any page, and only `Gone` pages are removed."""
    url: str = ""
    """The page's address if known: another kind of source may have used another path for it."""
    is_page: bool = True
    """Whether it is known to be a page. If not, it is reported only if it is indexed."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A page that is known to be gone; it is removed even if the list of pages is incomplete."""

    url: str
