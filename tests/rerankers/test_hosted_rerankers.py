"""Every hosted reranker, over real HTTP, against a service that misbehaves."""

from __future__ import annotations

import random
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent._internal.hosted.retries import RERANK_RETRY, RetryPolicy
from pertinent.errors import RerankerError, SettingsError
from pertinent.rerankers.cohere import CohereReranker
from pertinent.rerankers.hosted import HostedReranker, order_scores
from pertinent.rerankers.http import HttpReranker

from ..servers.faulty_api import KEY
from .rerank_server import COHERE, JINA, TEI, VLLM, Fault, RerankServer, relevance_of

pytestmark = pytest.mark.slow

QUICK = RetryPolicy(timeout=20, attempts=3, first_wait=0.001, longest_wait=60)
SHORT = RetryPolicy(timeout=0.2, attempts=2, first_wait=0.001, longest_wait=1)

QUERY = "Who talks to whom?"
PASSAGES = [f"passage number {number}" for number in range(10)]

Make = Callable[..., HostedReranker]


def cohere(server: RerankServer, retry: RetryPolicy) -> HostedReranker:
    return CohereReranker("rerank-v3.5", KEY, base_url=server.url, retry=retry)


def jina(server: RerankServer, retry: RetryPolicy) -> HostedReranker:
    return HttpReranker(f"{server.url}{JINA}#jina-reranker-v2", KEY, retry=retry)


def vllm(server: RerankServer, retry: RetryPolicy) -> HostedReranker:
    return HttpReranker(f"{server.url}{VLLM}", KEY, retry=retry)


def tei(server: RerankServer, retry: RetryPolicy) -> HostedReranker:
    return HttpReranker(f"{server.url}{TEI}", KEY, retry=retry)


@pytest.fixture(params=[cohere, jina, vllm, tei], ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest, rerank_server: RerankServer) -> Iterator[Make]:
    """Return a factory of rerankers that use the server, for each protocol in turn."""
    with ExitStack() as stack:
        yield lambda retry=QUICK: stack.enter_context(closing(request.param(rerank_server, retry)))


def open_ready(make: Make, server: RerankServer, retry: RetryPolicy = QUICK) -> HostedReranker:
    """Return a reranker that has found out which form of body the server takes."""
    reranker = make(retry)
    reranker.score(QUERY, PASSAGES)
    server.requests.clear()
    return reranker


def test_each_passage_gets_its_own_relevance(make: Make) -> None:
    assert make().score(QUERY, PASSAGES) == [relevance_of(QUERY, passage) for passage in PASSAGES]


@pytest.mark.parametrize(
    ("build", "path", "body"),
    [
        (cohere, COHERE, {"model": "rerank-v3.5", "query": "q", "documents": ["a", "b"], "top_n": 2}),
        (jina, JINA, {"model": "jina-reranker-v2", "query": "q", "documents": ["a", "b"], "top_n": 2}),
        (vllm, VLLM, {"query": "q", "documents": ["a", "b"], "top_n": 2}),
        (tei, TEI, {"query": "q", "texts": ["a", "b"], "truncate": True}),
    ],
)
def test_request_has_the_form_of_its_protocol(
    rerank_server: RerankServer,
    build: Callable[[RerankServer, RetryPolicy], HostedReranker],
    path: str,
    body: dict[str, object],
) -> None:
    with closing(build(rerank_server, QUICK)) as reranker:
        reranker.score("q", ["a", "b"])
    request = rerank_server.requests[-1]
    assert (request.path, request.body) == (path, body)
    assert request.headers["Authorization"] == f"Bearer {KEY}"


def test_form_of_the_body_is_found_out_once(rerank_server: RerankServer) -> None:
    with closing(tei(rerank_server, QUICK)) as reranker:
        reranker.score("q", ["a"])
        reranker.score("q", ["a"])
    assert [sorted(request.body) for request in rerank_server.requests] == [
        ["documents", "query", "top_n"],
        ["query", "texts", "truncate"],
        ["query", "texts", "truncate"],
    ]


def test_server_that_is_down_at_first_does_not_decide_the_form(rerank_server: RerankServer) -> None:
    rerank_server.faults.extend(["500", "500", "500"])
    with closing(tei(rerank_server, QUICK)) as reranker:
        with pytest.raises(RerankerError, match="HTTP 500"):
            reranker.score("q", ["a"])
        assert reranker.score("q", ["a"]) == [relevance_of("q", "a")]


def test_server_that_takes_no_form_is_reported_with_its_own_words(rerank_server: RerankServer) -> None:
    with closing(HttpReranker(f"{rerank_server.url}{JINA}", retry=QUICK)) as reranker:
        with pytest.raises(RerankerError, match=r"HTTP 422 .*it says: model: Field required"):
            reranker.score("q", ["a"])
        assert len(rerank_server.requests) == 2


@pytest.mark.parametrize("fault", ["429", "500", "503", "cut", "dropped"])
def test_failure_that_may_pass_is_retried(make: Make, rerank_server: RerankServer, fault: Fault) -> None:
    reranker = open_ready(make, rerank_server)
    rerank_server.faults.append(fault)
    assert reranker.score(QUERY, PASSAGES) == [relevance_of(QUERY, passage) for passage in PASSAGES]
    assert len(rerank_server.requests) == 2


@pytest.mark.parametrize("fault", ["429", "500", "slow", "cut", "dropped", "dripping head", "dripping body"])
def test_lasting_failure_ends_after_the_last_attempt(
    make: Make, rerank_server: RerankServer, fault: Fault
) -> None:
    reranker = open_ready(make, rerank_server, SHORT)
    rerank_server.always = fault
    with pytest.raises(RerankerError, match="tried 2 times"):
        reranker.score(QUERY, PASSAGES)
    assert len(rerank_server.requests) == 2


def test_retry_after_that_is_too_long_is_not_waited_for(make: Make, rerank_server: RerankServer) -> None:
    reranker = open_ready(make, rerank_server, RERANK_RETRY)
    rerank_server.always, rerank_server.retry_after = "429", "30"
    with pytest.raises(RerankerError, match="asks to wait 30 s"):
        reranker.score(QUERY, PASSAGES)
    assert len(rerank_server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("count", "9 scores for 10 passages"),
        ("more", "11 scores for 10 passages"),
        ("nan", "NaN or infinite"),
        ("infinity", "NaN or infinite"),
        ("huge", "NaN or infinite"),
        ("logits", "the score -8.25, not one from 0 to 1"),
        ("text", "not a number"),
        ("outside", "the passage '10', but they are 0 to 9"),
        ("negative", "the passage '-1', but they are 0 to 9"),
        ("duplicate", "two scores for the passage"),
        ("nonsense", "not JSON"),
        ("latin", "not JSON"),
        ("digits", "not JSON"),
        ("empty", "without results"),
        ("list", "without results"),
        ("null", "without results"),
        ("deep", "not JSON|without results"),
        ("bomb", "the response is larger than 64 MB"),
    ],
)
def test_response_that_can_not_be_used_is_an_error_without_a_retry(
    make: Make, rerank_server: RerankServer, fault: Fault, message: str
) -> None:
    reranker = open_ready(make, rerank_server)
    rerank_server.always = fault
    with pytest.raises(RerankerError, match=message):
        reranker.score(QUERY, PASSAGES)
    assert len(rerank_server.requests) == 1


def test_refused_key_names_the_setting(make: Make, rerank_server: RerankServer) -> None:
    reranker = open_ready(make, rerank_server)
    rerank_server.always = "401"
    with pytest.raises(RerankerError, match=r"check (COHERE_API_KEY|reranker_api_key)"):
        reranker.score(QUERY, PASSAGES)


@pytest.mark.parametrize("fault", sorted({*get_args(Fault)} - {"slow"}))
def test_no_error_contains_the_key(make: Make, rerank_server: RerankServer, fault: Fault) -> None:
    reranker = open_ready(make, rerank_server, SHORT)
    rerank_server.always = fault
    with pytest.raises(RerankerError) as caught:
        reranker.score(QUERY, PASSAGES)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr(reranker)


def test_server_that_does_not_run_is_an_error() -> None:
    with (
        closing(HttpReranker("http://127.0.0.1:9/rerank", retry=SHORT)) as reranker,
        pytest.raises(RerankerError, match=r"connection to the reranking server .* failed"),
    ):
        reranker.score("q", ["a"])


@given(st.lists(st.floats(0, 1), max_size=30), st.randoms(use_true_random=False))
def test_scores_are_ordered_by_their_index(scores: list[float], shuffler: random.Random) -> None:
    rows: list[tuple[object, object]] = list(enumerate(scores))
    shuffler.shuffle(rows)
    assert order_scores(rows, len(scores)) == scores


def test_cohere_reranker_needs_a_key_and_its_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match=r"reranker: cohere:rerank-v3\.5 requires a key: set COHERE"):
        CohereReranker("rerank-v3.5", None)
    monkeypatch.setitem(sys.modules, "cohere", None)
    with pytest.raises(SettingsError, match=r"reranker: .*pip install 'pertinent\[cohere\]'"):
        CohereReranker("rerank-v3.5", KEY)


@pytest.mark.parametrize(
    "address", ["ftp://host/rerank", "https://user:secret@host/rerank", "https:///rerank"]
)
def test_address_that_can_not_be_used_is_a_settings_error(address: str) -> None:
    with pytest.raises(SettingsError, match="reranker: must") as caught:
        HttpReranker(address)
    assert "secret" not in str(caught.value)
