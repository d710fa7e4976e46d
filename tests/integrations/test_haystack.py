"""The retriever for Haystack: alone, in a pipeline, and in the YAML of one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

from pertinent import Pertinent, PertinentClient
from pertinent.errors import InvalidInput
from pertinent.integrations.haystack import PertinentTextRetriever
from pertinent.integrations.passages import describe_hit

from ..servers.service import running_service
from .conftest import QUERY

TORQUE = {"field": "meta.section", "operator": "==", "value": "The torque"}
JOINTS = {"field": "meta.url", "operator": "==", "value": "https://book.example/docs/joints"}


def test_document_has_the_text_score_and_meta_of_the_hit(book: Pertinent | str, opened: Pertinent) -> None:
    hits = opened.search(QUERY, top_k=3).hits
    documents = PertinentTextRetriever(book).run(QUERY, top_k=3)["documents"]
    assert [document.id for document in documents] == [hit.chunk.chunk_id for hit in hits]
    for document, hit in zip(documents, hits, strict=True):
        assert (document.content, document.score) == (hit.chunk.text, hit.score)
        assert document.meta == describe_hit(hit)


def test_async_run_returns_the_same_documents(book: Pertinent | str) -> None:
    retriever = PertinentTextRetriever(book)
    assert asyncio.run(retriever.run_async(QUERY, TORQUE, 2)) == retriever.run(QUERY, TORQUE, 2)


def test_haystack_filters_restrict_the_documents(book: Pertinent | str) -> None:
    retriever = PertinentTextRetriever(book, filters=TORQUE)
    sections = {document.meta["section"] for document in retriever.run(QUERY)["documents"]}
    assert sections == {"The torque"}
    both = {"operator": "AND", "conditions": [TORQUE, JOINTS]}
    (document,) = retriever.run(QUERY, filters=both)["documents"]
    assert document.meta["citation"] == "https://book.example/docs/joints#the-torque"


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"section": "The torque"}, "filters: must be == with text on meta.document_id, meta.section"),
        ({**TORQUE, "operator": "!="}, "filters: must be == with text on"),
        ({**TORQUE, "field": "meta.author"}, "filters: must be == with text on"),
        ({"operator": "OR", "conditions": [TORQUE, JOINTS]}, "or an AND of such conditions"),
        (
            {"operator": "AND", "conditions": [TORQUE, {**TORQUE, "value": "The speed"}]},
            "filters: meta.section has two values, 'The torque' and 'The speed'",
        ),
    ],
)
def test_filter_that_a_search_lacks_is_refused(
    opened: Pertinent, filters: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        PertinentTextRetriever(opened, filters=filters)
    with pytest.raises(InvalidInput, match=message):
        PertinentTextRetriever(opened).run(QUERY, filters=filters)


def make_pipeline(retriever: PertinentTextRetriever) -> Pipeline:
    text = "{% for document in documents %}[{{ document.meta.citation }}] {% endfor %}{{ query }}"
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever)
    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(text)], required_variables="*"))
    pipeline.add_component("model", MockChatGenerator())
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "model.messages")
    return pipeline


def run_pipeline(pipeline: Pipeline) -> str:
    response = pipeline.run({"retriever": {"query": QUERY}, "prompt": {"query": QUERY}})
    return str(response["model"]["replies"][0].text)


def test_pipeline_gives_the_citations_to_the_model(book: Pertinent | str) -> None:
    reply = run_pipeline(make_pipeline(PertinentTextRetriever(book, top_k=1)))
    assert reply == f"[https://book.example/docs/joints#the-torque] {QUERY}"


def test_pipeline_is_the_same_after_its_yaml(url: str) -> None:
    retriever = PertinentTextRetriever(url, top_k=2, threshold=0.1, filters=TORQUE)
    pipeline = make_pipeline(retriever)
    loaded = Pipeline.loads(pipeline.dumps(), allowed_modules=["pertinent.*"])
    assert loaded.to_dict()["components"] == pipeline.to_dict()["components"]
    assert run_pipeline(loaded) == run_pipeline(pipeline)


def test_yaml_names_the_variable_of_the_key_not_the_key(
    opened: Pertinent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOK_KEY", "secret-key")
    monkeypatch.setattr(opened.workspace, "settings", opened.workspace.settings)  # restored at the end
    with running_service(opened.workspace, api_keys=["secret-key"]) as address:
        retriever = PertinentTextRetriever(address, Secret.from_env_var("BOOK_KEY"))
        text = make_pipeline(retriever).dumps()
        assert "secret-key" not in text
        assert "BOOK_KEY" in text
        loaded = Pipeline.loads(text, allowed_modules=["pertinent.*"])
        assert "the-torque" in run_pipeline(loaded)


def test_key_that_is_no_secret_is_refused_without_quoting_it(url: str) -> None:
    with pytest.raises(InvalidInput, match="api_key: must be a Secret") as caught:
        PertinentTextRetriever(url, "secret-key")  # type: ignore[arg-type]
    assert "secret-key" not in str(caught.value)


def test_only_an_address_can_be_saved(opened: Pertinent, url: str) -> None:
    with PertinentClient(url) as client:
        for book in (opened, client):
            with pytest.raises(InvalidInput, match="book: only the address of a service can be saved"):
                PertinentTextRetriever(book).to_dict()
