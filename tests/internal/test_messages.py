"""Mistakes of every kind that models know are told in plain words, and a value only where it was given."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pertinent._internal.messages import wrong


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    text: Annotated[str, Field(max_length=3)] = "a"
    names: Annotated[list[str], Field(min_length=2, max_length=3)] = ["a", "b"]
    kind: Literal["big", "small"] = "big"
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    inner: dict[str, int] = {}
    pair: tuple[str, ...] = ()
    raw: bytes = b""


@pytest.mark.parametrize(
    ("given", "quoting", "silent"),
    [
        ({"text": "abcd"}, "has 4 characters; it must have at most 3", "must have at most 3 characters"),
        ({"names": list("abcd")}, "has 4 entries; it must have at most 3", "must have at most 3 entries"),
        ({"names": ["a"]}, "must have at least 2 entries", None),
        ({"kind": "x"}, "must be big or small, not 'x'", "must be big or small"),
        ({"share": 0}, "must be more than 0", None),
        ({"share": 1}, "must be less than 1", None),
        ({"share": "x"}, "must be a number", None),
        ({"inner": 1}, "must be an object with named fields", None),
        ({"pair": "a"}, "must be a list", None),
        ({"raw": 1}, "must be a valid bytes", None),
        ({"other": 1}, "there is no such field", None),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], quoting: str, silent: str | None) -> None:
    with pytest.raises(ValidationError) as refused:
        Model.model_validate(given)
    (with_value,), (without,) = refused.value.errors(), refused.value.errors(include_input=False)
    assert wrong(with_value) == quoting
    assert wrong(without) == (silent or quoting)
