"""`GET /api/v1/suggest`: names that fit what has been typed, and clear errors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import Service, problem

ROUTE = "/api/v1/suggest"


def suggest(service: Service, q: str, **parameters: Any) -> list[dict[str, Any]]:
    response = service.client.get(ROUTE, params={"q": q, **parameters})
    assert response.status_code == 200, response.text
    assert set(response.json()) == {"suggestions"}
    return list(response.json()["suggestions"])


def test_suggest_returns_names_with_breadcrumb_and_address(service: Service) -> None:
    page, *_ = suggest(service, "nodes")
    assert page["document_id"].startswith("nodes-")
    assert page | {"document_id": ""} == {
        "title": "Nodes and topics",
        "section": "",
        "url": "https://book.example/docs/nodes",
        "document_id": "",
        "is_page": True,
    }
    (section,) = suggest(service, "serv")
    assert (section["title"], section["section"], section["is_page"]) == (
        "Nodes and topics",
        "Services",
        False,
    )
    assert section["url"] == "https://book.example/docs/nodes#services"


@pytest.mark.parametrize("q", ["the tor", "torque", "trque", "TORQUE the"])
def test_suggest_finds_prefixes_inner_words_and_typos(service: Service, q: str) -> None:
    assert {name["section"] for name in suggest(service, q)} == {"The torque"}


@pytest.mark.parametrize("q", ["", "  ", "?!", "\x00", "\ud83e", "zzzzzz"])
def test_text_that_fits_no_name_gives_an_empty_list(service: Service, q: str) -> None:
    assert suggest(service, q.encode("utf-8", "replace").decode()) == []


def test_limit_is_the_most_suggestions_and_eight_by_default(service: Service) -> None:
    assert len(suggest(service, "the")) == 8
    assert len(suggest(service, "the", limit=3)) == 3
    assert len(suggest(service, "the", limit=50)) == 18


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "q: must be given"),
        ("limit=3", "q: must be given"),
        (f"q={'x' * 2001}", "q: has 2001 characters; it must have at most 2000"),
        ("q=x&limit=0", "limit: must be between 1 and 50, not 0"),
        ("q=x&limit=51", "limit: must be between 1 and 50, not 51"),
        ("q=x&limit=-1", "limit: must be between 1 and 50, not -1"),
        ("q=x&limit=many", "limit: must be a whole number from 1 to 50, not 'many'"),
        ("q=x&limit=1.5", "limit: must be a whole number from 1 to 50, not '1.5'"),
        ("q=x&limit=", "limit: must be a whole number from 1 to 50, not ''"),
    ],
)
def test_bad_input_names_the_parameter_and_its_range(service: Service, query: str, message: str) -> None:
    assert problem(service.client.get(f"{ROUTE}?{query}"), 400, "validation_error") == message


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(q=st.text(st.characters(exclude_categories=["Cs"]), max_size=40), limit=st.integers(1, 50))
def test_any_text_gets_at_most_limit_names(service: Service, q: str, limit: int) -> None:
    assert len(suggest(service, q, limit=limit)) <= limit
