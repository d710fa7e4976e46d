"""Convert pages and chunks to table rows and back; reject values that no database can store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from ..._internal.clock import utc_now
from ...errors import DamagedPage, InvalidInput
from ...identity import CHUNK_ID_MAX, SLUG_MAX, TITLE_MAX, content_hash, is_storable, shorten
from ...types import Block, Chunk, FrontMatter, Page, Section

Row = dict[str, Any]

_NUMBERS = frozenset(["position", "start", "end"])
"""The fields of a chunk that are numbers; all others are texts."""


@contextmanager
def report_damage(document_id: str) -> Iterator[None]:
    """Raise DamagedPage where values of a page have other types or another form than those written."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise DamagedPage(
            f"the page {document_id} in the catalog is damaged ({type(error).__name__}: {error}): run "
            "`pertinent doctor --repair`, then `pertinent index SOURCE`, which reads it from its source again"
        ) from error


def _check_type(values: Iterable[object], expected: type) -> None:
    for value in values:
        if type(value) is not expected:
            raise TypeError(f"{shorten(repr(value), 60)} is not {expected.__name__}")


def to_page(row: Any) -> Page:
    """Build a page from a row of `pages`; raise DamagedPage if that is not possible."""
    with report_damage(row.document_id):
        return _to_page(row)


def _to_page(row: Any) -> Page:
    sections = tuple(
        Section(
            tuple(section["path"]), section["anchor"], tuple(Block(*block) for block in section["blocks"])
        )
        for section in row.sections
    )
    texts = (row.document_id, row.url, row.title, row.source_path, row.slug, row.source_type, row.text)
    _check_type(texts, str)
    for section in sections:
        _check_type((section.anchor, *section.path, *(block.kind for block in section.blocks)), str)
        _check_type((limit for block in section.blocks for limit in (block.start, block.end)), int)
    return Page(
        *texts,
        sections,
        to_front_matter(row.front_matter or {}),
    )


def to_front_matter(fields: Mapping[str, Any]) -> FrontMatter:
    """Build the front matter from its column in `pages`."""
    return FrontMatter(
        description=fields.get("description", ""),
        keywords=tuple(fields.get("keywords", ())),
        tags=tuple(fields.get("tags", ())),
        sidebar_label=fields.get("sidebar_label", ""),
    )


def from_page(source: str, page: Page, page_hash: str) -> Row:
    """Build a row of `pages`."""
    for section in page.sections:
        for text in (section.anchor, *section.path):
            check_row({"sections": text})
    return check_row(
        {
            "document_id": page.document_id,
            "url": page.url,
            "title": page.title,
            "source": source,
            "source_path": page.source_path,
            "slug": page.slug,
            "source_type": page.source_type,
            "page_hash": page_hash,
            "updated_at": utc_now(),
            "text": page.text,
            "front_matter": asdict(page.front_matter),
            "sections": [
                {
                    "path": section.path,
                    "anchor": section.anchor,
                    "blocks": [(block.kind, block.start, block.end) for block in section.blocks],
                }
                for section in page.sections
            ],
        }
    )


def to_chunk(row: Any) -> Chunk:
    """Build a chunk from a row of `documents` joined with its page; another pipeline's row has no page.

    Raises:
        DamagedPage: A value is not of the type that was written.
    """
    with report_damage(row.document_id or row.chunk_id):
        return _to_chunk(row)


def _to_chunk(row: Any) -> Chunk:
    chunk = Chunk(
        chunk_id=row.chunk_id,
        document_id=row.document_id or "",
        url=row.url or "",
        anchor=row.anchor or "",
        title=row.page_title if row.page_title is not None else row.title or "",
        section=row.section or "",
        position=row.order_index - 1,
        start=row.start_char or 0,
        end=row.end_char if row.end_char is not None else len(row.snippet),
        text=row.snippet,
        content_hash=row.content_hash or content_hash(row.snippet),
        source_path=row.source_path,
        slug=row.slug,
        source_type=row.source_type or "",
        created_at=row.created_at,
    )
    for field in fields(chunk):
        _check_type([getattr(chunk, field.name)], int if field.name in _NUMBERS else str)
    return chunk


def from_chunk(page: Page, chunk: Chunk) -> Row:
    """Build a row of `documents`; the chunk must agree with its page."""
    for name in ("document_id", "url", "title", "source_path", "slug", "source_type"):
        if getattr(chunk, name) != getattr(page, name):
            raise InvalidInput(name, f"of chunk {chunk.chunk_id!r} differs from that of its page")
    if len(chunk.chunk_id) > CHUNK_ID_MAX:
        raise InvalidInput("chunk_id", f"{chunk.chunk_id!r} is longer than {CHUNK_ID_MAX} characters")
    if len(chunk.slug) > SLUG_MAX:
        raise InvalidInput("slug", f"{chunk.slug!r} is longer than {SLUG_MAX} characters")
    return check_row(
        {
            "chunk_id": chunk.chunk_id,
            "source_path": chunk.source_path,
            "slug": chunk.slug,
            "title": shorten(chunk.title, TITLE_MAX),
            "order_index": chunk.position + 1,
            "snippet": chunk.text,
            "created_at": _check_utc(chunk.created_at) if chunk.created_at else utc_now(),
            "document_id": chunk.document_id,
            "start_char": chunk.start,
            "end_char": chunk.end,
            "section": chunk.section,
            "anchor": chunk.anchor,
            "content_hash": chunk.content_hash,
        }
    )


def _check_utc(time: str) -> str:
    try:
        if time.endswith("Z") and datetime.fromisoformat(time):
            return time
    except ValueError:
        pass
    raise InvalidInput("created_at", f"{time!r} is not a time in ISO 8601, in UTC, ending in Z")


def check_row(row: Row) -> Row:
    """Return the row; raise InvalidInput if a string in it can't be stored."""
    for name, value in row.items():
        if isinstance(value, str) and not is_storable(value):
            raise InvalidInput(name, f"{shorten(value, 60)!r} contains a NUL or half of a surrogate pair")
    return row
