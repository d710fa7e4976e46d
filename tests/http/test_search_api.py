"""Seed 003: every field, default, range, formula and error of `POST /search` and `GET /health`."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pertinent.errors import CatalogFailure, EmbedderError, IndexFailure

from .conftest import QUERY_FIELD, Serve, Service, problem, raising


def test_response_has_query_and_results_only(service: Service) -> None:
    body = service.search("  the torque of joints ").json()
    assert set(body) == {"query", "results"}
    assert body["query"] == "  the torque of joints "


def test_result_has_the_six_fields_with_their_types(service: Service) -> None:
    results = service.search().json()["results"]
    for result in results:
        assert set(result) == {"chunk_id", "snippet", "source_path", "slug", "title", "score", "url"}
        assert all(isinstance(result[name], str) for name in ("chunk_id", "snippet", "source_path", "slug"))
        assert result["title"] is None or isinstance(result["title"], str)
        assert isinstance(result["score"], float)


def test_result_identifies_the_chunk_and_its_source(service: Service) -> None:
    best = service.search("Nodes publish messages on topics").json()["results"][0]
    assert best["snippet"] == "Nodes publish messages on topics, and subscribe to them."
    assert best["source_path"] == "docs/nodes.md"
    assert best["slug"] == "nodes"
    assert best["title"] == "Nodes and topics"
    assert len(best["chunk_id"]) <= 50


def test_seed_003_result_carries_the_url_of_its_section(service: Service) -> None:
    best = service.search("Nodes publish messages on topics").json()["results"][0]
    assert best["url"] == "https://book.example/docs/nodes#topics"
    whole_page = service.search("This page is about joints of a humanoid robot.").json()["results"][0]
    assert whole_page["url"] == "https://book.example/docs/joints"


@pytest.mark.parametrize("ranking", ["hybrid", "dense", "lexical"])
def test_results_are_ordered_by_score_from_0_to_1_then_by_chunk_id(service: Service, ranking: str) -> None:
    results = service.search("torque gears zebra", top_k=20, ranking=ranking).json()["results"]
    assert len(results) > 1
    assert all(0 <= result["score"] <= 1 for result in results)
    order = [(-result["score"], result["chunk_id"]) for result in results]
    assert order == sorted(order)


def test_repeated_query_gives_the_same_results(service: Service) -> None:
    assert len({service.search(top_k=20).text for _ in range(5)}) == 1


def test_top_k_is_5_by_default_and_from_1_to_20(service: Service) -> None:
    assert len(service.search().json()["results"]) == 5
    for top_k in (1, 20, 7.0):
        assert len(service.search(top_k=top_k).json()["results"]) == top_k


@pytest.mark.parametrize(
    ("field", "values", "pattern"),
    [
        ("top_k", [0, -1, 21, 100, 10**30, 1e300], "top_k: must be between 1 and 20, not .*"),
        (
            "top_k",
            [2.5, "5", True, [5], {}, "x" * 1000],
            "top_k: must be a whole number from 1 to 20, not .*",
        ),
        ("top_k", [None], "top_k: .*"),
        ("query", ["", " ", "\t\n\r ", "\u3000\u00a0"], "query: must not be empty; give 1 to 500 characters"),
        ("query", ["x" * 501], "query: has 501 characters; it must have 1 to 500"),
        ("query", [5, None, True, ["x"], {"x": 1}], "query: must be text.*"),
        ("filters", [{"colour": "red"}], "filters.colour: .*"),
        ("filters", [{"section": 5}, {"section": ""}], "filters.section: .*"),
        ("filters", [{"url": url} for url in ("http://[", "#top", " ", "x" * 2001)], "filters.url: .*"),
        ("filters", [[], "x"], "filters: .*"),
        *(
            (name, [1], f"{name}: there is no such field")
            for name in ("topk", "similarity_threshold", "query_text", "__proto__")
        ),
    ],
)
def test_invalid_value_names_the_field_and_its_range(
    service: Service, field: str, values: list[Any], pattern: str
) -> None:
    for value in values:
        error = problem(service.search(**{field: value}), 400, "validation_error")
        assert re.fullmatch(pattern, error, re.DOTALL), error


def test_query_is_required(service: Service) -> None:
    answer = service.client.post("/search", json={"top_k": 5})
    assert problem(answer, 400, "validation_error") == "query: must be given"


@pytest.mark.parametrize("query", ["x", "x" * 500, "é" * 500, "🤖" * 500])
def test_query_may_have_1_to_500_characters(service: Service, query: str) -> None:
    assert service.search(query).status_code == 200


@pytest.mark.parametrize("ranking", ["best", "HYBRID", 1, "", []])
def test_ranking_is_one_of_three(service: Service, ranking: Any) -> None:
    message = problem(service.search(ranking=ranking), 400, "validation_error")
    assert message.startswith("ranking: ")
    assert all(name in message for name in ("hybrid", "dense", "lexical"))


def test_ranking_is_hybrid_by_default_and_by_setting(serve: Serve) -> None:
    query = "what keeps torque of motors"
    usual = serve()
    assert usual.search(query).json() == usual.search(query, ranking="hybrid").json()
    assert usual.search(query).json() == usual.search(query, ranking=None).json()
    dense = serve(ranking="dense")
    assert dense.search(query).json() == usual.search(query, ranking="dense").json()
    assert dense.search(query).json() != usual.search(query).json()


@pytest.mark.parametrize(
    ("filters", "pages"),
    [
        ({"section": "The torque"}, "gears joints motors"),
        ({"url": "https://book.example/docs/gears"}, "gears"),
        ({"url": "https://BOOK.example/docs/gears/#top"}, "gears"),
        ({"url": "https://book.example/docs", "source_type": "docusaurus-page"}, "gears joints motors nodes"),
        ({"source_type": "beir"}, ""),
        ({"document_id": "no-such-page"}, ""),
        ({"document_id": None}, "gears joints motors nodes"),
    ],
)
def test_filters_restrict_the_results(service: Service, filters: dict[str, str], pages: str) -> None:
    for search in (service.search, service.v1):
        responses = [search(query, filters=filters, top_k=20).json() for query in ("torque", "nodes")]
        results = [result for response in responses for result in response["results"]]
        paths = {result.get("metadata", result)["source_path"] for result in results}
        assert paths == {f"docs/{page}.md" for page in pages.split()}


def test_health_is_ok_with_its_three_fields(service: Service) -> None:
    answer = service.client.get("/health")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "qdrant": True, "postgres": True}


def test_health_is_degraded_with_200_when_the_catalog_does_not_answer(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = service.pertinent.workspace.catalog()
    monkeypatch.setattr(catalog, "ping", raising(CatalogFailure("secret")))
    answer = service.client.get("/health")
    assert answer.status_code == 200
    assert answer.json() == {"status": "degraded", "qdrant": True, "postgres": False}


@pytest.mark.parametrize("catalog_too", [False, True])
def test_health_is_error_with_503_when_the_index_does_not_answer(
    service: Service, monkeypatch: pytest.MonkeyPatch, catalog_too: bool
) -> None:
    workspace = service.pertinent.workspace
    monkeypatch.setattr(workspace.index(), "count", raising(IndexFailure("secret")))
    if catalog_too:
        monkeypatch.setattr(workspace.catalog(), "ping", raising(CatalogFailure("secret")))
    answer = service.client.get("/health")
    assert answer.status_code == 503
    assert answer.json() == {"status": "error", "qdrant": False, "postgres": not catalog_too}


@pytest.mark.parametrize("route", QUERY_FIELD)
@pytest.mark.parametrize(
    ("error", "status", "name"),
    [
        (EmbedderError("secret key"), 502, "upstream_error"),
        (IndexFailure("the index in /tmp/secret failed"), 503, "service_unavailable"),
        (RuntimeError("secret /tmp/x.py"), 500, "internal_error"),
    ],
)
def test_failures_have_the_statuses_of_the_error_table(
    service: Service, monkeypatch: pytest.MonkeyPatch, route: str, error: Exception, status: int, name: str
) -> None:
    if isinstance(error, EmbedderError):
        monkeypatch.setattr(service.pertinent.workspace.embedder(), "embed_queries", raising(error))
    else:
        service.break_index(monkeypatch, error)
    answer = service.ask(route, **{"x-request-id": "abc-1"})
    message = problem(answer, status, name)
    assert "secret" not in answer.text
    (line,) = [line for line in service.logged.entries if line["log_level"] == "error"]
    assert line["request_id"] == "abc-1"
    if status == 500:
        assert "abc-1" in message
        assert line["exc_info"]
    else:
        assert line["detail"] == str(error)


def test_search_works_again_after_a_failure(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        service.break_index(broken, IndexFailure("down"))
        problem(service.search(), 503, "service_unavailable")
    assert service.search().status_code == 200
