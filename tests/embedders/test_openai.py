"""OpenAI's protocol as its many servers speak it; what it shares with Cohere is in test_hosted.py."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.embedders.hosted import Patience, Terms
from pertinent.embedders.openai import OpenAIEmbedder, Prefixes, embeddings
from pertinent.errors import EmbedderError
from pertinent.ports import Embedder

from .wire import KEY, Wire, unit_of

ONCE = Patience(timeout=20, attempts=1, first_wait=0.001, longest_wait=1)
TERMS = Terms(queries=ONCE, documents=ONCE)


@pytest.fixture
def wire() -> Iterator[Wire]:
    with Wire() as server:
        yield server


@pytest.fixture
def embedder(wire: Wire) -> Iterator[OpenAIEmbedder]:
    made = OpenAIEmbedder("nomic-embed-text", base_url=f"{wire.url}/v1/", terms=TERMS)
    yield made
    made.close()


def check(embedder: Embedder, texts: list[str]) -> None:
    for text, vector in zip(texts, embedder.embed_documents(texts), strict=True):
        assert np.allclose(vector, unit_of(text, "", 8), atol=1e-6)


def test_one_post_with_all_texts_and_no_key_where_there_is_none(embedder: Embedder, wire: Wire) -> None:
    check(embedder, ["one", "two"])
    (asked,) = wire.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": "nomic-embed-text", "input": ["one", "two"], "encoding_format": "base64"}
    assert "Authorization" not in asked.headers
    assert (embedder.name, embedder.model) == ("openai:nomic-embed-text", "nomic-embed-text")


def test_numbers_are_read_as_well_as_base64(embedder: Embedder, wire: Wire) -> None:
    wire.floats = True
    check(embedder, ["one", "two", "three"])


def test_rows_are_put_in_the_order_of_their_index(embedder: Embedder, wire: Wire) -> None:
    wire.backwards = True
    check(embedder, [f"text {n}" for n in range(70)])


@given(st.permutations(range(12)))
def test_any_order_of_rows_is_undone(order: list[int]) -> None:
    rows = [{"index": place, "embedding": [float(place)]} for place in order]
    assert embeddings({"data": rows}) == [[float(place)] for place in range(12)]
    assert embeddings({"data": [{"embedding": [float(place)]} for place in order]}) == [
        [float(place)] for place in order
    ]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "no embeddings"),
        ({}, "no embeddings"),
        ({"data": {}}, "no embeddings"),
        ({"data": [[1.0]]}, "no embeddings"),
        ({"data": [{"index": 0}]}, "no embeddings"),
        ({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]}, "not numbered"),
        ({"data": [{"index": 1, "embedding": [1]}, {"index": 2, "embedding": [2]}]}, "not numbered"),
        ({"data": [{"index": [], "embedding": [1]}]}, "not numbered"),
        ({"data": [{"index": 0, "embedding": "%%%"}]}, "no base64"),
        ({"data": [{"index": 0, "embedding": base64.b64encode(b"12345").decode()}]}, "no base64"),
    ],
)
def test_an_answer_of_another_shape_is_refused(answer: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        embeddings(answer)


def test_prefixes_go_before_what_they_are_for(wire: Wire) -> None:
    prefixes = Prefixes("query: ", "passage: ")
    embedder = OpenAIEmbedder("e5", KEY, base_url=wire.url, prefixes=prefixes, terms=TERMS)
    embedder.embed_queries(["nodes"])[0]
    list(embedder.embed_documents(["nodes"]))
    assert [asked.texts for asked in wire.asked] == [["query: nodes"], ["passage: nodes"]]
    assert embedder.count_tokens([""]) == [5]
    assert embedder.name == "openai:e5 after 'passage: '"
    embedder.close()


def test_a_wrong_address_and_an_unknown_model_look_alike_so_both_are_named(
    embedder: Embedder, wire: Wire
) -> None:
    wire.always = "404"
    with pytest.raises(EmbedderError, match=r"127\.0\.0\.1.*'nomic-embed-text'.*its name and the address"):
        embedder.embed_queries(["nodes"])[0]


def test_a_server_that_wants_a_key_says_so(embedder: Embedder, wire: Wire) -> None:
    wire.always = "401"
    with pytest.raises(EmbedderError, match=r"wants a key \(HTTP 401\): check OPENAI_API_KEY"):
        embedder.embed_queries(["nodes"])[0]
