"""Pages as resources of MCP: `docs://pages/ID`, each a Markdown text within the limit of tokens."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import quote

from mcp_types import (
    ListResourcesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from ...errors import InvalidInput, NotFound
from ...identity import shorten
from ..page_markdown import render_page
from .page_range import MAX_QUOTE, PAGE_URI_PREFIX
from .tools import FetchArguments, fetch_document

if TYPE_CHECKING:
    from ..reader import Reader

MARKDOWN = "text/markdown"
PAGES_PER_RESPONSE = 200

TEMPLATE = ResourceTemplate(
    name="page",
    title="A page of the documentation",
    uri_template=f"{PAGE_URI_PREFIX}{{id}}",
    description="A page by its id, which search, list_pages and suggest return.",
    mime_type=MARKDOWN,
)


def make_uri(document_id: str) -> str:
    """Return the address of a page as a resource."""
    return PAGE_URI_PREFIX + quote(document_id, safe="")


def list_resources(reader: Reader, cursor: str | None) -> ListResourcesResult:
    """List the pages, `PAGES_PER_RESPONSE` at once; the cursor says where to go on."""
    start = _read_cursor(cursor)
    records = reader.pages()
    resources = [
        Resource(
            name=record.document_id,
            title=record.title or record.url,
            uri=make_uri(record.document_id),
            description=record.url,
            mime_type=MARKDOWN,
        )
        for record in islice(records, start, start + PAGES_PER_RESPONSE)
    ]
    following = start + PAGES_PER_RESPONSE
    return ListResourcesResult(
        resources=resources, next_cursor=str(following) if following < len(records) else None
    )


def read_resource(reader: Reader, uri: str, max_tokens: int) -> ReadResourceResult:
    """Read a page; raise NotFound if the address is that of no page."""
    if not uri.startswith(PAGE_URI_PREFIX) or uri == PAGE_URI_PREFIX:
        raise NotFound(
            f"{shorten(uri, MAX_QUOTE)!r} is no page; the address of a page is {PAGE_URI_PREFIX} and its id"
        )
    document = fetch_document(reader, FetchArguments(id=uri), max_tokens)
    note = f"\n> {document.metadata.note}\n" if document.metadata.note else ""
    text = render_page(document.title, document.url, document.text) + note
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)])


def _read_cursor(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isdecimal() or len(cursor) > len(str(10**9)):
        raise InvalidInput("cursor", "must be the `nextCursor` of an earlier response")
    return int(cursor)
