"""The fields that both search routes take beyond their seeds, and how strictly a body is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ...identity import is_url
from ...types import Filters
from . import examples

_ADDRESS = r"^[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9][!-Z^-~]*$"
"""What surely is an address, for those who read the description; whatever reads as one is taken."""


def whole(check: Callable[[object], int]) -> BeforeValidator:
    """A count, checked in the door's own words; JSON has one kind of number, so 5.0 is 5."""

    def checked(value: Any) -> int:
        return check(int(value) if isinstance(value, float) and value.is_integer() else value)

    return BeforeValidator(checked)


def _address(value: object) -> object:
    if not isinstance(value, str) or not is_url(value):
        raise ValueError(f"must be an address like https://example.org/docs, not {str(value)[:100]!r}")
    return value


class Body(BaseModel):
    """A request's body: no number for a text, and no field that does not exist."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class FilterFields(Body):
    """Which chunks may be found; every field is optional."""

    model_config = ConfigDict(json_schema_extra={"example": examples.FILTERS})

    document_id: Annotated[str | None, Field(min_length=1, max_length=200, description="one page")] = None
    section: Annotated[
        str | None, Field(min_length=1, max_length=1000, description="a heading above the chunk, or its path")
    ] = None
    url: Annotated[
        Annotated[
            str,
            Field(max_length=2000, json_schema_extra={"pattern": _ADDRESS}),
            BeforeValidator(_address),
        ]
        | None,
        Field(description="a page, or the pages below an address"),
    ] = None
    source_type: Annotated[
        str | None,
        Field(min_length=1, max_length=100, description="a kind of source, such as docusaurus-page"),
    ] = None

    def to_filters(self) -> Filters:
        return Filters(self.document_id, self.section, self.url, self.source_type)
