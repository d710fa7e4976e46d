"""Parts of request and response bodies that several routes share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from ..._internal.unknown_fields import FewUnknownFields
from ...identity import is_url
from ...limits import MAX_SNIPPET, MIN_SNIPPET, check_count
from ...types import Filters, Ranking

NOT_BLANK_PATTERN = r"[^\s\x1c-\x1f\x85]"
"""A pattern for the OpenAPI description: to Python, some control characters are blank, unlike JavaScript."""

_URL_PATTERN = r"^[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9][!-Z^-~]*$"
"""A pattern for the OpenAPI description: every match is a valid URL. The check itself accepts more."""

ChunkId = Annotated[str, Field(examples=["intro-0a1b2c3d-4e5f60718293"])]
DocumentId = Annotated[str, Field(examples=["intro-0a1b2c3d"])]
PageUrl = Annotated[str, Field(examples=["https://handbook.example/docs/intro"])]
SourcePath = Annotated[str, Field(description="Source file path", examples=["docs/intro.md"])]
Slug = Annotated[str, Field(description="Short name of the page", examples=["intro"])]
SourceType = Annotated[str, Field(description="Type of source document", examples=["docusaurus-page"])]
Text = Annotated[str, Field(examples=["Physical AI is intelligence that acts through a body…"])]
Title = Annotated[str, Field(examples=["Introduction to Physical AI"])]
Section = Annotated[str, Field(examples=["What it is"])]
Anchor = Annotated[str, Field(description="Anchor of the section on its page", examples=["what-it-is"])]
Citation = Annotated[
    str,
    Field(
        description="Address of the chunk: its page, with the anchor of its section",
        examples=["https://handbook.example/docs/intro#what-it-is"],
    ),
]
ContentHash = Annotated[
    str,
    Field(
        description="SHA-256 of the chunk's text",
        examples=["5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"],
    ),
]
CreatedAt = Annotated[
    str | None,
    Field(
        description="When the chunk was indexed, ISO 8601; null if unknown", examples=["2026-01-31T09:00:00Z"]
    ),
]
SpanStart = Annotated[
    int | None,
    Field(
        ge=0, description="First character of the chunk in the page's text; null if unknown", examples=[120]
    ),
]
SpanEnd = Annotated[
    int | None, Field(ge=0, description="The character after its last one; null if unknown", examples=[173])
]
Highlights = Annotated[
    list[tuple[int, int]],
    Field(
        description="Only with `snippet_length`: start and end of each word of the snippet that matches the "
        "query, counted in characters (Unicode code points)",
        examples=[[[0, 8], [9, 11]]],
    ),
]
Score = Annotated[float, Field(ge=0.0, le=1.0, examples=[0.57])]


def check_integer(check: Callable[[object], int]) -> BeforeValidator:
    """Validate an integer with one of the checks of `limits`, whose messages name the field and its range.

    JSON has one type of number, so 5.0 is accepted as 5.
    """

    def convert_and_check(value: Any) -> int:
        return check(int(value) if isinstance(value, float) and value.is_integer() else value)

    return BeforeValidator(convert_and_check)


def _check_snippet_length(value: object) -> int:
    return check_count("snippet_length", value, MAX_SNIPPET, minimum=MIN_SNIPPET)


def check_integer_parameter(field: str, maximum: int, minimum: int = 1) -> BeforeValidator:
    """Validate an integer in a URL; the message names the field and its range."""

    def convert_and_check(value: object) -> int:
        number = int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value) else value
        return check_count(field, number, maximum, minimum)

    return BeforeValidator(convert_and_check)


def _check_url(value: object) -> object:
    if not isinstance(value, str) or not is_url(value):
        raise ValueError(f"must be an address like https://example.org/docs, not {str(value)[:100]!r}")
    return value


class RequestBody(FewUnknownFields):
    """Base of all request bodies: types are not converted, and unknown fields are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class FilterFields(RequestBody):
    """Restricts a search to some chunks; every field is optional."""

    document_id: Annotated[
        DocumentId | None, Field(min_length=1, max_length=200, description="The chunks of one page")
    ] = None
    section: Annotated[
        Section | None,
        Field(min_length=1, max_length=1000, description="A heading above the chunk, or its path"),
    ] = None
    url: Annotated[
        Annotated[
            str,
            Field(max_length=2000, json_schema_extra={"pattern": _URL_PATTERN}),
            BeforeValidator(_check_url),
        ]
        | None,
        Field(
            description="A page, or all pages below an address", examples=["https://handbook.example/docs"]
        ),
    ] = None
    source_type: Annotated[
        str | None,
        Field(min_length=1, max_length=100, description="A type of source", examples=["docusaurus-page"]),
    ] = None

    def to_filters(self) -> Filters:
        """Convert to the engine's filters."""
        return Filters(self.document_id, self.section, self.url, self.source_type)


class SearchFields(RequestBody):
    """The fields of both search routes beyond their seeds."""

    ranking: Annotated[Ranking | None, Field(description="How results are ranked; hybrid by default")] = None
    filters: Annotated[FilterFields | None, Field(description="Restricts the search to some chunks")] = None
    correct: Annotated[bool, Field(description="Complete or correct words that the book does not have")] = (
        True
    )
    rerank: Annotated[
        bool | None,
        Field(
            description="Whether to rerank the best results; by default those of hybrid, if a reranker is set"
        ),
    ] = None
    snippet_length: Annotated[
        Annotated[int, Field(ge=MIN_SNIPPET, le=MAX_SNIPPET), check_integer(_check_snippet_length)] | None,
        Field(description="Shorten `snippet` to the lines that match best, at most this many characters"),
    ] = None

    def to_filters(self) -> Filters:
        """Convert to the engine's filters; without any, all chunks are searched."""
        return self.filters.to_filters() if self.filters else Filters()
