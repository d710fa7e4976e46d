"""QueryBatcher: batches of waiting queries, and the same answers as without batching."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from pertinent.errors import IndexFailure
from pertinent.ports import Vector
from pertinent.settings import Settings
from pertinent.surfaces.http import create_app
from pertinent.surfaces.http.batching import BATCH_SIZE, Outcome, QueryBatcher
from pertinent.surfaces.library import Pertinent
from pertinent.types import Answer, SearchOptions
from pertinent.workspace.workspace import Workspace

from .conftest import TOPICS, open_filled

Queries = Sequence[tuple[str, SearchOptions]]
OPTIONS = SearchOptions()


def answer(text: str) -> Answer:
    return Answer(text, "hybrid", (), 5, 0.0, "now")


class BatchSearch:
    """Answers batches once it is opened, and records them."""

    def __init__(self, *, closed: bool = False) -> None:
        self.opened = threading.Event()
        self.batches: list[list[str]] = []
        if not closed:
            self.opened.set()

    def __call__(self, queries: Queries) -> list[Outcome]:
        self.batches.append([text for text, _ in queries])
        self.opened.wait(10)
        return [IndexFailure("broken") if text == "broken" else answer(text) for text, _ in queries]


def run(
    search: Callable[[Queries], list[Outcome]], texts: list[str], opened: threading.Event
) -> list[object]:
    async def all_at_once() -> list[object]:
        with ThreadPoolExecutor(2) as threads:
            batcher = QueryBatcher(search, lambda: threads, workers=2)
            searches = [asyncio.ensure_future(batcher.search(text, OPTIONS)) for text in texts]
            await asyncio.sleep(0.05)
            opened.set()
            return await asyncio.gather(*searches, return_exceptions=True)

    return asyncio.run(all_at_once())


def test_single_query_runs_at_once_in_its_own_batch() -> None:
    search = BatchSearch()
    (only,) = run(search, ["alone"], search.opened)
    assert isinstance(only, Answer)
    assert search.batches == [["alone"]]


def test_each_query_gets_its_own_answer() -> None:
    search = BatchSearch(closed=True)
    texts = [f"query {number}" for number in range(50)]
    answers = run(search, texts, search.opened)
    assert [response.query for response in answers if isinstance(response, Answer)] == texts
    assert max(len(batch) for batch in search.batches) == BATCH_SIZE
    assert sorted(text for batch in search.batches for text in batch) == sorted(texts)


def test_waiting_queries_are_divided_among_the_workers() -> None:
    search = BatchSearch(closed=True)
    run(search, [f"query {number}" for number in range(8)], search.opened)
    # The first two go at once; of the six others each thread takes half of those that wait.
    assert sorted(len(batch) for batch in search.batches) == [1, 1, 1, 2, 3]


def test_failed_query_does_not_affect_its_batch() -> None:
    search = BatchSearch(closed=True)
    texts = ["first", "second", "third", "broken", "fifth", "sixth"]
    outcomes = run(search, texts, search.opened)
    assert [type(outcome) for outcome in outcomes] == [Answer, Answer, Answer, IndexFailure, Answer, Answer]


def test_failed_batch_fails_each_of_its_queries() -> None:
    def broken(_: Queries) -> list[Outcome]:
        raise IndexFailure("down")

    outcomes = run(broken, ["one", "two", "three"], threading.Event())
    assert [type(outcome) for outcome in outcomes] == [IndexFailure] * 3


def test_cancelled_query_is_not_searched() -> None:
    search = BatchSearch(closed=True)

    async def giving_up() -> None:
        with ThreadPoolExecutor(1) as threads:
            batcher = QueryBatcher(search, lambda: threads, workers=1)
            first = asyncio.ensure_future(batcher.search("first", OPTIONS))
            await asyncio.sleep(0)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(batcher.search("impatient", OPTIONS), 0.01)
            last = asyncio.ensure_future(batcher.search("last", OPTIONS))
            search.opened.set()
            await asyncio.gather(first, last)

    asyncio.run(giving_up())
    assert search.batches == [["first"], ["last"]]


def test_other_work_of_the_pool_runs_between_batches() -> None:
    search = BatchSearch(closed=True)
    batches_before_other_work: list[int] = []

    async def load_and_other_work() -> None:
        with ThreadPoolExecutor(1) as threads:
            batcher = QueryBatcher(search, lambda: threads, workers=1)
            texts = map(str, range(1 + 3 * BATCH_SIZE))
            searches = [asyncio.ensure_future(batcher.search(text, OPTIONS)) for text in texts]
            await asyncio.sleep(0)
            threads.submit(lambda: batches_before_other_work.append(len(search.batches)))
            search.opened.set()
            await asyncio.gather(*searches)

    asyncio.run(load_and_other_work())
    assert len(search.batches) >= 4
    assert batches_before_other_work == [1]


def test_queries_that_wait_when_the_pool_is_shut_down_are_answered() -> None:
    search = BatchSearch(closed=True)

    async def shut_down() -> list[Answer]:
        threads = ThreadPoolExecutor(1)
        batcher = QueryBatcher(search, lambda: threads, workers=1)
        texts = list(map(str, range(1 + 3 * BATCH_SIZE)))
        searches = [asyncio.ensure_future(batcher.search(text, OPTIONS)) for text in texts]
        await asyncio.sleep(0)
        threads.shutdown(wait=False)
        search.opened.set()
        return await asyncio.wait_for(asyncio.gather(*searches), 30)

    assert len(asyncio.run(shut_down())) == 1 + 3 * BATCH_SIZE


class Panic(BaseException):
    """As a library in Rust raises it."""


def test_panic_fails_the_query_and_keeps_the_worker() -> None:
    calls = iter(range(100))

    def search(queries: Queries) -> list[Outcome]:
        if next(calls) < 4:
            raise Panic("a bug in a library")
        return [answer(text) for text, _ in queries]

    async def one_after_the_other() -> list[object]:
        with ThreadPoolExecutor(2) as threads:
            batcher = QueryBatcher(search, lambda: threads, workers=2)
            outcomes: list[object] = []
            for _ in range(6):
                outcomes += await asyncio.gather(batcher.search("a", OPTIONS), return_exceptions=True)
            return outcomes

    *failed, fifth, sixth = asyncio.run(asyncio.wait_for(one_after_the_other(), 20))
    assert [str(error) for error in failed] == ["the search failed: a bug in a library"] * 4
    assert isinstance(fifth, Answer)
    assert isinstance(sixth, Answer)


PHRASINGS = (
    "{topic} of {part}",
    "How is the {topic} of {part} measured?",
    "{part} {topic}",
    "what keeps the {topic} of all {part} of a humanoid robot within its limits, and what happens to the "
    "controller of the {part} when a {topic} sensor breaks while the robot walks down a flight of stairs",
)
QUERIES = [
    phrasing.format(topic=topic, part=part)
    for topic in TOPICS
    for part in ("joints", "motors", "gears")
    for phrasing in PHRASINGS
][:50]
"""From 4 to 50 tokens long, short and long in turn."""


@pytest.fixture(scope="module")
def default_model_book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The book, embedded by the default model."""
    model = Settings.model_fields["embedder"].default
    with open_filled(tmp_path_factory.mktemp("default_model"), embedder=model) as workspace:
        yield workspace


@pytest.mark.slow  # the real model embeds hundreds of queries
@pytest.mark.parametrize("ranking", ["hybrid", "dense"])
def test_batched_queries_get_the_same_hits_and_scores_as_single_ones(
    default_model_book: Workspace, monkeypatch: pytest.MonkeyPatch, ranking: str
) -> None:
    batch_sizes: list[int] = []
    embed = default_model_book.embedder().embed_queries

    def count_texts(texts: Sequence[str]) -> list[Vector]:
        batch_sizes.append(len(texts))
        return embed(texts)

    monkeypatch.setattr(default_model_book.embedder(), "embed_queries", count_texts)
    app = create_app(Pertinent(default_model_book))

    async def search_both_ways() -> tuple[list[Any], list[Any]]:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://service") as client:

            async def ask(text: str) -> Any:
                body = {"query": text, "top_k": 20, "ranking": ranking}
                answer = await client.post("/search", json=body, timeout=60)
                assert answer.status_code == 200, answer.text
                return answer.json()

            single = [await ask(text) for text in QUERIES]
            assert batch_sizes == [1] * len(QUERIES)
            return single, await asyncio.gather(*map(ask, QUERIES))

    single, batched = asyncio.run(search_both_ways())
    app.state.service.close()
    assert max(batch_sizes) > 1
    assert len({answer["query"] for answer in single}) == len(QUERIES)
    for expected, batched_answer in zip(single, batched, strict=True):
        assert batched_answer["query"] == expected["query"]
        ids, scores = zip(*((hit["chunk_id"], hit["score"]) for hit in expected["results"]), strict=True)
        assert tuple(hit["chunk_id"] for hit in batched_answer["results"]) == ids
        assert [hit["score"] for hit in batched_answer["results"]] == pytest.approx(scores, rel=0, abs=1e-6)
