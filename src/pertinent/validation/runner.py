"""Ask every query of a golden set, time each by itself, and lose none: a failure is an outcome too."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ..errors import InvalidInput, PertinentError
from ..types import Answer, Hit, Ranking
from .golden import GoldenQuery, Unit
from .subject import Subject

DEPTH = 10
"""How far a list is read at least: further than most callers ask, so that nDCG@10 means something."""

PAGES_DEPTH = 100
"""The same where pages are judged."""

WARM_UP = ("a first query", "a second query, to be sure", "and one more before the clock runs")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a query: an answer, a refusal that says what is wrong with the query, or an error."""

    query: GoldenQuery
    latency_ms: float
    answer: Answer | None = None
    refusal: str | None = None
    error: str | None = None

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The whole list, as deep as it was read."""
        return self.answer.hits if self.answer else ()

    @property
    def shown(self) -> tuple[Hit, ...]:
        """What the caller who asked for `top_k` would have got."""
        return self.hits[: self.query.top_k]


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How queries are asked."""

    subject: Subject
    ranking: Ranking | None = None
    threshold: float = 0.0
    unit: Unit = "passage"

    def ask(self, query: GoldenQuery, depth: int | None = None) -> Outcome:
        """The outcome of one query, with its time from the question to the answer."""
        least = PAGES_DEPTH if self.unit == "page" else DEPTH
        start = time.perf_counter()
        answer: Answer | None = None
        refusal = error = None
        try:
            answer = self.subject.search(
                query.text,
                top_k=depth or max(query.top_k, least),
                threshold=self.threshold,
                ranking=self.ranking,
                per_page=1 if self.unit == "page" else None,
                filters=query.filters.to_filters(),
            )
        except InvalidInput as problem:
            refusal = str(problem)
        except PertinentError as problem:
            error = f"{type(problem).__name__}: {problem}"
        return Outcome(query, (time.perf_counter() - start) * 1000, answer, refusal, error)

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

    def one(query: GoldenQuery) -> Outcome:
        outcome = retrieval.ask(query)
        advance()
        return outcome

    with ThreadPoolExecutor(concurrency) as pool:
        return list(pool.map(one, queries))
