"""The types of a report's fields: what seed 000 allows, in the words in which the rest is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field

from .._internal.messages import explain_error
from ..errors import InvalidInput
from ..limits import (
    check_at_least,
    check_count,
    check_duration,
    check_hash,
    check_share,
    check_text,
    check_time,
)

if TYPE_CHECKING:
    from pydantic import ValidationError


def _checked(check: Callable[..., object], *bounds: int) -> BeforeValidator:
    """A check of `limits` as one of pydantic, which adds the name of the field itself."""

    def validate(value: object) -> object:
        try:
            return check("", value, *bounds)
        except InvalidInput as error:
            raise ValueError(error.message) from None

    return BeforeValidator(validate)


Rate = Annotated[float, Field(ge=0.0, le=1.0), _checked(check_share)]
Milliseconds = Annotated[float, Field(ge=0.0), _checked(check_duration)]
Count = Annotated[int, Field(ge=0), _checked(check_at_least, 0)]
Rank = Annotated[int, Field(ge=1), _checked(check_at_least, 1)]
TopK = Annotated[int, Field(ge=1, le=100), _checked(check_count, 100)]
RelevanceLabel = Annotated[int, Field(ge=0, le=2), _checked(check_count, 2, 0)]
Text = Annotated[str, Field(min_length=1), _checked(check_text)]
Time = Annotated[str, _checked(check_time)]
Hash = Annotated[str, Field(pattern="^[0-9a-fA-F]{64}$"), _checked(check_hash)]


def to_invalid_input(error: ValidationError) -> InvalidInput:
    """The first of pydantic's errors as one of ours, with the path of its field."""
    first = error.errors()[0]
    path = [str(step) for step in first["loc"]]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InvalidInput):
        # A check of several fields names the field itself.
        return InvalidInput(".".join([*path, cause.field]), cause.message)
    return InvalidInput(".".join(path), explain_error(first))
