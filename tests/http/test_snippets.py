"""`snippet_length` of both search routes: shortened snippets with the matching words marked."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Serve, Service, problem

ROUTES = pytest.mark.parametrize("route", ["search", "v1"])


def search(service: Service, route: str, query: str = "the torque of joints", **fields: Any) -> Any:
    return getattr(service, route)(query, **fields)


def test_seed_003_snippet_is_the_whole_text_without_snippet_length(service: Service) -> None:
    results = service.search(top_k=20).json()["results"]
    contents = {result["chunk_id"]: result["content"] for result in service.v1(top_k=100).json()["results"]}
    for result in results:
        assert result["snippet"] == contents[result["chunk_id"]]
        assert "highlights" not in result
    assert all("snippet" not in result for result in service.v1().json()["results"])


@ROUTES
def test_snippet_length_shortens_the_snippet_and_marks_matching_words(service: Service, route: str) -> None:
    results = search(service, route, "the limits of the torque", snippet_length=60).json()["results"]
    assert results
    for result in results:
        assert len(result["snippet"]) <= 60
        marked = {result["snippet"][start:end] for start, end in result["highlights"]}
        assert marked <= {"limits", "torque"}
    best = results[0]
    assert "…" in best["snippet"]
    assert best["highlights"]


def test_v1_keeps_the_whole_content_beside_the_snippet(service: Service) -> None:
    result = service.v1(snippet_length=50).json()["results"][0]
    assert len(result["content"]) > len(result["snippet"])
    assert result["snippet"].strip("… ") in result["content"]


def test_nearest_and_left_out_results_have_snippets(service: Service) -> None:
    body = service.v1(similarity_threshold=1.0, snippet_length=50, explain=True).json()
    assert body["results"] == []
    assert body["nearest"]
    assert all({"snippet", "highlights"} <= set(result) for result in body["nearest"])
    assert all({"snippet", "highlights"} <= set(result) for result in body["explain"]["left_out"])


def test_snippet_marks_the_corrected_word(service: Service) -> None:
    body = service.v1("frictoin", snippet_length=200).json()
    assert body["searched_for"] == "friction"
    best = body["results"][0]
    assert "friction" in {best["snippet"][start:end] for start, end in best["highlights"]}


def test_snippets_do_not_change_cached_answers(serve: Serve) -> None:
    service = serve(query_cache=100)
    before = service.search().json()
    service.search(snippet_length=50)
    assert service.search().json() == before


@ROUTES
@pytest.mark.parametrize("length", [50, 2000, 60.0, None])
def test_snippet_length_may_be_50_to_2000(service: Service, route: str, length: float | None) -> None:
    assert search(service, route, snippet_length=length).status_code == 200


@ROUTES
@pytest.mark.parametrize("length", [0, -1, 49, 2001, 10**30])
def test_snippet_length_out_of_range_names_field_and_range(service: Service, route: str, length: int) -> None:
    message = problem(search(service, route, snippet_length=length), 400, "validation_error")
    assert "snippet_length" in message
    assert "must be between 50 and 2000" in message


@ROUTES
@pytest.mark.parametrize("length", ["200", True, 60.5, [200], {}])
def test_snippet_length_of_another_type_is_refused(service: Service, route: str, length: object) -> None:
    message = problem(search(service, route, snippet_length=length), 400, "validation_error")
    assert "snippet_length" in message
    assert "whole number" in message
