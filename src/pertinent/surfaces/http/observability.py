"""What the service tells of itself: metrics, one log line a query or refusal, and spans of its stages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ...types import Answer

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""The methods that are counted by name: a caller can make up as many others as it likes."""

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)


class Observer:
    """Counts, logs and traces; one for each application, so that tests do not share counters."""

    def __init__(self, log: Any = None, tracer: Tracer | None = None) -> None:
        self.log = log or structlog.get_logger("pertinent")
        self._tracer = tracer
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "pertinent_requests_total",
            "Requests answered",
            ["route", "method", "status"],
            registry=self._registry,
        )
        self._latency = Histogram(
            "pertinent_request_seconds", "Time to answer", ["route"], buckets=SECONDS, registry=self._registry
        )
        self._stages = Histogram(
            "pertinent_stage_seconds",
            "Time of each stage of a search",
            ["stage"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._results = Histogram(
            "pertinent_results",
            "Results of a search",
            buckets=(0, 1, 2, 3, 5, 10, 20, 50, 100),
            registry=self._registry,
        )
        self._failures = Counter(
            "pertinent_failures_total", "Failures by kind", ["error"], registry=self._registry
        )
        self._chunks = Gauge("pertinent_index_chunks", "Chunks in the index", registry=self._registry)

    def exposition(self) -> bytes:
        """All metrics, as Prometheus reads them."""
        return generate_latest(self._registry)

    def index_size(self, chunks: int | None) -> None:
        if chunks is not None:
            self._chunks.set(chunks)

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        self._requests.labels(route, method if method in METHODS else "OTHER", str(status)).inc()
        self._latency.labels(route).observe(seconds)

    def failed(self, error: str) -> None:
        self._failures.labels(error).inc()

    def refused(self, error: str, status: int, *, route: str, request_id: str) -> None:
        """One line a request that was refused."""
        self.log.info("refused", request_id=request_id, route=route, status=status, error=error)

    def searched(self, answer: Answer, *, route: str, request_id: str) -> None:
        """One line a query with its best result, and its stages as metrics and spans."""
        for stage, ms in () if answer.cached else answer.timings.items():
            self._stages.labels(stage).observe(ms / 1000)
        self._results.observe(len(answer.hits))
        best = answer.hits[0] if answer.hits else None
        self.log.info(
            "search",
            request_id=request_id,
            route=route,
            query=answer.query,
            ranking=answer.ranking,
            results=len(answer.hits),
            top_chunk=best.chunk.chunk_id if best else None,
            top_score=round(best.score, 4) if best else None,
            ms=round(sum(answer.timings.values()), 2),
            notes=list(answer.notes),
        )
        if self._tracer is not None:
            self._trace(self._tracer, answer, request_id)

    def _trace(self, tracer: Tracer, answer: Answer, request_id: str) -> None:
        from opentelemetry.trace import set_span_in_context

        end = time.time_ns()
        start = end - int(sum(answer.timings.values()) * 1e6)
        whole = tracer.start_span(
            "search",
            start_time=start,
            attributes={
                "pertinent.request_id": request_id,
                "pertinent.ranking": answer.ranking,
                "pertinent.results": len(answer.hits),
            },
        )
        context = set_span_in_context(whole)
        for stage, ms in answer.timings.items():
            part = tracer.start_span(stage, context=context, start_time=start)
            start += int(ms * 1e6)
            part.end(start)
        whole.end(end)
