"""Messages: explanations of pydantic's errors, counts and lists."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pertinent._internal.messages import explain_error, format_count, format_list


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
    ("values", "with_quote", "without_quote"),
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
def test_explain_error_says_what_a_value_must_be(
    values: dict[str, Any], with_quote: str, without_quote: str | None
) -> None:
    with pytest.raises(ValidationError) as caught:
        Model.model_validate(values)
    (error,), (without_input,) = caught.value.errors(), caught.value.errors(include_input=False)
    assert explain_error(error) == with_quote
    assert explain_error(without_input) == (without_quote or with_quote)


def test_format_count_takes_the_singular_for_one_only() -> None:
    assert [format_count(count, "page") for count in (0, 1, 1200)] == ["0 pages", "1 page", "1,200 pages"]
    assert format_count(2, "query", "queries") == "2 queries"


def test_format_list_counts_the_names_beyond_its_limit() -> None:
    assert format_list(["a", "b"], 2) == "a, b"
    assert format_list(["a", "b", "c"], 2, separator="; ") == "a; b and 1 more"
