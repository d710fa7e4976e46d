"""What the retrievers share."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest

from pertinent import AsyncPertinentClient, Pertinent, PertinentClient
from pertinent.errors import InvalidInput
from pertinent.integrations.passages import describe_hit, open_book

from .conftest import QUERY


def test_metadata_has_score_address_and_span(opened: Pertinent) -> None:
    (hit,) = opened.search(QUERY, top_k=1).hits
    metadata = describe_hit(hit)
    page = opened.page(hit.chunk.document_id)
    start, end = metadata["span"]
    assert page.text[start:end] == hit.chunk.text
    assert metadata["score"] == hit.score
    assert metadata["url"] == "https://book.example/docs/joints"
    assert metadata["anchor"] == "the-torque"
    assert metadata["section"] == "The torque"
    assert metadata["citation"] == f"{metadata['url']}#{metadata['anchor']}"
    assert json.loads(json.dumps(metadata)) == metadata


def test_metadata_of_an_external_passage_has_no_span(opened: Pertinent) -> None:
    (hit,) = opened.search(QUERY, top_k=1).hits
    external = replace(hit, chunk=replace(hit.chunk, start=-1, end=-1))
    assert describe_hit(external)["span"] is None


def test_address_becomes_a_client_of_the_service(url: str) -> None:
    with open_book(url, "key") as client:
        assert isinstance(client, PertinentClient)
        assert client.url == url


@pytest.mark.parametrize(
    ("book", "named"),
    [
        ("localhost:8000", "'localhost:8000'"),
        (".pertinent", "'.pertinent'"),
        (7, "int"),
        (AsyncPertinentClient("http://127.0.0.1:1"), "AsyncPertinentClient"),
    ],
)
def test_unusable_book_is_refused_with_what_it_may_be(book: object, named: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        open_book(book)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "book: must be an opened index (`Pertinent.open(FOLDER)`), a PertinentClient or the address of a "
        f"service (http://… or https://…), not {named}"
    )


@pytest.mark.parametrize("kind", ["opened", "client"])
def test_open_book_says_that_it_can_not_be_pickled(kind: str, opened: Pertinent, url: str) -> None:
    with open_book(url) as client, pytest.raises(TypeError, match=r"can't be pickled.*in each process"):
        pickle.dumps(opened if kind == "opened" else client)


def test_key_without_an_address_is_refused(opened: Pertinent) -> None:
    with pytest.raises(InvalidInput, match="api_key: belongs to the address of a service") as caught:
        open_book(opened, "secret-key")
    assert "secret-key" not in str(caught.value)
