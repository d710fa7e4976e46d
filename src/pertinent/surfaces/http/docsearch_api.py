"""Searches in the shape that DocSearch's modal sends and reads: `POST /1/indexes/*/queries`.

DocSearch puts the texts of a hit into its page as HTML, also those that it stores for recent searches. So all
texts of a hit are escaped, and `<mark>` is the only tag in them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape as escape_html
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ...limits import DOCSEARCH as LIMITS
from ...search.snippets import find_highlights
from ...search.terms import Analyzer
from ...types import SECTION_SEPARATOR, Answer, Hit, SearchOptions
from .access_middleware import charge_searches
from .errors import openapi_errors
from .schemas import ChunkId, Citation, PageUrl, check_integer
from .service import answer_query, get_service, make_snippets

router = APIRouter(tags=["docsearch"])

SNIPPET_LENGTH = 120
"""A hit of DocSearch has one line."""

LEVELS = 7
"""DocSearch knows `lvl0` to `lvl6`."""

MAX_QUERIES = 10

_MARKUP = re.compile(r"^\s*(?:```|~~~).*$|^[ \t]*(?:#{1,6}|&gt;|[-*+]|\|)[ \t]+|\*\*|`+", re.M)
"""Fences of code blocks, the beginning of headings, quotes, list items and rows, strong text and code."""


_PAGE_URL = re.compile(r"(?:https?|file)://", re.I)
"""DocSearch makes a link of every address; one such as `javascript:…` must not become one."""


class DocSearchQuery(BaseModel):
    """A query; other parameters of Algolia are accepted and ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    query: Annotated[
        str,
        Field(max_length=LIMITS.query_max, description="What was typed; nothing is found for an empty text"),
        BeforeValidator(LIMITS.check_typed),
    ] = ""
    index_name: Annotated[
        str, Field(alias="indexName", max_length=200, description="Returned as it is", examples=["docs"])
    ] = ""
    hits_per_page: Annotated[
        int,
        Field(alias="hitsPerPage", ge=1, le=LIMITS.top_k_max, description="The maximum number of hits"),
        check_integer(LIMITS.check_top_k),
    ] = 20


class DocSearchRequest(BaseModel):
    """The queries of a request, one for each index of DocSearch."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={"examples": [{"requests": [{"query": "joint limits", "indexName": "docs"}]}]},
    )

    requests: Annotated[list[DocSearchQuery], Field(min_length=1, max_length=MAX_QUERIES)]


class DocSearchHit(BaseModel):
    """A passage as DocSearch shows it; every text is HTML."""

    object_id: ChunkId = Field(alias="objectID")
    type: Literal["content"]
    url: Citation
    url_without_anchor: PageUrl
    anchor: str | None = Field(examples=["limits"])
    content: str = Field(description="The lines that match best", examples=["A joint has limits."])
    hierarchy: dict[str, str | None] = Field(
        description="`lvl0` is the title of the page, `lvl1` to `lvl6` are the headings below it",
        examples=[{"lvl0": "Joints", "lvl1": "Limits"}],
    )
    highlight_result: dict[str, Any] = Field(
        alias="_highlightResult",
        description="The same texts with `<mark>`",
        examples=[{"content": {"value": "A <mark>joint</mark> has <mark>limits</mark>."}}],
    )
    snippet_result: dict[str, Any] = Field(
        alias="_snippetResult",
        description="The same as `_highlightResult`",
        examples=[{"content": {"value": "A <mark>joint</mark> has <mark>limits</mark>."}}],
    )


class DocSearchResult(BaseModel):
    """The hits of a query, best first."""

    index: str = Field(examples=["docs"])
    query: str = Field(examples=["joint limits"])
    params: str = Field(examples=[""])
    hits: list[DocSearchHit]
    nb_hits: int = Field(alias="nbHits", examples=[1])
    page: int = Field(examples=[0])
    nb_pages: int = Field(alias="nbPages", examples=[1])
    hits_per_page: int = Field(alias="hitsPerPage", examples=[20])
    exhaustive_nb_hits: bool = Field(alias="exhaustiveNbHits")
    processing_time_ms: int = Field(alias="processingTimeMS", examples=[4])


class DocSearchResponse(BaseModel):
    """A result for each query, in the same order."""

    results: list[DocSearchResult]


@router.post(
    "/1/indexes/*/queries",
    response_model=DocSearchResponse,
    responses=openapi_errors(400, 413, 502),
    summary="Search for DocSearch",
)
async def search_for_docsearch(request: Request, body: DocSearchRequest) -> Response:
    """Answer the queries of DocSearch's modal; each of them counts for the rate limit."""
    charge_searches(request, len(body.requests))
    return JSONResponse({"results": [await _answer(request, query) for query in body.requests]})


async def _answer(request: Request, query: DocSearchQuery) -> dict[str, Any]:
    hits: list[dict[str, Any]] = []
    milliseconds = 0
    if query.query.strip():
        # DocSearch searches while one types, which a reranker is too slow for.
        options = SearchOptions(top_k=query.hits_per_page, rerank=False)
        answer = await answer_query(request, query.query, options)
        hits = await _render_hits(request, answer)
        milliseconds = round(sum(answer.timings.values()))
    return {
        "index": query.index_name,
        "query": query.query,
        "params": "",
        "hits": hits,
        "nbHits": len(hits),
        "page": 0,
        "nbPages": 1 if hits else 0,
        "hitsPerPage": query.hits_per_page,
        "exhaustiveNbHits": True,
        "processingTimeMS": milliseconds,
    }


async def _render_hits(request: Request, answer: Answer) -> list[dict[str, Any]]:
    snippets = await make_snippets(request, answer, SNIPPET_LENGTH)
    analyzer = get_service(request).engine().analyzer
    return [
        _render_hit(hit, snippets[hit.point_id], answer.searched_for, analyzer)
        for hit in answer.hits
        if _PAGE_URL.match(hit.chunk.url)
    ]


def _render_hit(hit: Hit, snippet: dict[str, Any], query: str, analyzer: Analyzer) -> dict[str, Any]:
    chunk = hit.chunk
    title = chunk.title or chunk.url
    headings = chunk.section.split(SECTION_SEPARATOR) if chunk.section else []
    names = {f"lvl{level}": name for level, name in enumerate([title, *headings][:LEVELS])}
    marked_names = {
        level: {"value": _mark(name, find_highlights(name, query, analyzer))} for level, name in names.items()
    }
    marked_text = {"value": _join_lines(_mark(snippet["snippet"], snippet["highlights"]))}
    marked = {"hierarchy": marked_names, "content": marked_text}
    return {
        "objectID": chunk.chunk_id,
        "type": "content",
        "url": chunk.citation,
        "url_without_anchor": chunk.url,
        "anchor": chunk.anchor or None,
        "content": _join_lines(_escape(snippet["snippet"])),
        "hierarchy": {
            level: _escape(names[level]) if level in names else None
            for level in (f"lvl{number}" for number in range(LEVELS))
        },
        "_highlightResult": marked,
        "_snippetResult": marked,
    }


def _escape(text: str) -> str:
    """Return a text as HTML; DocSearch's modal decodes the usual entities only, such as `&#39;`."""
    return escape_html(text).replace("&#x27;", "&#39;")


def _mark(text: str, highlights: Sequence[tuple[int, int]]) -> str:
    """Return a text as HTML, with the highlighted words inside `<mark>`."""
    parts: list[str] = []
    position = 0
    for start, end in highlights:
        parts += [_escape(text[position:start]), f"<mark>{_escape(text[start:end])}</mark>"]
        position = end
    return "".join([*parts, _escape(text[position:])])


def _join_lines(html: str) -> str:
    """Return the lines of a snippet as one line of plain text."""
    return " ".join(_MARKUP.sub("", html).split())
