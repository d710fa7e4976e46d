"""A range of a page's passages: found by an id or an address, extended to both sides, cut to a limit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote

from ..._internal.messages import format_list
from ...errors import NotFound
from ...identity import canonical_url, is_url, shorten
from ...types import SECTION_SEPARATOR, Chunk

if TYPE_CHECKING:
    from ...validation.target import PageView
    from ..reader import Reader

PAGE_URI_PREFIX = "docs://pages/"
"""What the address of a page as a resource begins with; its id follows."""

MAX_QUOTE = 200
"""How many characters of an id or address a message quotes."""


@dataclass(frozen=True, slots=True)
class PageRange:
    """Consecutive passages of a page, `first` to `last`; without a target, from the start of the page."""

    page: PageView
    target: Chunk | None
    """The passage that was requested, or the first one of the requested section."""
    first: int
    last: int

    @property
    def text(self) -> str:
        """The text from the first passage to the last, with the headings between them."""
        chunks = self.page.chunks
        if not chunks:
            return self.page.text
        start = chunks[self.first].start if self.target else 0
        is_end = self.target is None and self.last == len(chunks) - 1
        return self.page.text[start : None if is_end else chunks[self.last].end]

    @property
    def previous_id(self) -> str | None:
        """The id of the passage before the range."""
        return self.page.chunks[self.first - 1].chunk_id if self.first else None

    @property
    def next_id(self) -> str | None:
        """The id of the passage after the range."""
        following = self.page.chunks[self.last + 1 : self.last + 2]
        return following[0].chunk_id if following else None

    def fit(self, around: int, fits: Callable[[str], bool]) -> PageRange:
        """Cut the range at its end until its text fits, or extend it to both sides as long as it fits.

        Args:
            around: How many passages to add on each side of a target, at most.
            fits: Whether a text is short enough.
        """
        if not fits(self.text):
            lasts = range(self.first, self.last)
            # From some passage on, the text is too long.
            fitting = bisect_left(lasts, 1, key=lambda last: int(not fits(replace(self, last=last).text)))
            return replace(self, last=self.first + max(fitting - 1, 0))
        selected = self
        for distance in range(1, around + 1 if self.target else 1):
            selected = selected._extend(self.first - distance, selected.last, fits)
            selected = selected._extend(selected.first, self.last + distance, fits)
        return selected

    def _extend(self, first: int, last: int, fits: Callable[[str], bool]) -> Self:
        """Return the range with this end, if it is on the page, next to this range and short enough."""
        is_next = self.first - first <= 1 and last - self.last <= 1
        if first < 0 or last >= len(self.page.chunks) or not is_next:
            return self
        extended = replace(self, first=first, last=last)
        return extended if fits(extended.text) else self


def find_range(reader: Reader, identifier: str) -> PageRange:
    """Find a passage or a page by its id, a page by its address, or a section by its `url#anchor`.

    The address of a page may be that of its resource, too.

    Raises:
        NotFound: Nothing has this id or address.
    """
    if identifier.startswith(PAGE_URI_PREFIX):
        return _span_page(_read_page(reader, unquote(identifier.removeprefix(PAGE_URI_PREFIX))))
    if is_url(identifier):
        url, _, anchor = identifier.partition("#")
        page = reader.page(_find_page_id(reader, url))
        return _find_section(page, anchor) if anchor else _span_page(page)
    try:
        (chunk,) = reader.chunk(identifier)
    except NotFound:
        return _span_page(_read_page(reader, identifier))
    page = reader.page(chunk.document_id)
    for position, sibling in enumerate(page.chunks):
        if sibling.chunk_id == chunk.chunk_id:
            return PageRange(page, chunk, position, position)
    raise NotFound(f"the passage {identifier!r} was replaced a moment ago; search again")


def _read_page(reader: Reader, identifier: str) -> PageView:
    try:
        return reader.page(identifier)
    except NotFound as error:
        raise NotFound(
            f"no passage or page has the id {shorten(identifier, MAX_QUOTE)!r}; search and list_pages return "
            "ids"
        ) from error


def _find_page_id(reader: Reader, url: str) -> str:
    canonical = canonical_url(url)
    for record in reader.pages():
        if record.url in (url, canonical):
            return record.document_id
    raise NotFound(f"no page has the address {shorten(url, MAX_QUOTE)}; list_pages returns the addresses")


def _span_page(page: PageView) -> PageRange:
    return PageRange(page, None, 0, max(len(page.chunks) - 1, 0))


def _find_section(page: PageView, anchor: str) -> PageRange:
    """Return the passages below a heading, those of its sub-sections included."""
    positions = [position for position, chunk in enumerate(page.chunks) if chunk.anchor == anchor]
    if not positions:
        anchors = _list_anchors(page.chunks)
        raise NotFound(
            f"{page.url} has no section with the anchor {shorten(anchor, MAX_QUOTE)!r}; it has {anchors}"
        )
    first = last = positions[0]
    section = page.chunks[first].section
    while last + 1 < len(page.chunks) and _is_below(page.chunks[last + 1].section, section):
        last += 1
    return PageRange(page, page.chunks[first], first, last)


def _is_below(section: str, parent: str) -> bool:
    """Whether a section is the parent or below it; the text above the first heading has none below."""
    return section == parent or bool(parent and section.startswith(parent + SECTION_SEPARATOR))


def _list_anchors(chunks: Sequence[Chunk]) -> str:
    anchors = dict.fromkeys(f"#{chunk.anchor}" for chunk in chunks if chunk.anchor)
    return format_list(list(anchors), limit=20) or "none"
