"""Run the queries of a golden set and time each; a failed search is an outcome too."""

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
from .target import NoVerdict, ValidationTarget

DEPTH = ENGINE.top_k_max
"""How many results are read, untimed, for measures that look beyond `top_k`."""

_Input = TypeVar("_Input", GoldenQuery, "QueryOutcome")

WARM_UP = ("warm-up 1", "warm-up 2", "warm-up 3")


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """The outcome of a query: an answer, a refusal of the query as invalid, or an error."""

    query: GoldenQuery
    latency_ms: float
    answer: Answer | None = None
    refusal: str | None = None
    error: str | None = None
    deep: tuple[Hit, ...] = ()
    """The first `DEPTH` results of the same query, without a threshold."""
    deep_error: str | None = None
    """Why the deep ranking could not be read."""

    @property
    def results(self) -> tuple[Hit, ...]:
        """The results that a caller gets with the query's `top_k`."""
        return self.answer.hits[: self.query.top_k] if self.answer else ()

    @property
    def deep_results(self) -> tuple[Hit, ...]:
        """The results, followed by those of the deep ranking that a longer list would show."""
        if self.answer is None or len(self.results) < self.query.top_k:
            return self.results
        listed_ids = {hit.chunk.chunk_id for hit in self.results}
        further = [
            hit
            for hit in self.deep
            if hit.chunk.chunk_id not in listed_ids and hit.score >= self.answer.threshold
        ]
        return (*self.results, *further)


@dataclass(frozen=True, slots=True)
class QueryRunner:
    """Runs queries on a target with the settings of a validation."""

    target: ValidationTarget
    ranking: Ranking | None = None
    threshold: float = 0.0
    unit: Unit = "passage"
    rerank: bool | None = None

    def run(self, query: GoldenQuery) -> QueryOutcome:
        """Run a query and measure its latency."""
        answer: Answer | None = None
        refusal = error = None
        start = time.perf_counter()
        try:
            answer = self._search(query, query.top_k, self.threshold)
        except NoVerdict:
            raise
        except InvalidInput as problem:
            refusal = str(problem)
        except PertinentError as problem:
            error = f"{type(problem).__name__}: {problem}"
        return QueryOutcome(query, (time.perf_counter() - start) * 1000, answer, refusal, error)

    def fetch_deep_ranking(self, outcome: QueryOutcome) -> QueryOutcome:
        """Add the deep ranking to an outcome, or the reason why it could not be read."""
        if outcome.answer is None:
            return outcome
        try:
            return replace(outcome, deep=self._search(outcome.query, DEPTH, 0.0).hits)
        except NoVerdict:
            raise
        except PertinentError as problem:
            return replace(outcome, deep_error=f"{type(problem).__name__}: {problem}")

    def warm_up(self) -> None:
        """Run a few untimed queries, so that models and stores are loaded; a broken pipeline raises."""
        for text in WARM_UP:
            query = GoldenQuery(id="warm-up", text=text)
            self._search(query, query.top_k, self.threshold)

    def _search(self, query: GoldenQuery, top_k: int, threshold: float) -> Answer:
        by_page = self.unit == "page"
        options = SearchOptions(
            top_k=top_k,
            threshold=threshold,
            ranking=self.ranking,
            per_page=1 if by_page else None,
            filters=query.filters.to_filters(),
            # Where pages are judged, two pages with the same text are two results.
            distinct=not by_page,
            rerank=self.rerank,
        )
        return self.target.search(query.text, options)


def run_queries(
    runner: QueryRunner,
    queries: Sequence[GoldenQuery],
    concurrency: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> list[QueryOutcome]:
    """Run every query, `concurrency` at a time; the outcomes are in the order of the queries."""
    return _map_concurrently(runner.run, queries, concurrency, advance)


def fetch_deep_rankings(
    runner: QueryRunner,
    outcomes: Sequence[QueryOutcome],
    concurrency: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> list[QueryOutcome]:
    """Add the deep ranking to every outcome, after all queries have been timed."""
    return _map_concurrently(runner.fetch_deep_ranking, outcomes, concurrency, advance)


def _map_concurrently(
    work: Callable[[_Input], QueryOutcome],
    inputs: Sequence[_Input],
    concurrency: int,
    advance: Callable[[], None],
) -> list[QueryOutcome]:
    def work_and_advance(single: _Input) -> QueryOutcome:
        outcome = work(single)
        advance()
        return outcome

    with ThreadPoolExecutor(concurrency) as pool:
        return list(pool.map(work_and_advance, inputs))
