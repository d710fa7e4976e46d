"""Reranking in a search: the blended score, who asks for it, and what happens while the reranker is down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent._internal.progress import NoProgress
from pertinent.errors import InvalidInput, SettingsError
from pertinent.rerankers.http import HttpReranker
from pertinent.search.engine import Engine
from pertinent.search.ranking import Ranked
from pertinent.search.reranking import Reranking, blend_relevances, join_passage
from pertinent.settings import Settings
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import NO_RERANKER, Answer, Chunk, DamagedPoint, Hit, Ranking, Scores, SearchOptions
from pertinent.workspace.workspace import Workspace

from ..rerankers.rerank_server import VLLM, Fault, RerankServer

BOOK = [
    page(
        f"page-{name}",
        {
            "Topics": f"Nodes of the {name} exchange messages over topics.",
            "Delivery": f"Reliable delivery of the {name} resends lost messages.",
            "Publishing": f"A publisher of the {name} sends messages on a topic.",
        },
    )
    for name in ("arm", "leg", "hand", "head", "foot")
]
QUERY = "messages of a topic"

OpenEngine = Callable[..., Engine]


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as running:
        yield running


@pytest.fixture
def open_engine(tmp_path: Path, server: RerankServer) -> Iterator[OpenEngine]:
    """Open the indexed book with the reranker of the server, or with other settings; one at a time."""
    workspaces: list[Workspace] = []

    def open_with(**settings: Any) -> Engine:
        values = {"reranker": f"http:{server.url}{VLLM}", "embedder": "testing:hashed-words", **settings}
        while workspaces:
            workspaces.pop().close()
        workspace = Workspace(Settings(folder=tmp_path / "data", chunk_tokens=60, **values))
        workspaces.append(workspace)
        if not workspace.has_pages():
            indexer = workspace.create_indexer(NoProgress())
            indexer.apply(indexer.plan(InMemorySource(*BOOK)))
        return workspace.engine()

    yield open_with
    for workspace in workspaces:
        workspace.close()


def search(engine: Engine, **options: Any) -> Answer:
    return engine.search(QUERY, SearchOptions(**{"top_k": 20, **options}))


def list_ids(answer: Answer) -> list[str]:
    return [hit.chunk.chunk_id for hit in answer.hits]


def without_times(answer: Answer) -> Answer:
    return replace(answer, timings={}, created_at="")


def test_score_is_the_blend_of_base_and_relevance(open_engine: OpenEngine, server: RerankServer) -> None:
    engine = open_engine(rerank_depth=10, rerank_share=0.4)
    plain = {hit.chunk.chunk_id: hit for hit in search(engine, rerank=False).hits}
    answer = search(engine)
    reranked = [hit for hit in answer.hits if hit.scores.rerank is not None]
    assert len(reranked) == 10
    assert answer.rerank_share == 0.4
    for hit in reranked:
        relevance = server.judge(QUERY, join_passage(hit.chunk))
        base = plain[hit.chunk.chunk_id]
        assert hit.scores == base.scores._replace(base=base.score, rerank=relevance)
        assert hit.score == pytest.approx(0.6 * base.score + 0.4 * relevance)


def test_best_of_the_list_are_reranked_in_one_request(open_engine: OpenEngine, server: RerankServer) -> None:
    engine = open_engine(rerank_depth=4)
    best = search(engine, rerank=False).hits[:4]
    search(engine, top_k=1)
    (request,) = server.requests
    assert request.passages == [f"{hit.chunk.breadcrumb}\n{hit.chunk.text}" for hit in best]
    assert request.body["query"] == QUERY


def test_seed_contract_1_reranked_list_is_ordered_by_its_score(open_engine: OpenEngine) -> None:
    for share in (0.0, 0.4, 1.0):
        answer = search(open_engine(rerank_depth=5, rerank_share=share))
        order = [(-hit.score, hit.chunk.chunk_id) for hit in answer.hits]
        assert order == sorted(order)
        assert all(0 <= hit.score <= 1 for hit in answer.hits)


def test_passage_that_was_not_reranked_stays_below_those_that_were(open_engine: OpenEngine) -> None:
    answer = search(open_engine(rerank_depth=5))
    reranked = [hit.scores.rerank is not None for hit in answer.hits]
    assert reranked == [True] * 5 + [False] * (len(answer.hits) - 5)
    lowest = min(hit.scores.rerank for hit in answer.hits[:5] if hit.scores.rerank is not None)
    for hit in answer.hits[5:]:
        assert hit.score == pytest.approx(0.6 * (hit.scores.base or 0) + 0.4 * lowest)


def test_scores_do_not_depend_on_the_length_of_the_list(open_engine: OpenEngine) -> None:
    engine = open_engine(rerank_depth=5)
    assert search(engine, top_k=3).hits == search(engine, top_k=20).hits[:3]


def test_threshold_applies_to_the_blended_score(open_engine: OpenEngine, server: RerankServer) -> None:
    server.relevances = {"arm": 1.0, "": 0.0}
    engine = open_engine(rerank_depth=20, rerank_share=0.5)
    best_base = search(engine, rerank=False).hits[0].score
    answer = search(engine, threshold=0.5)
    assert {hit.chunk.document_id for hit in answer.hits} == {
        hit.chunk.document_id for hit in answer.hits if "arm" in hit.chunk.text
    }
    assert best_base > 0.5
    assert any("below the threshold 0.5" in candidate.reason for candidate in answer.excluded)


def test_per_page_counts_before_the_depth(open_engine: OpenEngine, server: RerankServer) -> None:
    answer = search(open_engine(rerank_depth=5), per_page=1)
    assert len(answer.hits) == 5
    assert all(hit.scores.rerank is not None for hit in answer.hits)
    assert len(server.requests[0].passages) == 5


def test_reranking_has_a_stage_of_its_own(open_engine: OpenEngine) -> None:
    engine = open_engine()
    assert list(search(engine).timings) == ["received", "embedded", "searched", "reranked", "filtered"]
    assert list(search(engine, rerank=False).timings) == ["received", "embedded", "searched", "filtered"]


@pytest.mark.parametrize("ranking", ["dense", "lexical"])
def test_seed_contract_1_other_rankings_are_reranked_only_on_request(
    open_engine: OpenEngine, server: RerankServer, ranking: Ranking
) -> None:
    engine = open_engine()
    plain = search(engine, ranking=ranking)
    assert not server.requests
    assert plain.rerank_share == 0
    for hit in plain.hits:
        assert hit.score == (hit.scores.cosine if ranking == "dense" else hit.scores.lexical)
        assert hit.scores.base is hit.scores.rerank is None
    reranked = search(engine, ranking=ranking, rerank=True)
    assert reranked.rerank_share == 0.4
    assert reranked.hits[0].scores.rerank is not None


def test_seed_002_vector_alone_is_never_reranked(open_engine: OpenEngine, server: RerankServer) -> None:
    engine = open_engine()
    vector = [1.0] + [0.0] * (engine._embedder.dimension - 1)
    assert engine.search_vector(vector, SearchOptions(rerank=True)).hits[0].scores.rerank is None
    assert not server.requests


def test_request_without_reranking_sends_nothing(open_engine: OpenEngine, server: RerankServer) -> None:
    engine = open_engine()
    answer = search(engine, rerank=False)
    assert not server.requests
    assert without_times(answer) == without_times(search(open_engine(reranker=None)))


def test_rerank_without_a_reranker_says_what_to_set(open_engine: OpenEngine) -> None:
    with pytest.raises(InvalidInput, match="rerank: no reranker is set: set `reranker`"):
        search(open_engine(reranker=None), rerank=True)


def test_corrected_query_is_what_the_reranker_reads(open_engine: OpenEngine, server: RerankServer) -> None:
    answer = open_engine().search("mesages of a topic")
    assert answer.corrected
    assert server.requests[0].body["query"] == "messages of a topic"


def test_quoted_phrase_limits_what_is_reranked(open_engine: OpenEngine, server: RerankServer) -> None:
    answer = open_engine().search('"reliable delivery"', SearchOptions(top_k=20))
    assert all("Reliable delivery" in passage for passage in server.requests[0].passages)
    assert len(answer.hits) == len(server.requests[0].passages) == 5


def test_query_without_hits_is_not_sent(open_engine: OpenEngine, server: RerankServer) -> None:
    assert not search(open_engine(), filters=replace(SearchOptions().filters, section="No such section")).hits
    assert not server.requests


# Caching


def test_reranked_and_plain_answers_are_cached_apart(open_engine: OpenEngine, server: RerankServer) -> None:
    engine = open_engine(query_cache=10)
    plain, reranked = search(engine, rerank=False), search(engine, rerank=True)
    assert plain.hits != reranked.hits
    for rerank, answer in ((False, plain), (True, reranked)):
        cached = search(engine, rerank=rerank)
        assert cached.cached
        assert cached.hits == answer.hits
    assert len(server.requests) == 1


# A reranker that is down

FAULTS: tuple[Fault, ...] = ("429", "500", "cut", "count", "nan", "outside", "duplicate", "nonsense")


@pytest.mark.parametrize("fault", FAULTS)
def test_list_comes_without_a_reranker_that_is_down(
    open_engine: OpenEngine, server: RerankServer, fault: Fault
) -> None:
    engine = open_engine(query_cache=10)
    server.always = fault
    answer = search(engine)
    plain = search(engine, rerank=False)
    assert answer.notes == (NO_RERANKER,)
    assert answer.hits == plain.hits
    assert answer.rerank_share == 0
    assert engine.cached_answer(QUERY, SearchOptions(top_k=20)) is None
    server.always = None
    recovered = search(engine)
    assert not recovered.notes
    assert recovered.rerank_share == 0.4


def test_silent_reranker_holds_up_one_search_only(open_engine: OpenEngine, server: RerankServer) -> None:
    engine = open_engine(request_timeout=1.0)
    server.always = "slow"
    assert search(engine).notes == (NO_RERANKER,)
    for _ in range(5):
        assert search(engine).notes == (NO_RERANKER,)
    assert len(server.requests) == 1


def test_failure_is_recorded_until_the_reranker_answers(server: RerankServer) -> None:
    reranking = Reranking(HttpReranker(f"{server.url}{VLLM}"), depth=10, share=0.4)
    server.faults.append("404")
    with pytest.raises(Exception, match="HTTP 404"):
        reranking.score("q", ["a"])
    assert "HTTP 404" in str(reranking.failure)
    reranking.score("q", ["a"])
    assert reranking.failure is None
    reranking.reranker.close()


# The blend

POINTS = st.integers(0, 50).map(lambda number: UUID(int=number))
SCORES = st.floats(0, 1)


def make_ranked(scores: dict[UUID, float]) -> Ranked:
    hits = [
        Hit(replace(CHUNK, chunk_id=str(point)), score, Scores(score, None), point)
        for point, score in scores.items()
    ]
    damaged = [(0.5, DamagedPoint(UUID(int=99), "damaged", "page", ("text is missing",)))]
    return Ranked(sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id)), damaged)


CHUNK = Chunk(
    chunk_id="a", document_id="a", url="https://book.example/a", anchor="", title="A", section="", position=0,
    start=0, end=1, text="a", content_hash="0" * 64, source_path="a.md", slug="a", source_type="page",
    created_at="2026-01-01T00:00:00Z",
)  # fmt: skip


@given(st.dictionaries(POINTS, SCORES, min_size=1), st.data(), SCORES)
def test_blend_stays_in_range_and_in_order(
    scores: dict[UUID, float], data: st.DataObject, share: float
) -> None:
    ranked = make_ranked(scores)
    depth = data.draw(st.integers(1, len(ranked.hits)))
    relevances = {hit.point_id: data.draw(SCORES) for hit in ranked.hits[:depth]}
    blended = blend_relevances(ranked, relevances, share)
    assert {hit.point_id for hit in blended.hits} == scores.keys()
    order = [(-hit.score, hit.chunk.chunk_id) for hit in blended.hits]
    assert order == sorted(order)
    assert all(0 <= hit.score <= 1 for hit in blended.hits)
    lowest = min(hit.score for hit in blended.hits if hit.point_id in relevances)
    assert all(hit.score <= lowest + 1e-12 for hit in blended.hits if hit.point_id not in relevances)


@given(st.dictionaries(POINTS, SCORES, min_size=1), st.data(), SCORES)
def test_more_relevance_never_lowers_a_score(
    scores: dict[UUID, float], data: st.DataObject, share: float
) -> None:
    ranked = make_ranked(scores)
    relevances = {hit.point_id: data.draw(SCORES) for hit in ranked.hits}
    point = data.draw(st.sampled_from(sorted(relevances)))
    more = relevances | {point: data.draw(st.floats(relevances[point], 1))}
    before = {hit.point_id: hit.score for hit in blend_relevances(ranked, relevances, share).hits}
    after = {hit.point_id: hit.score for hit in blend_relevances(ranked, more, share).hits}
    assert after[point] >= before[point]
    assert all(after[other] == before[other] for other in before.keys() - {point})


# Settings


@pytest.mark.parametrize("reranker", ["none", ""])
def test_none_is_no_reranker(reranker: str) -> None:
    assert Settings(reranker=reranker).reranker is None


@pytest.mark.parametrize(
    ("reranker", "message"),
    [
        ("ms-marco", "must be provider:model with one of local:…, onnx:…, cohere:…, http:…"),
        ("local:", "must be provider:model"),
        ("openai:x", "must be provider:model"),
        ("http://host/rerank", "must be http:URL, such as http:https://host/rerank"),
        ("https://host/rerank", "must be provider:model"),
    ],
)
def test_reranker_of_another_form_is_refused(reranker: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(reranker=reranker)


def test_unknown_local_reranker_is_a_settings_error_at_the_start(open_engine: OpenEngine) -> None:
    with pytest.raises(SettingsError, match="use local:ms-marco-MiniLM-L-12-v2, or onnx:FOLDER"):
        open_engine(reranker="local:another")
