"""Queries that arrive together: shared out, answered each on its own, none kept waiting for others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from pertinent.engine import Query
from pertinent.errors import IndexFailure
from pertinent.surfaces.http.crowd import ALONE_SECONDS, MOST, SHORT, SWIFT_SECONDS, Crowd, Outcome
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


class Clock:
    """Goes on only when it is told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def no_threads() -> ThreadPoolExecutor:
    raise AssertionError("who is answered on the spot needs no thread")


def on_the_spot(clock: Clock, desk: Callable[[Sequence[Query]], list[Outcome]] | None = None) -> Crowd:
    return Crowd(desk or Desk(), no_threads, workers=2, on_the_spot=True, clock=clock)


def answered(crowd: Crowd, caller: str | None) -> bool:
    return crowd.answer_if_alone(Query("robots"), caller) is not None


def test_a_caller_who_is_alone_is_answered_on_the_spot(clock: Clock) -> None:
    desk = Desk()
    crowd = on_the_spot(clock, desk)
    assert crowd.answer_if_alone(Query("alone"), "reader") == answer(Query("alone"))
    with pytest.raises(IndexFailure, match="broken"):
        crowd.answer_if_alone(Query("broken"), "reader")
    assert crowd.answer_if_alone(Query("again"), "reader") == answer(Query("again"))
    assert desk.parties == [["alone"], ["broken"], ["again"]]


def test_where_a_search_may_wait_for_something_nobody_is_answered_on_the_spot(clock: Clock) -> None:
    assert not answered(Crowd(Desk(), no_threads, clock=clock), "reader")


def test_a_caller_is_not_alone_until_all_others_have_been_silent_for_a_while(clock: Clock) -> None:
    crowd = on_the_spot(clock)
    assert answered(crowd, "reader")
    clock.now += ALONE_SECONDS / 2
    assert not answered(crowd, "other")
    clock.now += ALONE_SECONDS / 4
    assert not answered(crowd, "reader")
    clock.now += ALONE_SECONDS / 2
    assert not answered(crowd, "reader")
    clock.now += ALONE_SECONDS / 4
    assert answered(crowd, "reader")
    clock.now += ALONE_SECONDS
    assert answered(crowd, "other")


def test_a_long_query_is_left_to_the_threads(clock: Clock) -> None:
    crowd = on_the_spot(clock)
    assert crowd.answer_if_alone(Query("x" * SHORT), "reader") is not None
    assert crowd.answer_if_alone(Query("x" * (SHORT + 1)), "reader") is None


def test_a_caller_without_a_name_may_be_anybody(clock: Clock) -> None:
    crowd = on_the_spot(clock)
    assert not answered(crowd, None)
    assert not answered(crowd, None)


def test_while_a_thread_is_searching_nobody_is_alone(clock: Clock) -> None:
    desk = Desk(closed=True)

    async def beside_another() -> None:
        with ThreadPoolExecutor(1) as threads:
            crowd = Crowd(desk, lambda: threads, workers=1, on_the_spot=True, clock=clock)
            searched = asyncio.ensure_future(crowd.search(Query("long")))
            await asyncio.sleep(0)
            assert not answered(crowd, "reader")
            desk.opened.set()
            await searched

    asyncio.run(beside_another())


@pytest.mark.parametrize("took", [SWIFT_SECONDS * 2, ALONE_SECONDS * 2])
@pytest.mark.parametrize("fails", [False, True])
def test_after_an_answer_that_took_long_the_next_ones_are_left_to_the_threads(
    clock: Clock, took: float, fails: bool
) -> None:
    def slow(queries: Sequence[Query]) -> list[Outcome]:
        clock.now += took
        if fails:
            raise IndexFailure("down")
        return [answer(query) for query in queries]

    crowd = on_the_spot(clock, slow)
    with suppress(IndexFailure):
        assert answered(crowd, "reader")
    # Who came meanwhile waited, and is not alone either.
    assert not answered(crowd, "other")
    assert not answered(crowd, "other")
    clock.now += ALONE_SECONDS
    with suppress(IndexFailure):
        assert answered(crowd, "other")
    assert not answered(crowd, "other")


class Panic(BaseException):
    """As a library in Rust raises it."""


def test_a_panic_is_told_to_whoever_waits_and_takes_no_thread() -> None:
    calls = iter(range(100))

    def desk(queries: Sequence[Query]) -> list[Outcome]:
        if next(calls) < 4:
            raise Panic("a bug in a library")
        return [answer(query) for query in queries]

    async def one_after_the_other() -> list[object]:
        with ThreadPoolExecutor(2) as threads:
            crowd = Crowd(desk, lambda: threads, workers=2)
            found: list[object] = []
            for _ in range(6):
                found += await asyncio.gather(crowd.search(Query("a")), return_exceptions=True)
            return found

    *failed, fifth, sixth = asyncio.run(asyncio.wait_for(one_after_the_other(), 20))
    assert [str(one) for one in failed] == ["the search failed: a bug in a library"] * 4
    assert isinstance(fifth, Answer)
    assert isinstance(sixth, Answer)
