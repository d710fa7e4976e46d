"""The limits of a search: what is out of range is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from pertinent.errors import InvalidInput
from pertinent.limits import ENGINE, check_options
from pertinent.types import SearchOptions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top_k": 0}, r"top_k: must be between 1 and 100, not 0"),
        ({"top_k": 101}, r"top_k: must be between 1 and 100, not 101"),
        ({"top_k": True}, r"top_k: must be a whole number"),
        ({"top_k": 2.0}, r"top_k: must be a whole number"),
        ({"threshold": 1.01}, r"threshold: must be between 0.0 and 1.0"),
        ({"threshold": float("nan")}, r"threshold: must be between 0.0 and 1.0"),
        ({"threshold": "0.5"}, r"threshold: must be a number"),
        ({"per_page": 0}, r"per_page: must be between 1 and 100"),
        ({"ranking": "best"}, r"ranking: must be one of hybrid, dense, lexical"),
        ({"fallback": "dense"}, r"fallback: must be lexical"),
        ({"rerank": "yes"}, r"rerank: must be true or false, not 'yes'"),
        ({"rerank": 1}, r"rerank: must be true or false, not 1"),
    ],
)
def test_check_options_names_the_option_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_options(SearchOptions(**options))


@pytest.mark.parametrize("text", ["", "  \n\t", "x" * 2001, "half \ud800 pair", 5, None])
def test_check_query_refuses_other_types(text: Any) -> None:
    with pytest.raises(InvalidInput, match="text"):
        ENGINE.check_query(text)
