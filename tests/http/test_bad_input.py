"""Bad input of every kind gets the same error shape, and breaks nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pertinent.surfaces.http.access_middleware import BODY_LIMIT

from .conftest import QUERY_FIELD, Serve, Service, problem

JSON = {"content-type": "application/json"}
routes = pytest.mark.parametrize("route", QUERY_FIELD)


@routes
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b" ", id="blank"),
        pytest.param(b"{", id="cut off"),
        pytest.param(b'{"query": "x"', id="not closed"),
        pytest.param(b"{'query': 'x'}", id="single quotes"),
        pytest.param(b"{}{}", id="two"),
        pytest.param(b"{}", id="no fields"),
        pytest.param(b"[]", id="list"),
        pytest.param(b"null", id="null"),
        pytest.param(b"true", id="true"),
        pytest.param(b"5", id="number"),
        pytest.param(b'"query"', id="text"),
        pytest.param(b"NaN", id="NaN"),
        pytest.param(b"\xff\xfe\xfa", id="not UTF-8"),
        pytest.param(b"\x00", id="NUL"),
        pytest.param(b"query=x", id="form"),
        pytest.param(b"[" * 60_000, id="deep list"),
        pytest.param(b'{"a":' * 10_000 + b"1" + b"}" * 10_000, id="deep object"),
        pytest.param(b'{"query": "x", "query_text": "x", "top_k": ' + b"9" * 5000 + b"}", id="huge number"),
    ],
)
def test_malformed_body_is_refused(service: Service, route: str, body: bytes) -> None:
    problem(service.client.post(route, content=body, headers=JSON), 400, "validation_error")


@routes
@pytest.mark.parametrize("content_type", [
    None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
    "json", "é",
])  # fmt: skip
def test_body_of_another_content_type_is_refused_with_a_hint(
    service: Service, route: str, content_type: str | None
) -> None:
    headers = [] if content_type is None else [(b"content-type", content_type.encode("latin-1"))]
    body = json.dumps({QUERY_FIELD[route]: "torque"}).encode()
    answer = service.client.post(route, content=body, headers=headers)
    assert "Content-Type: application/json" in problem(answer, 400, "validation_error")


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "APPLICATION/JSON"])
def test_json_content_type_variants_are_accepted(service: Service, content_type: str) -> None:
    answer = service.client.post("/search", content=b'{"query": "x"}', headers={"content-type": content_type})
    assert answer.status_code == 200


def test_form_and_file_upload_are_refused(service: Service) -> None:
    problem(service.client.post("/search", data={"query": "x"}), 400, "validation_error")
    problem(service.client.post("/search", files={"query": b"x"}), 400, "validation_error")


@routes
@pytest.mark.parametrize("escaped", [r"\ud800", r"torque \udfff", r"\udc00\ud800"])
def test_lone_surrogate_in_the_query_is_refused(service: Service, route: str, escaped: str) -> None:
    body = f'{{"{QUERY_FIELD[route]}": "{escaped}"}}'
    message = problem(service.client.post(route, content=body, headers=JSON), 400, "validation_error")
    assert message == f"{QUERY_FIELD[route]}: contains half of a surrogate pair, which is not text"


@pytest.mark.parametrize(
    "field", [r'"\ud800": 1', r'"filters": {"section": "\ud800"}', r'"ranking": "\ud800"']
)
def test_lone_surrogate_in_other_fields_is_refused(service: Service, field: str) -> None:
    body = f'{{"query": "x", {field}}}'
    problem(service.client.post("/search", content=body, headers=JSON), 400, "validation_error")


HOSTILE = [
    "\x00", "torque\x00joints", "\x1b[31mred\x1b[0m", "\u202etxet desrever", "\ufeff", "\u200b",
    "'; DROP TABLE documents; --", '" OR ""="', "<script>alert(1)</script>", "${jndi:ldap://x}", "{{7*7}}",
    "%s%n", "../../etc/passwd", "a\u0301" * 100, "🤖👩‍👩‍👧", "\U0010ffff", "(" * 400, "the of and",
]  # fmt: skip


@routes
@pytest.mark.parametrize("query", HOSTILE)
def test_hostile_query_is_searched_as_text(service: Service, route: str, query: str) -> None:
    answer = service.client.post(route, json={QUERY_FIELD[route]: query})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()[QUERY_FIELD[route]] == query
    assert service.client.get("/api/v1/documents").json()["total"] == 4


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_filter_is_matched_as_text(service: Service, value: str) -> None:
    for field in ("section", "document_id", "source_type", "url"):
        answer = service.search(filters={field: value})
        assert answer.json().get("results") == [] or answer.status_code == 400


FIELDS = st.sampled_from(["query", "query_text", "top_k", "filters", "ranking", "section"]) | st.text()
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FIELDS, inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(body=ANY_JSON)
def test_any_json_gets_results_or_a_validation_error(service: Service, body: Any) -> None:
    for route in QUERY_FIELD:
        answer = service.client.post(route, content=json.dumps(body), headers=JSON)
        if answer.status_code != 200:
            problem(answer, 400, "validation_error")


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(body=st.binary(max_size=200))
def test_any_bytes_get_an_error_response(service: Service, body: bytes) -> None:
    problem(service.client.post("/search", content=body, headers=JSON), 400, "validation_error")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(query=st.text(min_size=1, max_size=500))
def test_any_text_is_searched_or_refused_as_empty(service: Service, query: str) -> None:
    answer = service.search(query)
    assert answer.status_code == (200 if query.strip() else 400)


def test_long_field_name_is_cut_in_the_error(service: Service) -> None:
    problem(service.search("x", **{"x" * 50_000: 1}), 400, "validation_error")


def test_too_large_content_length_is_refused(service: Service) -> None:
    answer = service.client.post("/search", content=b"x" * (BODY_LIMIT + 1), headers=JSON)
    assert problem(answer, 413, "payload_too_large") == "the body must be at most 65536 bytes"


def test_body_of_the_maximum_size_is_read(service: Service) -> None:
    body = b'{"query": "x"}'
    answer = service.client.post("/search", content=body + b" " * (BODY_LIMIT - len(body)), headers=JSON)
    assert answer.status_code == 200


def test_too_large_chunked_body_is_refused(service: Service) -> None:
    def parts() -> Iterator[bytes]:
        yield b'{"query": "'
        for _ in range(100):
            yield b"x" * 1024

    problem(service.client.post("/search", content=parts(), headers=JSON), 413, "payload_too_large")


@pytest.mark.parametrize(
    ("length", "status"), [("9" * 5000, 413), ("0" * 5000 + "2", 400), ("-1", 400), ("x", 400)]
)
def test_invalid_content_length_is_refused(service: Service, length: str, status: int) -> None:
    answer = service.client.post("/search", content=b"{}", headers={**JSON, "content-length": length})
    problem(answer, status, "payload_too_large" if status == 413 else "validation_error")


def test_body_that_never_arrives_times_out(serve: Serve) -> None:
    service = serve(request_timeout=0.05)
    sent: list[Any] = []

    async def call() -> None:
        async def receive() -> dict[str, Any]:
            await anyio.sleep(5)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"content-type", b"application/json"), (b"content-length", b"20")]
        scope = {"type": "http", "method": "POST", "path": "/search", "query_string": b"", "headers": headers}
        await service.app(scope, receive, send)

    anyio.run(call)
    assert sent[0]["status"] == 400
    message = "the body did not arrive within 0.05 s"
    assert json.loads(sent[1]["body"]) == {"error": "validation_error", "message": message}


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/search", "POST"),
        ("HEAD", "/search", "POST"),
        ("PUT", "/api/v1/search", "POST"),
        ("OPTIONS", "/search", "POST"),
        ("TRACE", "/search", "POST"),
        ("BREW", "/search", "POST"),
        ("POST", "/health", "GET"),
        ("DELETE", "/api/v1/health", "GET"),
        ("POST", "/api/v1/documents", "GET"),
        ("DELETE", "/api/v1/documents/x", "GET"),
        ("PATCH", "/api/v1/chunks/x", "GET"),
        ("POST", "/", "GET"),
        ("POST", "/docs", "GET"),
        ("POST", "/metrics", "GET"),
        ("POST", "/livez", "GET"),
        ("POST", "/api/v1/suggest", "GET"),
        ("POST", "/static/swagger.js", "GET, HEAD"),
    ],
)
def test_wrong_method_error_names_the_right_one(service: Service, method: str, path: str, allow: str) -> None:
    answer = service.client.request(method, path)
    assert answer.headers["allow"] == allow
    if method == "HEAD":
        assert (answer.status_code, answer.content) == (405, b"")
    else:
        problem(answer, 405, "method_not_allowed")


@pytest.mark.parametrize("path", [
    "/nope", "/search/", "/docs/", "/Search", "/api/v1", "/api/v2/search", "/api/v1/chunks/",
    "/api/v1/chunks/a/b", "/redoc", "/%00", "/%ff%fe", "/%", "/%zz", "/" + "x" * 10_000, "/static",
    "/static/", "/static/nope.js", "/static/../app.py", "/static/%2e%2e/http/app.py",
    "/static/..%2f..%2fsettings.py", "/static/%2e%2e%2f%2e%2e%2f__init__.py",
    "/static/..%5c..%5csettings.py", "/static//etc/passwd", "/static/%2fetc%2fpasswd",
    "/static/%00.js", "/static/index.html%00.js", "/static/" + "x" * 5000 + ".js",
    "/static/" + "x/" * 3000 + "a.js", "/static/__init__.py",
    "/static/__pycache__/__init__.cpython-311.pyc", "/docs/assets/../../../../../etc/passwd",
    "/docs/assets/%2e%2e/__init__.py",
])  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_unknown_path_is_not_found(service: Service, method: str, path: str) -> None:
    answer = service.client.request(method, path, follow_redirects=False)
    if method == "GET":
        problem(answer, 404, "not_found")
    elif answer.status_code != 405:  # on a route that has no HEAD
        assert answer.status_code == 404


@pytest.mark.parametrize("range_header", ["bytes=99999999-", "bites=1", "bytes=5-1", "bytes=0-1", "bytes=-"])
def test_range_header_is_ignored(service: Service, range_header: str) -> None:
    for path in ("/", "/static/swagger.js"):
        full = service.client.get(path)
        part = service.client.get(path, headers={"range": range_header})
        assert (part.status_code, part.content) == (200, full.content)


def test_query_string_is_not_a_body(service: Service) -> None:
    problem(service.client.post("/search?query=torque"), 400, "validation_error")
