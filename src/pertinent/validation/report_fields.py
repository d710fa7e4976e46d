"""The types of a report's fields: the values that seed 000 allows, and the errors for other values."""

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


def _validator(check: Callable[..., object], *bounds: int) -> BeforeValidator:
    """Adapt a check of `limits` to pydantic, which adds the name of the field itself."""

    def validate(value: object) -> object:
        try:
            return check("", value, *bounds)
        except InvalidInput as error:
            raise ValueError(error.message) from None

    return BeforeValidator(validate)


Rate = Annotated[float, Field(ge=0.0, le=1.0), _validator(check_share)]
Milliseconds = Annotated[float, Field(ge=0.0), _validator(check_duration)]
Count = Annotated[int, Field(ge=0), _validator(check_at_least, 0)]
Rank = Annotated[int, Field(ge=1), _validator(check_at_least, 1)]
TopK = Annotated[int, Field(ge=1, le=100), _validator(check_count, 100)]
RelevanceLabel = Annotated[int, Field(ge=0, le=2), _validator(check_count, 2, 0)]
Text = Annotated[str, Field(min_length=1), _validator(check_text)]
Time = Annotated[str, _validator(check_time)]
Hash = Annotated[str, Field(pattern="^[0-9a-fA-F]{64}$"), _validator(check_hash)]


def to_invalid_input(error: ValidationError) -> InvalidInput:
    """Convert the first of pydantic's errors to an `InvalidInput` that names the path of its field."""
    first = error.errors()[0]
    path = [str(step) for step in first["loc"]]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InvalidInput):
        # A check of several fields raises an error that names one of them.
        return InvalidInput(".".join([*path, cause.field]), cause.message)
    return InvalidInput(".".join(path), explain_error(first))
