"""Reranking over HTTP: asked for by request, explained, and partial while the reranker is down."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pertinent.types import NO_RERANKER

from ..rerankers.rerank_server import VLLM, RerankServer
from ..servers.faulty_api import KEY
from .conftest import QUERY_FIELD, Serve, Service, problem


@pytest.fixture
def reranker() -> Iterator[RerankServer]:
    with RerankServer() as server:
        yield server


@pytest.fixture
def reranked(serve: Serve, reranker: RerankServer) -> Iterator[Service]:
    """The service with a reranker."""
    service = serve(reranker=f"http:{reranker.url}{VLLM}", reranker_api_key=KEY)
    yield service
    assert service.pertinent.workspace.reranking is not None
    service.pertinent.workspace.reranking.reranker.close()


def test_scores_explain_the_blend(reranked: Service) -> None:
    body = reranked.v1(explain=True).json()
    assert body["status"] == "success"
    assert body["search_params"]["rerank_share"] == 0.4
    assert list(body["explain"]["stages_ms"]) == ["received", "embedded", "searched", "reranked", "filtered"]
    for result in body["results"]:
        scores = result["scores"]
        assert result["similarity_score"] == pytest.approx(0.6 * scores["base"] + 0.4 * scores["rerank"])


def test_request_decides_about_reranking(reranked: Service, reranker: RerankServer) -> None:
    plain = reranked.v1(rerank=False).json()
    assert not reranker.requests
    assert plain["search_params"]["rerank_share"] == 0
    assert {result["scores"]["rerank"] for result in plain["results"]} == {None}
    asked = reranked.v1(rerank=True, ranking="dense").json()
    assert asked["results"][0]["scores"]["rerank"] is not None
    scores = [result["score"] for result in reranked.search(rerank=True).json()["results"]]
    assert scores == [result["similarity_score"] for result in reranked.v1(rerank=True).json()["results"]]
    assert scores != [result["score"] for result in reranked.search(rerank=False).json()["results"]]


def test_docsearch_does_not_rerank(reranked: Service, reranker: RerankServer) -> None:
    """It sends a query for each letter, and up to ten in one request."""
    body = {"requests": [{"query": "the torque of joints"}]}
    response = reranked.client.post("/1/indexes/*/queries", json=body)
    assert response.json()["results"][0]["hits"]
    assert not reranker.requests


def test_seed_004_results_without_the_reranker_are_partial(reranked: Service, reranker: RerankServer) -> None:
    reranker.always = "500"
    body = reranked.v1().json()
    assert (body["status"], body["warnings"], body["notes"]) == ("partial", [NO_RERANKER], [NO_RERANKER])
    assert body["results"] == reranked.v1(rerank=False).json()["results"]
    assert reranked.search().json()["notes"] == [NO_RERANKER]


def test_health_says_whether_the_reranker_answers(reranked: Service, reranker: RerankServer) -> None:
    for fault, answers in ((None, True), ("401", False), (None, True)):
        reranker.always = fault  # type: ignore[assignment]
        reranked.v1()
        for probe in ("/api/v1/health", "/readyz"):
            response = reranked.client.get(probe)
            body = {"status": "ok", "index": True, "catalog": True, "reranker": answers}
            assert (response.status_code, response.json()) == (200, body)
    assert reranked.client.get("/health").json() == {"status": "ok", "qdrant": True, "postgres": True}


def test_reason_is_logged_once_without_the_key(reranked: Service, reranker: RerankServer) -> None:
    reranker.always = "401"
    for _ in range(3):
        reranked.v1()
        reranked.client.get("/readyz")
    (line,) = reranked.lines("health")
    assert (line["log_level"], line["status"], line["reranker"]) == ("warning", "ok", False)
    assert "refused the key (HTTP 401): check reranker_api_key" in line["reasons"][0]
    assert KEY not in str(reranked.logged.entries)


def test_service_without_a_reranker_says_so(service: Service) -> None:
    assert "reranker" not in service.client.get("/api/v1/health").json()
    assert service.client.get("/api/v1/index").json()["reranker"] is None
    assert service.v1().json()["search_params"]["rerank_share"] == 0


def test_index_description_names_the_reranker(reranked: Service, reranker: RerankServer) -> None:
    name = f"http:{reranker.url}{VLLM} depth=10 share=0.4"
    assert reranked.client.get("/api/v1/index").json()["reranker"] == name


@pytest.mark.parametrize("route", QUERY_FIELD)
@pytest.mark.parametrize(
    ("value", "message"),
    [(True, "rerank: no reranker is set: set `reranker`"), ("yes", "rerank: must be true or false")],
)
def test_rerank_that_can_not_be_done_is_refused(
    service: Service, route: str, value: object, message: str
) -> None:
    response = service.client.post(route, json={QUERY_FIELD[route]: "torque", "rerank": value})
    assert message in problem(response, 400, "validation_error")
