"""The book for language models: `/llms.txt`, `/llms-full.txt`, and each page as Markdown."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import PlainTextResponse, Response, StreamingResponse

from ...errors import NotFound
from ..book_title import choose_title
from ..llms_txt import link_page, render_full_head, render_full_page, render_index, render_markdown
from .service import Service, get_service

router = APIRouter(include_in_schema=False)

PLAIN = "text/plain; charset=utf-8"
MARKDOWN = "text/markdown; charset=utf-8"


@router.get("/llms.txt")
async def read_index(request: Request) -> Response:
    """List the pages."""
    service = get_service(request)
    title = await _read_title(service)
    records = await service.read_catalog(service.pertinent.pages)
    return PlainTextResponse(render_index(title, records, link_page))


@router.get("/llms-full.txt")
async def read_full(request: Request) -> Response:
    """Send all pages, one after the other."""
    service = get_service(request)
    title = await _read_title(service)
    records = await service.read_catalog(service.pertinent.pages)

    async def stream() -> AsyncIterator[str]:
        yield render_full_head(title)
        for record in records:
            try:
                page = await service.read_catalog(partial(service.pertinent.page, record.document_id))
            except NotFound:
                continue  # it was removed meanwhile
            yield render_full_page(page)

    headers = {}
    if request.scope["http_version"] == "1.0":
        # It has no chunked transfer coding, so the length must be known. The pages are read twice instead of
        # kept, since a slow reader would keep them in memory.
        length = sum([len(part.encode()) async for part in stream()])
        headers["content-length"] = str(length)
    return StreamingResponse(stream(), headers=headers, media_type=PLAIN)


@router.get("/pages/{document_id:path}.md")
async def read_markdown(request: Request, document_id: Annotated[str, Path(max_length=200)]) -> Response:
    """Return a page as Markdown."""
    service = get_service(request)
    page = await service.read_catalog(lambda: service.pertinent.page(document_id))
    return Response(render_markdown(page), media_type=MARKDOWN)


async def _read_title(service: Service) -> str:
    service.engine()  # raises a 503 if nothing is indexed
    settings = service.pertinent.workspace.settings
    sources = await service.read_catalog(service.pertinent.sources)
    return choose_title(settings, list(sources))
