"""The retriever for LlamaIndex."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, TextNode

from pertinent import Pertinent
from pertinent.errors import InvalidInput
from pertinent.integrations.llamaindex import PertinentNodeRetriever
from pertinent.integrations.passages import describe_hit

from .conftest import QUERY


def test_node_has_the_text_score_and_metadata_of_the_hit(book: Pertinent | str, opened: Pertinent) -> None:
    hits = opened.search(QUERY, top_k=3).hits
    nodes = PertinentNodeRetriever(book, top_k=3).retrieve(QUERY)
    assert [node.node_id for node in nodes] == [hit.chunk.chunk_id for hit in hits]
    for scored, hit in zip(nodes, hits, strict=True):
        assert isinstance(scored.node, TextNode)
        assert scored.score == hit.score
        assert scored.node.get_content() == hit.chunk.text
        assert scored.node.metadata == describe_hit(hit)
        assert scored.node.ref_doc_id == hit.chunk.document_id
        assert scored.node.get_node_info() == {"start": hit.chunk.start, "end": hit.chunk.end}


def test_language_model_reads_the_citation_with_the_text(opened: Pertinent) -> None:
    (scored,) = PertinentNodeRetriever(opened, top_k=1).retrieve(QUERY)
    prompt = scored.node.get_content(MetadataMode.LLM)
    assert "citation: https://book.example/docs/joints#the-torque" in prompt
    assert "title: All about joints" in prompt
    assert "chunk_id" not in prompt
    assert "score" not in prompt


def test_async_call_returns_the_same_nodes(book: Pertinent | str) -> None:
    retriever = PertinentNodeRetriever(book, top_k=2)
    assert asyncio.run(retriever.aretrieve(QUERY)) == retriever.retrieve(QUERY)


def test_query_engine_gives_the_citations_to_the_model(book: Pertinent | str) -> None:
    engine = RetrieverQueryEngine.from_args(PertinentNodeRetriever(book, top_k=2), llm=MockLLM())
    response = engine.query(QUERY)
    assert "citation: https://book.example/docs/joints#the-torque" in str(response)  # it returns its prompt
    assert [node.metadata["anchor"] for node in response.source_nodes][:1] == ["the-torque"]


def test_threshold_and_filters_restrict_the_nodes(book: Pertinent | str) -> None:
    assert PertinentNodeRetriever(book, threshold=1.0).retrieve(QUERY) == []
    nodes = PertinentNodeRetriever(book, filters={"section": "The torque"}).retrieve(QUERY)
    assert {node.node.metadata["section"] for node in nodes} == {"The torque"}


@pytest.mark.parametrize("options", [{"top_k": 101}, {"threshold": -1.0}, {"filters": {"author": "x"}}])
def test_option_out_of_range_is_refused_at_once(opened: Pertinent, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        PertinentNodeRetriever(opened, **options)
