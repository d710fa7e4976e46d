"""Indexed pages, and chunks with their neighbours: `/api/v1/documents` and `/api/v1/chunks`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from ...errors import NotFound
from ...limits import MAX_NEIGHBORS
from ...ports import CatalogReader
from ...search.engine import find_neighbors
from ...types import Chunk
from ..page_view import count_pending, read_page
from .errors import openapi_errors
from .schemas import (
    Anchor,
    ChunkId,
    Citation,
    ContentHash,
    CreatedAt,
    DocumentId,
    PageUrl,
    Section,
    Slug,
    SourcePath,
    SourceType,
    SpanEnd,
    SpanStart,
    Text,
    Title,
    check_integer_parameter,
)
from .service import get_service

router = APIRouter(prefix="/api/v1", tags=["documents"])

PathId = Annotated[str, Path(max_length=200)]


class ChunkInContext(BaseModel):
    """A chunk of a page."""

    chunk_id: ChunkId
    position: int = Field(examples=[1])
    content: Text
    section: Section
    anchor: Anchor
    url: PageUrl
    document_id: DocumentId
    document_title: Title
    citation: Citation
    content_hash: ContentHash
    created_at: CreatedAt
    start: SpanStart
    end: SpanEnd
    source_path: SourcePath
    slug: Slug
    source_type: SourceType


class Context(BaseModel):
    """A chunk with its neighbours, in the order of the page."""

    chunk_id: ChunkId
    chunks: list[ChunkInContext]


class ListedDocument(BaseModel):
    """An indexed page."""

    document_id: DocumentId
    url: PageUrl
    title: Title
    source: str = Field(examples=["https://handbook.example/docs"])
    source_path: SourcePath
    page_hash: str = Field(description="Changes with the page", examples=["0b6f3c528a1e4d7f9c305e2d1a7b4f68"])
    chunks: int = Field(examples=[1])


class ListedSource(BaseModel):
    """Where pages were read from."""

    name: str = Field(examples=["https://handbook.example/docs"])
    location: str | None = Field(
        description="A folder or an address, for callers with the token of the data folder; null for others",
        examples=[None],
    )


class DocumentList(BaseModel):
    """All indexed pages."""

    documents: list[ListedDocument]
    total: int = Field(examples=[1])
    sources: list[ListedSource]
    pending: int = Field(
        description="How many pages a sync is changing, or left unfinished by an interruption",
        examples=[0],
    )
    build: int | None = Field(
        description="Number of the build in use; null for a collection of another pipeline", examples=[1]
    )


class SectionOfDocument(BaseModel):
    """The text under a heading, up to the next heading."""

    section: Section
    anchor: Anchor
    start: int = Field(description="Where it starts in the page's text", examples=[0])
    end: int = Field(description="Where it ends in the page's text", examples=[512])


class DocumentWithText(ListedDocument):
    """An indexed page with its text, its sections and its chunks."""

    text: str = Field(examples=["# Introduction to Physical AI\n\nPhysical AI is intelligence that acts…"])
    sections: list[SectionOfDocument]
    passages: list[ChunkInContext]


@router.get(
    "/chunks/{chunk_id:path}",
    response_model=Context,
    responses=openapi_errors(400, 404),
    summary="Read a chunk in its context",
)
async def read_chunk(
    request: Request,
    chunk_id: PathId,
    around: Annotated[
        int,
        Query(ge=0, le=MAX_NEIGHBORS, description="How many neighbours on each side"),
        check_integer_parameter("around", MAX_NEIGHBORS, minimum=0),
    ] = 0,
) -> Response:
    """Return the chunk and its neighbours on the page."""
    service = get_service(request)
    chunks = await service.read_catalog(lambda: find_neighbors(_catalog(request), chunk_id, around))
    return JSONResponse({"chunk_id": chunk_id, "chunks": [_render_chunk(chunk) for chunk in chunks]})


@router.get("/documents", response_model=DocumentList, responses=openapi_errors(), summary="List the pages")
async def list_documents(request: Request) -> Response:
    """Return all indexed pages, with their number of chunks, and their sources."""
    service = get_service(request)
    return JSONResponse(await service.read_catalog(lambda: _load_documents(request)))


@router.get(
    "/documents/{document_id:path}",
    response_model=DocumentWithText,
    responses=openapi_errors(400, 404),
    summary="Read a page",
)
async def read_document(request: Request, document_id: PathId) -> Response:
    """Return a page: its normalised text, its sections, and its chunks."""
    service = get_service(request)
    return JSONResponse(await service.read_catalog(lambda: _load_document(request, document_id)))


def _catalog(request: Request) -> CatalogReader:
    return get_service(request).pertinent.workspace.catalog()


def _load_documents(request: Request) -> dict[str, Any]:
    catalog = _catalog(request)
    # First: a sync that begins later than this has changed nothing that was searched before.
    pending = count_pending(get_service(request).pertinent.workspace)
    records, fingerprint = catalog.pages(), catalog.fingerprint()
    # A location may be a path of this machine: only callers that can read the data folder see it.
    shows_locations = getattr(request.state, "has_folder_token", False)
    sources = [
        {"name": name, "location": location if shows_locations else None}
        for name, location in catalog.sources().items()
    ]
    return {
        "documents": [asdict(record) for record in records],
        "total": len(records),
        "sources": sources,
        "pending": pending,
        "build": fingerprint.build if fingerprint else None,
    }


def _load_document(request: Request, document_id: str) -> dict[str, Any]:
    catalog = _catalog(request)
    page = read_page(catalog, document_id)
    record = catalog.page_record(document_id)
    if record is None:
        raise NotFound(f"the document {document_id!r} was just removed")
    return {
        **asdict(record),
        "text": page.text,
        "sections": [section._asdict() for section in page.sections],
        "passages": [_render_chunk(chunk) for chunk in page.chunks],
    }


def _render_chunk(chunk: Chunk) -> dict[str, Any]:
    start, end = chunk.span
    return {
        "chunk_id": chunk.chunk_id,
        "position": chunk.position,
        "content": chunk.text,
        "section": chunk.section,
        "anchor": chunk.anchor,
        "url": chunk.url,
        "document_id": chunk.document_id,
        "document_title": chunk.title,
        "citation": chunk.citation,
        "content_hash": chunk.content_hash,
        "created_at": chunk.created_at,
        "start": start,
        "end": end,
        "source_path": chunk.source_path,
        "slug": chunk.slug,
        "source_type": chunk.source_type,
    }
