"""The base of a report's parts, and the types of their fields: the values that seed 000 allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

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


class ReportPart(BaseModel):
    """A part of a report; unknown fields of a later version are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise to_invalid_input(error) from error

    # Nested parts keep pydantic's own errors, so that the outermost one can name the path of the field.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain data for JSON."""
        return self.model_dump(mode="json")
