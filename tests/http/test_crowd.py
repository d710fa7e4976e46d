"""Queries that arrive together: shared out, answered each on its own, none kept waiting for others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from pertinent.engine import Query
from pertinent.errors import IndexFailure
from pertinent.surfaces.http.crowd import MOST, Crowd, Outcome
from pertinent.types import Answer


def answer(query: Query) -> Answer:
    return Answer(query.text or "", "hybrid", (), 5, 0.0, "now")


class Desk:
    """Answers what it is handed, once it is let; remembers who came together."""

    def __init__(self, *, closed: bool = False) -> None:
        self.opened = threading.Event()
        self.parties: list[list[str]] = []
        if not closed:
            self.opened.set()

    def __call__(self, queries: Sequence[Query]) -> list[Outcome]:
        self.parties.append([query.text or "" for query in queries])
        self.opened.wait(10)
        return [IndexFailure("broken") if query.text == "broken" else answer(query) for query in queries]


def run(
    desk: Callable[[Sequence[Query]], list[Outcome]], texts: list[str], opened: threading.Event
) -> list[object]:
    async def all_at_once() -> list[object]:
        with ThreadPoolExecutor(2) as threads:
            crowd = Crowd(desk, lambda: threads, workers=2)
            asked = [asyncio.ensure_future(crowd.search(Query(text))) for text in texts]
            await asyncio.sleep(0.05)
            opened.set()
            return await asyncio.gather(*asked, return_exceptions=True)

    return asyncio.run(all_at_once())


def test_a_query_that_comes_alone_goes_at_once_and_alone() -> None:
    desk = Desk()
    (only,) = run(desk, ["alone"], desk.opened)
    assert isinstance(only, Answer)
    assert desk.parties == [["alone"]]


def test_everyone_gets_the_answer_to_their_own_query() -> None:
    desk = Desk(closed=True)
    texts = [f"query {number}" for number in range(50)]
    answers = run(desk, texts, desk.opened)
    assert [one.query for one in answers if isinstance(one, Answer)] == texts
    assert max(len(party) for party in desk.parties) == MOST
    assert sorted(text for party in desk.parties for text in party) == sorted(texts)


def test_those_who_wait_are_shared_out_among_the_threads() -> None:
    desk = Desk(closed=True)
    run(desk, [f"query {number}" for number in range(8)], desk.opened)
    # The first two go at once; of the six others each thread takes half of those that wait.
    assert sorted(len(party) for party in desk.parties) == [1, 1, 1, 2, 3]


def test_a_query_that_fails_fails_alone() -> None:
    desk = Desk(closed=True)
    texts = ["first", "second", "third", "broken", "fifth", "sixth"]
    outcomes = run(desk, texts, desk.opened)
    assert [type(one) for one in outcomes] == [Answer, Answer, Answer, IndexFailure, Answer, Answer]


def test_a_failure_of_all_reaches_all() -> None:
    def broken(_: Sequence[Query]) -> list[Outcome]:
        raise IndexFailure("down")

    outcomes = run(broken, ["one", "two", "three"], threading.Event())
    assert [type(one) for one in outcomes] == [IndexFailure] * 3


def test_whoever_gave_up_is_not_searched_for() -> None:
    desk = Desk(closed=True)

    async def giving_up() -> None:
        with ThreadPoolExecutor(1) as threads:
            crowd = Crowd(desk, lambda: threads, workers=1)
            first = asyncio.ensure_future(crowd.search(Query("first")))
            await asyncio.sleep(0)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(crowd.search(Query("impatient")), 0.01)
            last = asyncio.ensure_future(crowd.search(Query("last")))
            desk.opened.set()
            await asyncio.gather(first, last)

    asyncio.run(giving_up())
    assert desk.parties == [["first"], ["last"]]
