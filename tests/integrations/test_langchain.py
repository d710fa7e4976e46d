"""The retriever for LangChain: LangChain's own suite, and what it keeps of a passage."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from importlib.metadata import metadata, requires
from typing import Any

import pytest
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import SecretStr, ValidationError

from pertinent import AsyncPertinentClient, Pertinent, PertinentClient
from pertinent.errors import IndexFailure, InvalidInput
from pertinent.integrations.langchain import PertinentRetriever
from pertinent.integrations.passages import describe_hit

from .conftest import QUERY


@pytest.mark.anyio
class TestLangChainsOwnSuite(RetrieversIntegrationTests):
    """The suite of `langchain-tests`, on an opened index and on a service."""

    _book: Pertinent | str

    @pytest.fixture(autouse=True)
    def _choose_book(self, book: Pertinent | str) -> None:
        self._book = book

    @pytest.fixture
    def anyio_backend(self) -> str:
        return "asyncio"

    @property
    def retriever_constructor(self) -> type[PertinentRetriever]:
        return PertinentRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"book": self._book}

    @property
    def retriever_query_example(self) -> str:
        return QUERY

    @property
    def num_results_arg_name(self) -> str:
        return "top_k"


def test_document_has_the_text_and_metadata_of_the_hit(book: Pertinent | str, opened: Pertinent) -> None:
    hits = opened.search(QUERY, top_k=3).hits
    documents = PertinentRetriever(book=book, top_k=3).invoke(QUERY)
    assert [document.id for document in documents] == [hit.chunk.chunk_id for hit in hits]
    for document, hit in zip(documents, hits, strict=True):
        assert document.page_content == hit.chunk.text
        assert document.metadata == {"source": hit.chunk.citation, **describe_hit(hit)}


def test_async_call_returns_the_same_documents(book: Pertinent | str) -> None:
    retriever = PertinentRetriever(book=book)
    options: dict[str, Any] = {"top_k": 2, "filters": {"section": "The torque"}}
    documents = asyncio.run(retriever.ainvoke(QUERY, **options))
    assert documents == retriever.invoke(QUERY, **options)
    assert len(documents) == 2


def test_threshold_and_filters_restrict_the_documents(book: Pertinent | str) -> None:
    assert PertinentRetriever(book=book, threshold=1.0).invoke(QUERY) == []
    retriever = PertinentRetriever(book=book, filters={"section": "The torque"})
    assert {document.metadata["section"] for document in retriever.invoke(QUERY)} == {"The torque"}
    documents = retriever.invoke(QUERY, filters={"section": "The speed"})
    assert {document.metadata["section"] for document in documents} == {"The speed"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top_k": 0}, "top_k: must be between 1 and 100, not 0"),
        ({"threshold": 2.0}, "threshold: must be between 0.0 and 1.0"),
        ({"filters": {"author": "x"}}, "filter: 'author' is none of document_id, section"),
        ({"book": "localhost:8000"}, "1 validation error.*\n.*book: must be an opened index"),
        ({"book": AsyncPertinentClient("http://127.0.0.1:1")}, "1 validation error.*\n.*book: must be an"),
        ({"k": 3}, "k\n.*Extra inputs are not permitted"),
    ],
)
def test_wrong_option_is_refused_at_once_without_the_key(
    url: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message) as caught:
        PertinentRetriever(**{"book": url, "api_key": "secret-key", **options})
    assert "secret-key" not in str(caught.value)


def test_another_book_is_never_ignored(url: str) -> None:
    retriever = PertinentRetriever(book=url, top_k=1)
    with pytest.raises(ValidationError, match="frozen"):
        retriever.book = "http://127.0.0.1:1"
    copied = retriever.model_copy(
        update={"book": PertinentClient("http://127.0.0.1:1", retries=0), "top_k": 2}
    )
    with pytest.raises(IndexFailure, match=r"127\.0\.0\.1:1 does not answer"):
        copied.invoke(QUERY)
    with pytest.raises(InvalidInput, match="top_k"):
        retriever.model_copy(update={"top_k": 0})
    assert len(retriever.model_copy().invoke(QUERY)) == 1


def test_repr_does_not_show_the_key(url: str) -> None:
    assert "secret-key" not in repr(PertinentRetriever(book=url, api_key=SecretStr("secret-key")))


def test_install_without_extras_has_no_package_of_the_integrations() -> None:
    base = [entry for entry in requires("pertinent") or [] if "extra ==" not in entry]
    packages = {re.match(r"[\w-]+", entry)[0].lower() for entry in base}  # type: ignore[index]
    assert "httpx" in packages
    assert not packages & {"mcp", "langchain-core", "llama-index-core", "haystack-ai", "pytest"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("langchain", "langchain_core", "langchain"),
        ("llamaindex", "llama_index", "llama-index"),
        ("haystack", "haystack", "haystack"),
    ],
)
def test_missing_framework_names_its_extra(module: str, package: str, extra: str) -> None:
    code = (
        f"import json, sys; sys.modules[{package!r}] = None\n"
        f"try: import pertinent.integrations.{module}\n"
        "except ImportError as error: print(json.dumps(str(error)))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert f"pip install 'pertinent[{extra}]'" in json.loads(output)
    assert extra in (metadata("pertinent").get_all("Provides-Extra") or [])
