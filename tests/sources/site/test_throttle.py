"""The throttle: no faster than the site allows, and not much slower."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.sources.site.throttle import Throttle

from ...clock import Clock
from .conftest import FAST_LIMITS, crawl
from .server import LocalSite, Request, page


class Bucket:
    """Lets a number of requests a second through, and a few more at once."""

    def __init__(self, rate: float, burst: int) -> None:
        self.rate, self.burst = rate, burst
        self.excess, self.last = 0.0, 0.0

    def takes(self, now: float) -> bool:
        excess = max(self.excess - (now - self.last) * self.rate, 0.0) + 1
        if excess > self.burst + 1:
            return False
        self.excess, self.last = excess, now
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("pertinent.sources.site.throttle.time", clock)
    return clock


@given(rate=st.floats(0.6, 60), burst=st.integers(0, 5))
def test_throttle_finds_the_rate_limit_of_a_site(rate: float, burst: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        clock = Clock()
        patch.setattr("pertinent.sources.site.throttle.time", clock)
        throttle, site = Throttle(clock), Bucket(rate, burst)
        began, refused, row = clock.now, 0, 0
        for _ in range(400):
            sent = throttle.wait_turn()
            if site.takes(sent):
                throttle.record_answer()
                row = 0
            else:
                throttle.record_refusal(sent, 0.0)
                refused, row = refused + 1, row + 1
                assert row < 8
        answered = 400 - refused
    assert refused < 400 / 6
    assert answered / (clock.now - began) > rate / 4


def test_throttle_does_not_wait_without_refusals(clock: Clock) -> None:
    throttle = Throttle(clock)
    for _ in range(100):
        assert throttle.wait_turn() == 1000.0
        throttle.record_answer()


def test_throttle_slows_down_once_for_concurrent_refusals(clock: Clock) -> None:
    throttle = Throttle(clock)
    sent = [throttle.wait_turn() for _ in range(8)]
    clock.now += 0.05
    for moment in sent:
        throttle.record_refusal(moment, 0.0)
    assert throttle.refusals == 8
    assert [round(throttle.wait_turn() - 1000, 3) for _ in range(3)] == [0.15, 0.25, 0.35]
    throttle.record_answer()
    assert throttle.refusals == 0


def test_throttle_applies_a_new_gap_to_waiting_threads(clock: Clock) -> None:
    throttle = Throttle(clock, delay=0.1)
    throttle.wait_turn()

    def refused_meanwhile(timeout: float) -> bool:
        clock.now += timeout
        if throttle.refusals == 0:
            throttle.record_refusal(1000.0, 1.0)
        return False

    clock.wait = refused_meanwhile  # type: ignore[method-assign, assignment]
    assert throttle.wait_turn() == pytest.approx(1001.1)


def test_throttle_stops_waiting_when_stopped(clock: Clock) -> None:
    throttle = Throttle(clock, delay=60.0)
    throttle.wait_turn()
    clock.set()
    assert throttle.wait_turn() == 1000.0


def let_in(site: LocalSite, names: Iterable[str], takes: Callable[[], bool]) -> None:
    """Have the site give these pages to requests that it takes, and be busy to others."""
    site.book(*names)
    lock = threading.Lock()

    def behaviour(request: Request) -> None:
        with lock:
            accepted = takes()
        if accepted:
            request.send(page(request.path))
        else:
            request.send("busy", status=503)

    for name in names:
        site.pages[f"/docs/{name}"] = behaviour


def test_all_pages_of_a_rate_limited_site_are_read(site: LocalSite) -> None:
    bucket = Bucket(rate=15, burst=2)
    let_in(site, [f"p{number}" for number in range(40)], lambda: bucket.takes(time.monotonic()))
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, first_wait=0.1, connections=8))
    assert (len(pages), unreadable) == (40, [])
    assert len(site.requested_paths) < 60


def test_late_refusal_is_cleared_by_the_next_answer(clock: Clock) -> None:
    throttle = Throttle(clock)
    throttle.record_refusal(throttle.wait_turn(), 0.0)
    clock.now += 1
    for _ in range(200):
        throttle.record_answer()
    throttle.record_refusal(1000.0, 0.0)  # it sent before the throttle was slowed down
    throttle.record_answer()
    assert throttle.refusals == 0


@pytest.mark.usefixtures("short_gaps")
def test_crawl_ends_when_the_site_is_always_busy(site: LocalSite) -> None:
    let_in(site, [f"p{number}" for number in range(60)], lambda: False)
    site.pages["/"] = lambda request: request.send("busy", status=503)
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, failures=4, connections=1))
    assert pages == {}
    reasons = [problem.reason for problem in unreadable[:-1]]
    assert reasons == ["answers HTTP 503; tried 4 times", *["answers HTTP 503"] * 3]
    assert "no longer answers: 4 pages in a row" in unreadable[-1].reason


@pytest.mark.usefixtures("short_gaps")
def test_crawl_continues_when_the_site_is_no_longer_busy(site: LocalSite) -> None:
    names = [f"p{number}" for number in range(9)]
    refusals = iter(range(5))
    let_in(site, names, lambda: next(refusals, None) is None)
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, failures=4, connections=1))
    assert list(pages) == [f"/docs/{name}" for name in names[2:]]
    assert len(unreadable) == 2
