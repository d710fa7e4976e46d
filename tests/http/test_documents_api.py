"""Chunks in their context, and the pages that are indexed."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.testing.pages import page

from .conftest import Serve, Service, open_filled, problem


def middle(service: Service) -> str:
    results = service.v1("the damping of motors", filters={"section": "The damping"}).json()["results"]
    (chunk_id,) = [
        document["chunk_id"]
        for document in results
        if document["metadata"]["source_path"] == "docs/motors.md"
    ]
    return str(chunk_id)


def test_chunk_has_no_neighbours_by_default(service: Service) -> None:
    chunk_id = middle(service)
    body = service.client.get(f"/api/v1/chunks/{chunk_id}").json()
    assert body["chunk_id"] == chunk_id
    (chunk,) = body["chunks"]
    assert chunk["section"] == "The damping"
    assert chunk["citation"] == "https://book.example/docs/motors#the-damping"
    assert chunk["content_hash"] == hashlib.sha256(chunk["content"].encode()).hexdigest()
    assert chunk["created_at"].endswith("Z")
    assert set(chunk) == {
        "chunk_id", "position", "content", "section", "anchor", "url", "document_id", "document_title",
        "citation", "content_hash", "created_at", "start", "end", "source_path", "slug", "source_type",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("around", "positions"), [(0, [5]), (1, [4, 5, 6]), (2, [3, 4, 5, 6]), (100, [0, 1, 2, 3, 4, 5, 6])]
)
def test_around_returns_neighbours_in_page_order(service: Service, around: int, positions: list[int]) -> None:
    body = service.client.get(f"/api/v1/chunks/{middle(service)}", params={"around": around}).json()
    assert [chunk["position"] for chunk in body["chunks"]] == positions


@pytest.mark.parametrize("around", ["-1", "101", "999999999"])
def test_around_out_of_range_names_field_and_range(service: Service, around: str) -> None:
    answer = service.client.get(f"/api/v1/chunks/{middle(service)}", params={"around": around})
    assert problem(answer, 400, "validation_error") == f"around: must be between 0 and 100, not {around}"


@pytest.mark.parametrize("around", ["", "x", "1.5", "NaN", "9" * 5000, "１", "true"])
def test_around_must_be_an_integer(service: Service, around: str) -> None:
    answer = service.client.get(f"/api/v1/chunks/{middle(service)}", params={"around": around})
    if around == "１":  # a digit, if not an ASCII one
        assert answer.status_code == 200
    else:
        message = problem(answer, 400, "validation_error")
        assert message.startswith("around: must be a whole number from 0 to 100")


@pytest.mark.parametrize("chunk_id", ["nope", "%00", "%F0%9F%A4%96", "'; DROP TABLE documents; --", "%ff%fe"])
def test_unknown_chunk_is_not_found(service: Service, chunk_id: str) -> None:
    assert "no chunk" in problem(service.client.get(f"/api/v1/chunks/{chunk_id}"), 404, "not_found")


def test_ids_with_slashes_are_read(serve: Serve, tmp_path: Path) -> None:
    """Another pipeline may use paths as ids."""
    guide = dataclasses.replace(page("guide", {"Limits": "A joint has limits."}), document_id="guide/a.md")
    with open_filled(tmp_path / "slashes", guide) as workspace:
        client = serve(workspace).client
        document = client.get("/api/v1/documents/guide%2Fa%2Emd").json()
        assert document["document_id"] == "guide/a.md"
        (passage,) = document["passages"]
        assert "/" in passage["chunk_id"]
        chunks = client.get(f"/api/v1/chunks/{quote(passage['chunk_id'], safe='')}?around=1").json()["chunks"]
        assert chunks == [passage]
        assert client.get(f"/api/v1/chunks/{passage['chunk_id']}").json()["chunks"] == [passage]


@pytest.mark.parametrize("kind", ["chunks", "documents"])
def test_empty_id_is_not_found(service: Service, kind: str) -> None:
    problem(service.client.get(f"/api/v1/{kind}/"), 404, "not_found")


def test_documents_lists_every_page_with_its_number_of_chunks(service: Service) -> None:
    body = service.client.get("/api/v1/documents").json()
    assert body["total"] == len(body["documents"]) == 4
    assert {document["source_path"]: document["chunks"] for document in body["documents"]} == {
        "docs/joints.md": 7,
        "docs/motors.md": 7,
        "docs/gears.md": 7,
        "docs/nodes.md": 3,
    }
    for document in body["documents"]:
        assert set(document) == {
            "document_id", "url", "title", "source", "source_path", "page_hash", "chunks",
        }  # fmt: skip


def test_document_has_its_text_and_chunks(service: Service) -> None:
    listed = service.client.get("/api/v1/documents").json()["documents"]
    for record in listed:
        document = service.client.get(f"/api/v1/documents/{record['document_id']}").json()
        assert {name: document[name] for name in record} == record
        assert [passage["position"] for passage in document["passages"]] == list(range(record["chunks"]))
        assert all(passage["content"] in document["text"] for passage in document["passages"])
        anchors = {passage["anchor"] for passage in document["passages"]}
        assert anchors <= {section["anchor"] for section in document["sections"]}
        assert all(document["text"][section["start"] : section["end"]] for section in document["sections"])


@pytest.mark.parametrize("document_id", ["nope", "%00", "%3Cscript%3E"])
def test_unknown_document_is_not_found(service: Service, document_id: str) -> None:
    problem(service.client.get(f"/api/v1/documents/{document_id}"), 404, "not_found")


def test_page_and_chunk_are_read_without_listing_all_pages(service: Service) -> None:
    chunk_id = middle(service)
    catalog = service.pertinent.workspace.catalog()
    assert isinstance(catalog, SqlCatalog)
    chunk = catalog.chunk(chunk_id)
    assert chunk is not None
    statements: list[str] = []
    sa.event.listen(catalog._engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
    page = service.client.get(f"/api/v1/documents/{chunk.document_id}").json()
    assert (page["document_id"], page["chunks"]) == (chunk.document_id, len(page["passages"]))
    assert len(statements) == 3
    assert service.pertinent.chunk(chunk_id) == [chunk]
    assert len(statements) <= 5
    assert all("WHERE" in statement for statement in statements)
