"""Observability: Prometheus metrics, JSON logs and OpenTelemetry spans."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson
import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ...errors import SettingsError
from ...settings import Settings
from ...types import Answer

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""Methods with a counter of their own; a caller could invent any number of others."""

LATENCY_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)

_UNSAFE = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters that JSON need not escape, and characters that change the direction of the text."""


class Observer:
    """Records requests and searches as metrics, log lines and spans.

    Each application has its own, with its own registry: applications in one process share no counters.

    Args:
        log: A structlog logger.
        tracer: Makes a span for each search and its stages; None makes none.

    """

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
            "pertinent_request_seconds",
            "Time to answer",
            ["route"],
            buckets=LATENCY_BUCKETS,
            registry=self._registry,
        )
        self._stages = Histogram(
            "pertinent_stage_seconds",
            "Time of each stage of a search",
            ["stage"],
            buckets=LATENCY_BUCKETS,
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

    def render_metrics(self) -> bytes:
        """Return all metrics in the format of Prometheus."""
        return generate_latest(self._registry)

    def set_index_size(self, chunks: int | None) -> None:
        """Set the number of chunks; None if the index does not answer."""
        if chunks is not None:
            self._chunks.set(chunks)

    def record_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request and its time; `route` is the declared path, such as `/chunks/{chunk_id}`."""
        self._requests.labels(route, method if method in METHODS else "OTHER", str(status)).inc()
        self._latency.labels(route).observe(seconds)

    def record_failure(self, error: str) -> None:
        """Count an error response by its identifier."""
        self._failures.labels(error).inc()

    def log_refusal(self, error: str, status: int, *, route: str, request_id: str) -> None:
        """Log a refused request."""
        self.log.info("refused", request_id=request_id, route=route, status=status, error=error)

    def record_search(self, answer: Answer, *, route: str, request_id: str) -> None:
        """Log a query with its best result; record its stages as metrics and spans."""
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
        search_span = tracer.start_span(
            "search",
            start_time=start,
            attributes={
                "pertinent.request_id": request_id,
                "pertinent.ranking": answer.ranking,
                "pertinent.results": len(answer.hits),
            },
        )
        context = set_span_in_context(search_span)
        for stage, ms in answer.timings.items():
            stage_span = tracer.start_span(stage, context=context, start_time=start)
            start += int(ms * 1e6)
            stage_span.end(start)
        search_span.end(end)


def configure_logging() -> None:
    """Write logs to stderr, one JSON object per line; the messages of the web server and the MCP SDK too."""
    structlog.configure(
        processors=[
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=serialize_event),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.BytesLoggerFactory(_LogFile(sys.stderr.buffer)),  # type: ignore[arg-type]
        cache_logger_on_first_use=True,
    )
    for name in ("uvicorn", "mcp"):
        library_log = logging.getLogger(name)
        library_log.handlers = [_StructlogHandler(logging.WARNING)]
        library_log.propagate = False


class _LogFile:
    """A log file that ignores write errors: a full disk or a closed pipe must not stop the service."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, line: bytes) -> None:
        with suppress(OSError):
            self._file.write(line)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


class _StructlogHandler(logging.Handler):
    """Passes records of the standard logging module on to structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        log = structlog.get_logger("pertinent")
        write = log.error if record.levelno >= logging.ERROR else log.warning
        write("server", detail=record.getMessage(), exc_info=record.exc_info)


def serialize_event(event: Any, default: Callable[[Any], Any]) -> bytes:
    """Return an event as JSON, with everything escaped that a terminal would act on."""
    try:
        line = orjson.dumps(event, default=default).decode()
    except orjson.JSONEncodeError:
        # orjson refuses half of a surrogate pair, which a query may hold; json escapes it.
        line = json.dumps(event, default=default)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", line).encode()


def create_tracer(settings: Settings) -> Tracer | None:
    """Create a tracer that sends spans to `otel_endpoint`; None without that setting."""
    if settings.otel_endpoint is None:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SettingsError("otel_endpoint needs OpenTelemetry: pip install 'pertinent[otel]'") from error
    provider = TracerProvider(resource=Resource.create({"service.name": "pertinent"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.otel_endpoint)))
    return provider.get_tracer("pertinent")
