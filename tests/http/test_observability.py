"""Observability: request ids, logs, metrics, probes and spans."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pertinent.errors import IndexFailure
from pertinent.surfaces.http import service as service_module
from pertinent.surfaces.http.errors import ERROR_KINDS
from pertinent.surfaces.http.observability import serialize_event

from .conftest import Serve, Service, raising

ROOT = Path(__file__).parents[2]

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace import Tracer


@pytest.mark.parametrize("request_id", ["abc", "A.b:c-d_1", "x" * 128])
def test_request_id_of_the_caller_is_used(service: Service, request_id: str) -> None:
    answer = service.client.post("/search", json={"query": "torque"}, headers={"x-request-id": request_id})
    assert answer.headers["x-request-id"] == request_id
    assert service.lines("search")[0]["request_id"] == request_id


@pytest.mark.parametrize(
    "request_id", [None, "", "a b", "x" * 129, "a\tb", "<x>", "é", "a,b", "a;b", '"', "{}"]
)
def test_missing_or_malformed_request_id_is_replaced(service: Service, request_id: str | None) -> None:
    headers = [] if request_id is None else [(b"x-request-id", request_id.encode("latin-1"))]
    answer = service.client.post("/search", json={"query": "torque"}, headers=headers)
    new_id = answer.headers["x-request-id"]
    assert re.fullmatch(r"[0-9a-f]{32}", new_id)
    assert service.lines("search")[0]["request_id"] == new_id


def test_errors_carry_the_request_id(service: Service) -> None:
    assert service.client.get("/nope", headers={"x-request-id": "abc"}).headers["x-request-id"] == "abc"


@pytest.mark.parametrize("route", ["/search", "/api/v1/search"])
def test_search_is_logged_with_its_best_result(service: Service, route: str) -> None:
    query = "Nodes publish messages on topics"
    if route == "/search":
        best = service.search(query).json()["results"][0]
        score = best["score"]
    else:
        best = service.v1(query).json()["results"][0]
        score = best["similarity_score"]
    (line,) = service.logged.entries
    assert line.pop("ms") >= 0
    assert line.pop("request_id")
    assert line == {
        "event": "search", "log_level": "info", "route": route, "query": query, "ranking": "hybrid",
        "results": 5, "top_chunk": best["chunk_id"], "top_score": round(score, 4), "notes": [],
    }  # fmt: skip


def test_search_without_results_is_logged(service: Service) -> None:
    service.v1(similarity_threshold=1.0)
    (line,) = service.lines("search")
    assert (line["results"], line["top_chunk"], line["top_score"]) == (0, None, None)


KEY = "a-long-and-secret-key"


def test_log_line_is_harmless_in_a_terminal() -> None:
    """A reader of the log may be a terminal, and anybody may write a query."""
    query = "\x1b]0;a\x07 \x9b31m \u202e \u2028 \u2066 \x7f Gelenk für 日本 \U0001f916"
    for event in ({"query": query}, {"query": f"{query} \ud800"}):
        line = serialize_event(event, default=str).decode()
        assert line.isprintable()
        assert json.loads(line) == event
    assert "für 日本" in serialize_event({"query": query}, default=str).decode()


def test_service_goes_on_when_nobody_reads_its_log() -> None:
    program = (
        "import structlog\n"
        "from pertinent.surfaces.http.observability import configure_logging\n"
        "configure_logging()\n"
        "input()\n"
        "structlog.get_logger().info('refused')\n"
        "print('on', flush=True)\n"
    )
    command = [sys.executable, "-c", program]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stderr.close()
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.read() == b"on\n"


def test_traceback_of_a_library_is_one_json_line() -> None:
    program = (
        "import logging\n"
        "from pertinent.surfaces.http.observability import configure_logging\n"
        "configure_logging()\n"
        "try:\n    1 / 0\n"
        "except ZeroDivisionError:\n    logging.getLogger('mcp.server').exception('no\\nanswer')\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    entry = json.loads(run.stderr)
    assert (entry["event"], entry["level"], entry["detail"]) == ("server", "error", "no\nanswer")
    assert entry["exception"].endswith("ZeroDivisionError: division by zero")
    assert run.stderr.count(b"\n") == 1


def test_refusal_is_logged_without_key_and_body(serve: Serve) -> None:
    service = serve(api_keys=[KEY], rate_limit=5, cors_origins=["https://book.example"])
    valid, wrong = {"x-api-key": KEY}, {"authorization": "Bearer a-wrong-guess"}
    body: dict[str, Any] = {"query": "private words", "private field": 1}
    requests: list[tuple[str, int, str, Any]] = [
        ("/search", 400, "validation_error", {"json": body, "headers": valid}),
        ("/search", 400, "validation_error", {"content": b"private words", "headers": valid}),
        ("/api/v1/search", 401, "unauthorized", {"json": body, "headers": wrong}),
        ("/search", 413, "payload_too_large", {"content": b"private " * 9000, "headers": valid}),
        ("/api/v1/chunks/x?around=private", 400, "validation_error", {"headers": valid}),
        ("/nope", 404, "not_found", {"headers": valid}),
        ("/search", 429, "rate_limited", {"json": body, "headers": valid}),
        ("/livez", 413, "payload_too_large", {"content": b"private " * 9000}),
    ]
    for number, (path, status, _, options) in enumerate(requests):
        method = "GET" if path.startswith(("/api/v1/chunks", "/nope")) else "POST"
        headers = {**options.pop("headers", {}), "x-request-id": str(number)}
        assert service.client.request(method, path, headers=headers, **options).status_code == status
    assert service.logged.entries == [
        {
            "event": "refused",
            "log_level": "info",
            "request_id": str(number),
            "route": "/api/v1/chunks/{chunk_id}" if "chunks" in path else path,
            "status": status,
            "error": error,
        }
        for number, (path, status, error, _) in enumerate(requests)
        if status != 404
    ]
    for secret in (KEY, "guess", "private"):
        assert secret not in str(service.logged.entries)


def test_refused_preflight_is_logged(serve: Serve) -> None:
    service = serve(cors_origins=["https://book.example"])
    headers = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    service.client.options("/search", headers=headers)
    (line,) = service.logged.entries
    assert (line["event"], line["route"], line["status"]) == ("refused", "/search", 400)


def test_long_path_is_cut_in_the_log(serve: Serve) -> None:
    service = serve(api_keys=[KEY])
    service.client.get("/" + "x" * 5000)
    (line,) = service.lines("refused")
    assert len(line["route"]) == 200


def test_unknown_routes_are_not_logged(service: Service) -> None:
    service.client.get("/nope")
    service.client.get("/search")
    assert service.logged.entries == []


def test_store_failure_is_logged(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    service.break_index(monkeypatch, IndexFailure("down"))
    service.search()
    health, line = service.logged.entries
    assert (health["event"], health["status"], health["reasons"]) == ("health", "error", ["down"])
    assert (line["event"], line["detail"]) == ("service_unavailable", "down")


def metrics(service: Service) -> dict[str, float]:
    answer = service.client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def test_metrics_count_requests_by_route_method_and_status(service: Service) -> None:
    for query in ("torque", "torque", ""):
        service.search(query)
    for path in ("/api/v1/chunks/one", "/api/v1/chunks/two", "/nope/one", "/nope/two", "/static/style.css"):
        service.client.get(path)
    for method in ("MADEUP1", "MADEUP2"):
        service.client.request(method, "/search")
    samples = metrics(service)

    def count(route: str, status: int, method: str = "POST") -> float:
        name = f'pertinent_requests_total{{method="{method}",route="{route}",status="{status}"}}'
        return samples[name]

    assert count("/search", 200) == 2
    assert count("/search", 400) == 1
    assert count("/api/v1/chunks/{chunk_id}", 404, "GET") == 2
    assert count("unmatched", 404, "GET") == 2
    assert count("/static", 200, "GET") == 1
    assert count("/search", 405, "OTHER") == 2
    assert not any("MADEUP" in name for name in samples)
    assert samples['pertinent_request_seconds_count{route="/search"}'] == 5


def test_metrics_time_the_stages_and_count_results(service: Service) -> None:
    service.search(top_k=7)
    service.v1(similarity_threshold=1.0)
    samples = metrics(service)
    for stage in ("received", "embedded", "searched", "filtered"):
        assert samples[f'pertinent_stage_seconds_count{{stage="{stage}"}}'] == 2
    assert samples["pertinent_results_count"] == 2
    assert samples["pertinent_results_sum"] == 7
    assert samples['pertinent_results_bucket{le="0.0"}'] == 1


def test_metrics_count_failures_by_kind(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    service = serve(rate_limit=6)
    service.search("")
    service.client.get("/nope")
    service.client.get("/search")
    service.client.post("/search", content=b"x" * 70_000)
    service.break_index(monkeypatch, IndexFailure("down"))
    service.search()
    samples = metrics(service)
    client_errors = ("validation_error", "not_found", "method_not_allowed", "payload_too_large")
    for kind in (*client_errors, "service_unavailable"):
        assert samples[f'pertinent_failures_total{{error="{kind}"}}'] == 1, kind


METRIC = re.compile(r"\b(pertinent_[a-z_]+)(?:\{([^}]*)\})?")


def test_metrics_named_in_the_docs_exist_with_their_labels(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = serve(api_keys=["a-long-key"])
    service.search()
    service.client.headers["Authorization"] = "Bearer a-long-key"
    service.search()
    service.v1()
    service.break_index(monkeypatch, IndexFailure("down"))
    service.search("another")
    samples = metrics(service)
    names = {re.sub(r"\{.*", "", sample) for sample in samples}
    families = set(re.findall(r"# TYPE (\w+) ", service.client.get("/metrics").text))
    # The page on pytest names an option that looks like a metric.
    pages = [page for page in (ROOT / "docs").glob("*.md") if page.name != "pytest.md"]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    mentioned = [match for text in texts for match in METRIC.findall(text)]
    assert {name for name, _ in mentioned} <= families | names
    assert {name for name in families if not name.endswith("_created")} <= {name for name, _ in mentioned}
    for name, conditions in mentioned:
        own = [sample for sample in samples if sample.startswith(f"{name}{{")]
        for label, operator, value in re.findall(r'(\w+)(=~|=)"([^"]*)"', conditions):
            values = {match for sample in own for match in re.findall(rf'[{{,]{label}="([^"]*)"', sample)}
            pattern = value if operator == "=~" else re.escape(value)
            is_known_error = label == "error" and value in {error for error, _ in ERROR_KINDS.values()}
            assert is_known_error or any(re.fullmatch(pattern, existing) for existing in values), (
                name,
                label,
                value,
            )


def test_alert_rules_of_the_docs_are_complete() -> None:
    page = (ROOT / "docs" / "deploying.md").read_text(encoding="utf-8")
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    (group,) = [group for block in blocks for group in block.get("groups", ())]
    names = [rule["alert"] for rule in group["rules"]]
    assert len(names) == len(set(names)) >= 5
    for rule in group["rules"]:
        assert set(rule) <= {"alert", "expr", "for", "annotations"}
        assert rule["expr"].count("(") == rule["expr"].count(")")
        assert rule["annotations"]["summary"].endswith(".")


def test_metrics_have_the_size_of_the_index(service: Service) -> None:
    assert metrics(service)["pertinent_index_chunks"] == 24


def test_two_applications_do_not_share_counters(serve: Serve) -> None:
    first, second = serve(), serve()
    first.search()
    assert 'route="/search"' not in second.client.get("/metrics").text


def test_livez_does_not_probe_the_stores(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for probe in ("probe_index", "probe_catalog"):
        monkeypatch.setattr(service_module, probe, raising(AssertionError("a store was probed")))
    assert service.client.get("/livez").json() == {"status": "ok"}


@pytest.fixture
def exported() -> tuple[Tracer, InMemorySpanExporter]:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("test"), exporter


def test_search_is_a_span_with_a_child_for_each_stage(
    serve: Serve, exported: tuple[Tracer, InMemorySpanExporter]
) -> None:
    tracer, exporter = exported
    service = serve(tracer=tracer)
    service.client.post("/search", json={"query": "torque"}, headers={"x-request-id": "abc"})
    spans: dict[str, Any] = {span.name: span for span in exporter.get_finished_spans()}
    root = spans.pop("search")
    assert dict(root.attributes) == {
        "pertinent.request_id": "abc",
        "pertinent.ranking": "hybrid",
        "pertinent.results": 5,
    }
    assert list(spans) == ["received", "embedded", "searched", "filtered"]
    end = root.start_time
    for stage in spans.values():
        assert stage.parent.span_id == root.context.span_id
        assert stage.context.trace_id == root.context.trace_id
        assert stage.start_time == end
        end = stage.end_time
        assert stage.end_time >= stage.start_time
    assert abs(root.end_time - end) < 1000  # rounding of each stage to a nanosecond


def test_refused_search_has_no_span(serve: Serve, exported: tuple[Tracer, InMemorySpanExporter]) -> None:
    tracer, exporter = exported
    serve(tracer=tracer).search("")
    assert exporter.get_finished_spans() == ()
