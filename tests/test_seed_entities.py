"""The entities of seed 002 refuse what the seed forbids, also when built by hand."""

from __future__ import annotations

import math
from dataclasses import asdict
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent import QueryEmbedding, RetrievalResult
from pertinent.errors import InvalidInput
from pertinent.limits import is_iso_8601

RESULT: dict[str, Any] = {
    "text": "A revolute joint turns between limits.",
    "source_url": "https://book.example/docs/joints",
    "relevance_score": 0.5,
    "chunk_id": "joints-0",
}
WHITE_SPACE = ("", " ", "\t\n", "\u3000\u00a0")


@pytest.mark.parametrize(
    ("model", "dimension"),
    [
        ("embed-english-v3.0", 1024),
        ("embed-multilingual-v3.0", 1024),
        ("embed-english-light-v3.0", 384),
        ("embed-v4.0", 1536),
        ("all-MiniLM-L6-v2", 384),
    ],
)
def test_seed_002_vector_has_the_length_of_its_model(model: str, dimension: int) -> None:
    assert len(QueryEmbedding([0.5] * dimension, "q", model).vector) == dimension
    for length in (0, 1, dimension - 1, dimension + 1):
        with pytest.raises(
            InvalidInput, match=rf"vector: has {length} elements; vectors of {model} have {dimension}"
        ):
            QueryEmbedding([0.5] * length, "q", model)


def test_seed_002_default_model_is_embed_english_v3() -> None:
    assert QueryEmbedding([0.5] * 1024, "q").model == "embed-english-v3.0"
    with pytest.raises(InvalidInput, match=r"vector: has 3 elements; .* 1024"):
        QueryEmbedding([0.1, 0.2, 0.3], "q")


def test_query_embedding_of_an_unknown_model_may_have_any_dimension() -> None:
    assert QueryEmbedding([0.5], "q", "my-model").vector == [0.5]
    with pytest.raises(InvalidInput, match="vector: must not be empty"):
        QueryEmbedding([], "q", "my-model")


@pytest.mark.parametrize(
    "vector", [[math.nan], [math.inf], ["0.5"], [None], [True, 0.5], [[0.5]], "0.5", None, 0.5, {"a": 1}]
)
def test_seed_002_vector_is_a_list_of_finite_numbers(vector: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^vector: "):
        QueryEmbedding(vector, "q", "my-model")


@pytest.mark.parametrize("text", [*WHITE_SPACE, "x" * 1001, None, 5])
def test_seed_002_query_text_has_1_to_1000_characters(text: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^query_text: "):
        QueryEmbedding([0.5], text, "my-model")


@pytest.mark.parametrize("model", [*WHITE_SPACE, None])
def test_seed_002_model_has_a_name(model: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^model: "):
        QueryEmbedding([0.5], "q", model)


def test_seed_002_result_needs_no_position_and_no_title() -> None:
    result = RetrievalResult(**RESULT)
    assert (result.position, result.title) == (0, "")


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("text", [*WHITE_SPACE, None, 5, "half \ud83d"]),
        ("source_url", [*WHITE_SPACE, "nowhere", "http://[x", None, 5, "https://book.example/\ud83d"]),
        ("relevance_score", [-0.01, 1.01, math.nan, math.inf, True, "0.5", None]),
        ("chunk_id", [*WHITE_SPACE, None, 5, "\ud83d"]),
        ("position", [-1, 1.0, True, "0", None]),
        ("title", [None, 5, "\ud83d"]),
    ],
)
def test_seed_002_result_refuses_what_the_seed_forbids(field: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(InvalidInput, match=f"^{field}: ") as refused:
            RetrievalResult(**RESULT | {field: value})
        assert refused.value.field == field


def test_seed_002_refused_score_names_its_range() -> None:
    with pytest.raises(InvalidInput, match=r"relevance_score: must be between 0\.0 and 1\.0, not 1\.5"):
        RetrievalResult(**RESULT | {"relevance_score": 1.5})


@given(
    text=st.text(max_size=5),
    score=st.one_of(st.floats(), st.integers(), st.booleans()),
    position=st.one_of(st.integers(), st.booleans(), st.floats()),
)
def test_retrieval_result_is_refused_unless_within_its_ranges(text: str, score: Any, position: Any) -> None:
    forbidden = (
        not text.strip()
        or isinstance(score, bool)
        or not 0 <= score <= 1
        or isinstance(position, bool | float)
        or position < 0
    )
    fields = RESULT | {"text": text, "relevance_score": score, "position": position}
    if forbidden:
        with pytest.raises(InvalidInput):
            RetrievalResult(**fields)
    else:
        assert asdict(RetrievalResult(**fields)) == {"title": "", **fields}


@pytest.mark.parametrize(
    "text",
    [
        "2025-12-15T10:00:00Z",
        "2025-12-15T10:00:00+02:00",
        "2025-12-15T10:00:00.123456",
        "20251215T100000Z",
        "2025-12-15",
    ],
)
def test_is_iso_8601_accepts_dates_and_times(text: str) -> None:
    assert is_iso_8601(text)


@pytest.mark.parametrize(
    "text", ["", "yesterday", "12345", "2025-13-01", "15.12.2025", "2025-12-15 10:00", "2025-12-15T25:00:00Z"]
)
def test_is_iso_8601_refuses_other_texts(text: str) -> None:
    assert not is_iso_8601(text)


@given(st.datetimes(timezones=st.one_of(st.none(), st.timezones())))
def test_is_iso_8601_accepts_every_isoformat(time: datetime) -> None:
    assert is_iso_8601(time.isoformat())
