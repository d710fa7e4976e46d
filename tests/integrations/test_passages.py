"""What the retrievers share."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pertinent import Pertinent, PertinentClient
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
    ("book", "message"),
    [
        ("localhost:8000", "url: must begin with http:// or https://, not 'localhost:8000'"),
        (7, "book: must be an opened Pertinent, a PertinentClient or the address of a service, not int"),
    ],
)
def test_unusable_book_is_refused(book: object, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        open_book(book)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_key_without_an_address_is_refused(opened: Pertinent) -> None:
    with pytest.raises(InvalidInput, match="api_key: belongs to the address of a service") as caught:
        open_book(opened, "secret-key")
    assert "secret-key" not in str(caught.value)
