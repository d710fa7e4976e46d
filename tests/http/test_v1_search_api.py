"""Seed 004, the search half: every field, default, range, formula and error of `/api/v1/search`."""

from __future__ import annotations

import json
import math
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from pertinent.identity import point_id

from .conftest import Serve, Service, problem


def test_query_response_has_the_seeds_fields(service: Service) -> None:
    body = service.v1(" the torque ").json()
    assert (body["query_text"], body["status"], body["nearest"]) == (" the torque ", "success", [])
    assert body["query_time_ms"] >= 0
    assert {
        "query_id", "results", "total_results", "query_time_ms", "search_params", "status", "query_text",
        "created_at",
    } <= set(body)  # fmt: skip


def test_retrieved_chunk_has_content_score_id_metadata_and_position(service: Service) -> None:
    best = service.v1("Nodes publish messages on topics").json()["results"][0]
    assert best["content"] == "Nodes publish messages on topics, and subscribe to them."
    assert 0 <= best["similarity_score"] <= 1
    assert best["position"] == 0
    metadata = best["metadata"]
    assert best["chunk_id"].startswith(metadata["document_id"])
    assert metadata["url"] == "https://book.example/docs/nodes"
    assert metadata["section"] == "Topics"
    assert metadata["chunk_id"] == best["chunk_id"]
    assert metadata["document_id"].startswith("nodes-")
    assert metadata["document_title"] == "Nodes and topics"
    assert metadata["source_type"] == "docusaurus-page"


def test_metadata_has_anchor_span_and_path_beyond_the_seed(service: Service) -> None:
    best = service.v1("Nodes publish messages on topics").json()["results"][0]
    metadata = best["metadata"]
    assert metadata["anchor"] == "topics"
    assert metadata["source_path"] == "docs/nodes.md"
    page = service.client.get(f"/api/v1/documents/{metadata['document_id']}").json()
    assert page["text"][metadata["start"] : metadata["end"]] == best["content"]


def test_every_result_is_valid(service: Service) -> None:
    for result in service.v1("torque gears zebra", top_k=100).json()["results"]:
        assert result["content"]
        assert 0 <= result["similarity_score"] <= 1
        assert re.fullmatch(r"[\w-]{1,50}", result["chunk_id"])
        assert urlsplit(result["metadata"]["url"]).netloc
        assert result["metadata"]["document_id"]
        assert result["position"] >= 0


def test_total_results_is_the_count_of_results(service: Service) -> None:
    for threshold in (0.0, 0.3, 1.0):
        body = service.v1(similarity_threshold=threshold, top_k=100).json()
        assert body["total_results"] == len(body["results"])


def test_query_id_is_unique_for_each_query(service: Service) -> None:
    assert len({uuid.UUID(service.v1().json()["query_id"]) for _ in range(5)}) == 5


def test_created_at_is_now_in_utc_ending_in_z(service: Service) -> None:
    created_at = service.v1().json()["created_at"]
    assert created_at.endswith("Z")
    assert abs(datetime.now(UTC) - datetime.fromisoformat(created_at)) < timedelta(seconds=10)


def test_top_k_defaults_to_5_and_similarity_threshold_to_one_half(service: Service) -> None:
    answer = service.client.post("/api/v1/search", json={"query_text": "the torque of joints"})
    params = answer.json()["search_params"]
    assert params == {
        "top_k": 5, "similarity_threshold": 0.5, "ranking": "hybrid", "filters": {}, "rerank_share": 0.0,
    }  # fmt: skip


def test_search_params_echo_the_request(service: Service) -> None:
    params = {"top_k": 3, "similarity_threshold": 0.25, "ranking": "dense", "filters": {"section": "x"}}
    assert service.v1(**params).json()["search_params"] == {**params, "rerank_share": 0.0}


@pytest.mark.parametrize("top_k", [1, 100, 7.0])
def test_top_k_may_be_1_to_100(service: Service, top_k: float) -> None:
    assert len(service.v1(top_k=top_k).json()["results"]) == min(top_k, 24)


@pytest.mark.parametrize(
    ("field", "values", "pattern"),
    [
        ("top_k", [0, 101, -3], "must be between 1 and 100, not {}"),
        ("per_page", [0, 101, -1], "must be between 1 and 100, not {}"),
        ("similarity_threshold", ["0.5", True, None, [0.5]], "must be a number from 0.0 to 1.0.*"),
        ("query_text", ["", "  ", "\n"], "must not be empty; give 1 to 2000 characters"),
        ("explain", ["yes", 1, None], "must be true or false.*"),
        *(
            (name, ["x"], "there is no such field")
            for name in ("query", "threshold", "query_id", "created_at")
        ),
    ],
)
def test_invalid_value_names_the_field_and_its_range(
    service: Service, field: str, values: list[Any], pattern: str
) -> None:
    for value in values:
        error = problem(service.v1(**{field: value}), 400, "validation_error")
        assert re.fullmatch(f"{field}: {pattern.format(value)}", error, re.DOTALL), error


@pytest.mark.parametrize("threshold", [0, 1, 0.0, 1.0, 0.123])
def test_similarity_threshold_may_be_0_to_1(service: Service, threshold: float) -> None:
    assert service.v1(similarity_threshold=threshold).status_code == 200


@pytest.mark.parametrize("threshold", ["-0.01", "1.01", "NaN", "Infinity", "-Infinity", "1e400", "9" * 400])
def test_similarity_threshold_out_of_range_names_field_and_range(service: Service, threshold: str) -> None:
    body = f'{{"query_text": "torque", "similarity_threshold": {threshold}}}'
    answer = service.client.post("/api/v1/search", content=body, headers={"content-type": "application/json"})
    message = problem(answer, 400, "validation_error")
    assert message.startswith("similarity_threshold: must be between 0.0 and 1.0")


def test_results_have_at_least_the_threshold(service: Service) -> None:
    everything = service.v1(top_k=100).json()["results"]
    middle = everything[len(everything) // 2]["similarity_score"]
    results = service.v1(top_k=100, similarity_threshold=middle).json()["results"]
    assert results == [result for result in everything if result["similarity_score"] >= middle]


def test_query_text_longer_than_2000_characters_is_refused(service: Service) -> None:
    assert service.v1("x" * 2000).status_code == 200
    message = problem(service.v1("x" * 2001), 400, "validation_error")
    assert message == "query_text: has 2001 characters; it must have 1 to 2000"


@pytest.mark.parametrize(("length", "warned"), [(1, True), (9, True), (10, False), (500, False), (501, True)])
def test_query_text_of_unusual_length_gets_a_warning(service: Service, length: int, warned: bool) -> None:
    warnings = service.v1("x" * length).json()["warnings"]
    assert bool(warnings) == warned
    if warned:
        assert warnings == [f"query_text has {length} characters; 10 to 500 work best"]


@pytest.mark.parametrize(
    ("ranking", "algorithm", "part"),
    [
        ("dense", "cosine-similarity", "cosine"),
        ("lexical", "lexical-similarity", "lexical"),
        ("hybrid", "hybrid-similarity", None),
    ],
)
def test_similarity_names_its_algorithm_and_has_every_feature(
    service: Service, ranking: str, algorithm: str, part: str | None
) -> None:
    for result in service.v1(ranking=ranking).json()["results"]:
        scores = result["scores"]
        assert result["similarity"]["algorithm"] == algorithm
        assert result["similarity"]["score"] == result["similarity_score"]
        features = ("cosine", "lexical", "title", "heading", "page")
        assert set(scores) == {*features, "numbers", "base", "rerank"}
        present = ("cosine", "lexical") if part else features
        assert all(0 <= scores[name] <= 1 for name in present)
        assert all(scores[name] is None for name in scores.keys() - set(present))
        expected = scores[part] if part else hybrid_score(scores)
        assert result["similarity_score"] == pytest.approx(expected)


def hybrid_score(scores: dict[str, float]) -> float:
    """The score of the ranking `hybrid` as docs/ranking.md states it."""
    weights = {"cosine": 0.5, "lexical": 0.5, "title": 0.4, "heading": 0.15}
    powers = {"cosine": 1, "lexical": 1, "title": 4, "heading": 4}
    match = sum(weight * scores[name] ** powers[name] for name, weight in weights.items()) / 1.55
    return 1 / (1 + math.exp(-10 * (match + 0.3 * scores["page"] - 0.35)))


def test_query_embedding_id_identifies_the_query(service: Service) -> None:
    def embedding_id(query: str, **fields: Any) -> str:
        (embedding_id_,) = {
            result["similarity"]["query_embedding_id"]
            for result in service.v1(query, **fields).json()["results"]
        }
        return str(embedding_id_)

    assert embedding_id("the torque") == embedding_id("the torque", top_k=3, ranking="dense")
    assert embedding_id("the torque") != embedding_id("the speed")


def test_result_embedding_id_is_the_point_id(service: Service) -> None:
    for result in service.v1().json()["results"]:
        assert result["similarity"]["result_embedding_id"] == str(point_id(result["chunk_id"]))


def test_status_is_no_results_with_the_nearest_below_the_threshold(service: Service) -> None:
    body = service.v1("zebra crossings everywhere", similarity_threshold=1.0).json()
    assert body["status"] == "no_results"
    assert body["results"] == []
    assert len(body["nearest"]) == 3
    assert body["nearest"] == service.v1("zebra crossings everywhere", top_k=3).json()["results"]


def test_nearest_is_empty_if_the_filters_match_nothing(service: Service) -> None:
    body = service.v1(filters={"source_type": "beir"}).json()
    assert (body["status"], body["nearest"], body["total_results"]) == ("no_results", [], 0)


def test_per_page_limits_the_results_of_one_page(service: Service) -> None:
    results = service.v1(top_k=100, per_page=2).json()["results"]
    pages = [result["metadata"]["document_id"] for result in results]
    assert len(pages) >= 6
    assert max(pages.count(page) for page in pages) == 2


def test_explain_adds_stages_and_excluded_results(service: Service) -> None:
    assert "explain" not in service.v1().json()
    explained = service.v1(explain=True).json()["explain"]
    assert list(explained["stages_ms"]) == ["received", "embedded", "searched", "filtered"]
    assert all(ms >= 0 for ms in explained["stages_ms"].values())
    assert len(explained["left_out"]) == 5
    for excluded in explained["left_out"]:
        assert excluded["reason"] == "the list is full: top_k is 5"
        assert excluded["content"]


def test_ranking_defaults_to_the_setting(serve: Serve) -> None:
    body = serve(ranking="lexical").v1().json()
    assert body["search_params"]["ranking"] == "lexical"


def test_both_search_routes_give_the_same_results(service: Service) -> None:
    first = [(hit["chunk_id"], hit["score"]) for hit in service.search(top_k=20).json()["results"]]
    second = [(hit["chunk_id"], hit["similarity_score"]) for hit in service.v1(top_k=20).json()["results"]]
    assert first == second


def test_health_reports_each_part(service: Service) -> None:
    answer = service.client.get("/api/v1/health")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "index": True, "catalog": True}


def test_index_has_its_embedder_and_size(service: Service) -> None:
    expected = {"embedder": "testing:hashed-words", "reranker": None, "chunks": 24}
    assert service.client.get("/api/v1/index").json() == expected


def test_html_in_a_passage_is_returned_unchanged_as_json(service: Service) -> None:
    answer = service.v1("script tag shown as text")
    assert answer.headers["content-type"] == "application/json"
    best = json.loads(answer.content)["results"][0]
    assert best["content"].startswith('<script>alert("owned")</script>')
