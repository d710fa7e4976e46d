"""A service with a reranker: the page reranks what is entered, not what is being typed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from ..rerankers.rerank_server import VLLM, RerankServer
from ..servers.service import running_service
from .conftest import Reader, open_book, open_readers
from .test_searching import searches


@pytest.fixture
def reranker() -> Iterator[RerankServer]:
    with RerankServer() as server:
        yield server


@pytest.fixture
def reader(reranker: RerankServer, browser: Browser, tmp_path: Path) -> Iterator[Reader]:
    with (
        open_book(tmp_path, reranker=f"http:{reranker.url}{VLLM}") as pertinent,
        running_service(pertinent.workspace) as service,
        open_readers(service, browser) as open_reader,
    ):
        reader = open_reader()
        reader.open()
        yield reader


def test_page_reranks_when_the_query_is_entered(reader: Reader, reranker: RerankServer) -> None:
    seen = searches(reader)
    bars = reader.hits.first.locator(".score .bar > span:first-child")
    reader.box.fill("joint limits")
    expect(bars).to_have_text(["meaning", "words"])
    assert not reranker.requests
    reader.box.press("Enter")
    expect(bars).to_have_text(["meaning", "words", "reranker"])
    assert [body.get("rerank") for body in seen] == [False, None]
    assert len(reranker.requests) == 1


def test_page_says_that_the_reranker_is_down(reader: Reader, reranker: RerankServer) -> None:
    reranker.always = "404"
    reader.box.fill("joint limits")
    reader.box.press("Enter")
    expect(reader.page.get_by_text("the reranker did not answer")).to_be_visible()
    expect(reader.hits.first).to_be_visible()
