"""Results compared with the pages that the same pipeline lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pertinent.validation.integrity import find_mismatches

from .labels.pages import TOPICS as PAGE

CHUNK = PAGE.chunks[0]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"anchor": "elsewhere", "position": 7}, "differs from its page in anchor, position"),
        ({"start": 0, "end": 100_000}, "differs from its page in start, end"),
        ({"chunk_id": "unknown"}, "is on no listed page"),
    ],
)
def test_result_that_differs_from_its_page_is_named_once(fields: dict[str, Any], problem: str) -> None:
    result = replace(CHUNK, **fields)
    line = f"result {result.chunk_id} of {CHUNK.url} {problem}"
    assert find_mismatches([result, CHUNK, result], [PAGE]) == [line]


def test_title_and_missing_position_and_span_are_not_compared() -> None:
    result = replace(CHUNK, title="From the database", position=-1, start=-1, end=-1)
    assert find_mismatches([result], [PAGE]) == []
