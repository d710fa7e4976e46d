"""Chunks in their context, and the pages that are indexed."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, BeforeValidator, ConfigDict

from ...limits import MAX_NEIGHBOURS, check_count
from ...ports import Catalog, PageRecord
from ...search.engine import find_neighbours
from ...types import Chunk
from . import examples
from .answering import JSON, in_thread, service
from .problems import Problem, responses

router = APIRouter(prefix="/api/v1", tags=["documents"])

Id = Annotated[str, Path(min_length=1, max_length=200)]


def _check_around(value: object) -> int:
    number = int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value) else value
    return check_count("around", number, MAX_NEIGHBOURS, least=0)


class ChunkInContext(BaseModel):
    """A chunk of a page."""

    model_config = ConfigDict(json_schema_extra={"example": examples.CHUNK})

    chunk_id: str
    position: int
    content: str
    section: str
    anchor: str
    url: str
    document_id: str
    document_title: str
    citation: str
    content_hash: str
    created_at: str | None
    start: int | None
    end: int | None


class Context(BaseModel):
    """A chunk with its neighbours, in the order of the page."""

    model_config = ConfigDict(json_schema_extra={"example": examples.CONTEXT})

    chunk_id: str
    chunks: list[ChunkInContext]


class Document(BaseModel):
    """An indexed page."""

    model_config = ConfigDict(json_schema_extra={"example": examples.DOCUMENT})

    document_id: str
    url: str
    title: str
    source: str
    source_path: str
    chunks: int


class Documents(BaseModel):
    """Every indexed page."""

    model_config = ConfigDict(json_schema_extra={"example": examples.DOCUMENTS})

    documents: list[Document]
    total: int


class WholeDocument(Document):
    """An indexed page with its text and its chunks."""

    model_config = ConfigDict(json_schema_extra={"example": examples.WHOLE_DOCUMENT})

    text: str
    passages: list[ChunkInContext]


@router.get("/chunks/{chunk_id}", response_model=Context, responses=responses(400, 404), summary="Read on")
async def chunk(
    request: Request,
    chunk_id: Id,
    around: Annotated[
        int,
        Query(ge=0, le=MAX_NEIGHBOURS, description="How many neighbours on each side"),
        BeforeValidator(_check_around),
    ] = 0,
) -> Response:
    """The chunk, and the text around it."""
    found = await in_thread(request, lambda: find_neighbours(_catalog(request), chunk_id, around))
    return JSON({"chunk_id": chunk_id, "chunks": [_chunk(one) for one in found]})


@router.get("/documents", response_model=Documents, responses=responses(), summary="List the pages")
async def documents(request: Request) -> Response:
    """Every page that is indexed, with its number of chunks."""
    records = await in_thread(request, lambda: _catalog(request).pages())
    return JSON({"documents": [_document(record) for record in records], "total": len(records)})


@router.get(
    "/documents/{document_id}",
    response_model=WholeDocument,
    responses=responses(400, 404),
    summary="Read a page",
)
async def document(request: Request, document_id: Id) -> Response:
    """A page: its text in normal form, and its chunks."""
    return JSON(await in_thread(request, lambda: _whole(request, document_id)))


def _catalog(request: Request) -> Catalog:
    return service(request).pertinent.workspace.catalog()


def _whole(request: Request, document_id: str) -> dict[str, Any]:
    catalog = _catalog(request)
    page = catalog.page(document_id)
    record = next((one for one in catalog.pages() if one.document_id == document_id), None)
    if page is None or record is None:
        raise Problem(404, "not_found", f"no document has the id {document_id!r}")
    return {
        **_document(record),
        "text": page.text,
        "passages": [_chunk(one) for one in catalog.chunks(document_id)],
    }


def _document(record: PageRecord) -> dict[str, Any]:
    fields = asdict(record)
    fields.pop("page_hash")
    return fields


def _chunk(chunk: Chunk) -> dict[str, Any]:
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
    }
