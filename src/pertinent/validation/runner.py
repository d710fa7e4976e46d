"""Ask every query of a golden set, time each by itself, and lose none: a failure is an outcome too."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from ..errors import InvalidInput, PertinentError
from ..limits import ENGINE
from ..types import Answer, Hit, Ranking, SearchOptions
from .golden.golden_set import GoldenQuery, Unit
from .subject import Subject

DEPTH = ENGINE.top_k_max
"""How far a list is read for the measures that look further than a caller does; outside the clock."""

_Given = TypeVar("_Given", GoldenQuery, "Outcome")

WARM_UP = ("a first query", "a second query, to be sure", "and one more before the clock runs")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a query: an answer, a refusal that says what is wrong with the query, or an error."""

    query: GoldenQuery
    latency_ms: float
    answer: Answer | None = None
    refusal: str | None = None
    error: str | None = None
    deep: tuple[Hit, ...] = ()
    """The same list read further, without a threshold."""
    unread: str | None = None
    """Why it could not be read further."""

    @property
    def shown(self) -> tuple[Hit, ...]:
        """What the caller who asked for `top_k` got."""
        return self.answer.hits[: self.query.top_k] if self.answer else ()

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What was shown, and what a longer list would go on with."""
        if self.answer is None or len(self.shown) < self.query.top_k:
            return self.shown
        seen = {hit.chunk.chunk_id for hit in self.shown}
        further = [
            hit for hit in self.deep if hit.chunk.chunk_id not in seen and hit.score >= self.answer.threshold
        ]
        return (*self.shown, *further)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How queries are asked."""

    subject: Subject
    ranking: Ranking | None = None
    threshold: float = 0.0
    unit: Unit = "passage"

    def ask(self, query: GoldenQuery) -> Outcome:
        """The outcome of one query, with its time from the question to the answer."""
        answer: Answer | None = None
        refusal = error = None
        start = time.perf_counter()
        try:
            answer = self._search(query, query.top_k, self.threshold)
        except InvalidInput as problem:
            refusal = str(problem)
        except PertinentError as problem:
            error = f"{type(problem).__name__}: {problem}"
        return Outcome(query, (time.perf_counter() - start) * 1000, answer, refusal, error)

    def read_on(self, outcome: Outcome) -> Outcome:
        """The outcome with its list read further, or with the reason why it was not; a failed one stays."""
        if outcome.answer is None:
            return outcome
        try:
            return replace(outcome, deep=self._search(outcome.query, DEPTH, 0.0).hits)
        except PertinentError as problem:
            return replace(outcome, unread=f"{type(problem).__name__}: {problem}")

    def _search(self, query: GoldenQuery, top_k: int, threshold: float) -> Answer:
        by_page = self.unit == "page"
        options = SearchOptions(
            top_k=top_k,
            threshold=threshold,
            ranking=self.ranking,
            per_page=1 if by_page else None,
            filters=query.filters.to_filters(),
            # Pages with the same text are two pages to whoever judges pages.
            distinct=not by_page,
        )
        return self.subject.search(query.text, options)

    def warm_up(self) -> None:
        """Load whatever is loaded by the first query, outside any measurement."""
        for text in WARM_UP:
            self.ask(GoldenQuery(id="warm-up", text=text))


def ask_all(
    retrieval: Retrieval,
    queries: Sequence[GoldenQuery],
    concurrency: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """The outcome of every query, in order, with so many asked at a time."""
    return _each(retrieval.ask, queries, concurrency, advance)


def read_all(
    retrieval: Retrieval,
    outcomes: Sequence[Outcome],
    concurrency: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """The outcomes with their lists read further, when no clock runs any more."""
    return _each(retrieval.read_on, outcomes, concurrency, advance)


def _each(
    work: Callable[[_Given], Outcome], given: Sequence[_Given], concurrency: int, advance: Callable[[], None]
) -> list[Outcome]:
    def one(item: _Given) -> Outcome:
        outcome = work(item)
        advance()
        return outcome

    with ThreadPoolExecutor(concurrency) as pool:
        return list(pool.map(one, given))
