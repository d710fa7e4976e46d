"""OpenAI's protocol as its many servers speak it; what it shares with Cohere is in test_hosted.py."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent._internal.hosted.retries import RetryPolicy
from pertinent.embedders.hosted import HostedOptions
from pertinent.embedders.openai import OpenAIEmbedder, Prefixes, parse_embeddings
from pertinent.errors import EmbedderError
from pertinent.ports import Embedder

from ..servers.faulty_api import KEY
from .wire import Wire, unit_of

ONCE = RetryPolicy(timeout=20, attempts=1, first_wait=0.001, longest_wait=1)
OPTIONS = HostedOptions(queries=ONCE, documents=ONCE)


@pytest.fixture
def embedder(wire: Wire) -> Iterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder("nomic-embed-text", base_url=f"{wire.url}/v1/", options=OPTIONS)
    yield embedder
    embedder.close()


def check(embedder: Embedder, texts: list[str]) -> None:
    for text, vector in zip(texts, embedder.embed_documents(texts), strict=True):
        assert np.allclose(vector, unit_of(text, "", 8), atol=1e-6)


def test_openai_sends_all_texts_in_one_post_without_a_key(embedder: Embedder, wire: Wire) -> None:
    check(embedder, ["one", "two"])
    (request,) = wire.requests
    assert request.path == "/v1/embeddings"
    assert request.body == {"model": "nomic-embed-text", "input": ["one", "two"], "encoding_format": "base64"}
    assert "Authorization" not in request.headers
    assert (embedder.name, embedder.model) == ("openai:nomic-embed-text", "nomic-embed-text")


def test_openai_reads_floats_as_well_as_base64(embedder: Embedder, wire: Wire) -> None:
    wire.floats = True
    check(embedder, ["one", "two", "three"])


def test_openai_orders_rows_by_their_index(embedder: Embedder, wire: Wire) -> None:
    wire.backwards = True
    check(embedder, [f"text {n}" for n in range(70)])


@given(st.permutations(range(12)))
def test_parse_embeddings_sorts_any_order_of_rows(order: list[int]) -> None:
    rows = [{"index": index, "embedding": [float(index)]} for index in order]
    assert parse_embeddings({"data": rows}) == [[float(index)] for index in range(12)]
    assert parse_embeddings({"data": [{"embedding": [float(index)]} for index in order]}) == [
        [float(index)] for index in order
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (None, "without embeddings"),
        ({}, "without embeddings"),
        ({"data": {}}, "without embeddings"),
        ({"data": [[1.0]]}, "without embeddings"),
        ({"data": [{"index": 0}]}, "without embeddings"),
        ({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]}, "not numbered"),
        ({"data": [{"index": 1, "embedding": [1]}, {"index": 2, "embedding": [2]}]}, "not numbered"),
        ({"data": [{"index": [], "embedding": [1]}]}, "not numbered"),
        ({"data": [{"index": 0, "embedding": "%%%"}]}, "not base64"),
        ({"data": [{"index": 0, "embedding": base64.b64encode(b"12345").decode()}]}, "not base64"),
    ],
)
def test_parse_embeddings_refuses_other_forms(body: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_embeddings(body)


def test_openai_prefixes_queries_and_documents(wire: Wire) -> None:
    prefixes = Prefixes("query: ", "passage: ")
    embedder = OpenAIEmbedder("e5", KEY, base_url=wire.url, prefixes=prefixes, options=OPTIONS)
    embedder.embed_queries(["nodes"])[0]
    list(embedder.embed_documents(["nodes"]))
    assert [request.texts for request in wire.requests] == [["query: nodes"], ["passage: nodes"]]
    assert embedder.count_tokens([""]) == [5]
    assert embedder.name == "openai:e5 after 'passage: '"
    embedder.close()


def test_openai_404_names_the_model_and_the_address(embedder: Embedder, wire: Wire) -> None:
    wire.always = "404"
    with pytest.raises(
        EmbedderError, match=r"127\.0\.0\.1.*'nomic-embed-text'.*the model name and the address"
    ):
        embedder.embed_queries(["nodes"])[0]


def test_openai_401_without_a_key_asks_for_one(embedder: Embedder, wire: Wire) -> None:
    wire.always = "401"
    with pytest.raises(EmbedderError, match=r"requires a key \(HTTP 401\): check OPENAI_API_KEY"):
        embedder.embed_queries(["nodes"])[0]
