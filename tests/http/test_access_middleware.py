"""Access: API keys, rate limits, CORS, host names and security headers."""

from __future__ import annotations

import hmac
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from pertinent.settings import Settings
from pertinent.surfaces.http import create_app, server
from pertinent.surfaces.http.client_address import identify_client
from pertinent.surfaces.http.rate_limit import RateLimit
from pertinent.surfaces.library import Pertinent
from pertinent.workspace.workspace import Workspace

from .conftest import Serve, Service, problem

KEYS = ("first-secret-key", "zweiter-schlüssel")
ORIGIN = "https://book.example"

PROBES = ("/livez", "/readyz", "/health", "/api/v1/health")

EVERY_ROUTE = [
    ("POST", "/search"),
    ("POST", "/api/v1/search"),
    ("GET", "/api/v1/suggest?q=x"),
    ("POST", "/1/indexes/*/queries"),
    ("GET", "/api/v1/documents"),
    ("GET", "/api/v1/documents/x"),
    ("GET", "/api/v1/chunks/x"),
    ("GET", "/api/v1/index"),
    ("POST", "/mcp"),
    ("GET", "/llms.txt"),
    ("GET", "/llms-full.txt"),
    ("GET", "/pages/x.md"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
    ("GET", "/docs/assets/swagger-ui.css"),
    ("GET", "/static/swagger.js"),
    ("GET", "/"),
    ("GET", "/nope"),
    ("DELETE", "/search"),
    ("OPTIONS", "/search"),
    ("POST", "/api/v1/validate"),
    ("GET", "/label"),
    ("GET", "/api/v1/labels/next"),
    ("GET", "/api/v1/labels/agreement"),
    ("POST", "/api/v1/labels"),
    ("POST", "/api/v1/labels/undo"),
    ("POST", "/api/v1/audits"),
    ("GET", "/api/v1/audits/x"),
    ("GET", "/reports"),
]


def basic(key: str, user: str = "") -> dict[str, str]:
    return {"authorization": "Basic " + b64encode(f"{user}:{key}".encode()).decode()}


@pytest.fixture
def locked(serve: Serve) -> Service:
    return serve(api_keys=KEYS)


@pytest.mark.parametrize(("method", "path"), EVERY_ROUTE)
def test_every_route_but_the_probes_needs_a_key(locked: Service, method: str, path: str) -> None:
    refused = locked.client.request(method, path)
    problem(refused, 401, "unauthorized")
    assert refused.headers["www-authenticate"].startswith("Basic ")
    admitted = locked.client.request(method, path, headers={"x-api-key": KEYS[0]})
    assert admitted.status_code != 401


def test_missing_or_wrong_key_error_explains_how_to_send_one(locked: Service) -> None:
    none = problem(locked.client.get("/api/v1/index"), 401, "unauthorized")
    wrong = problem(
        locked.client.get("/api/v1/index", headers={"x-api-key": "wrong-guess"}), 401, "unauthorized"
    )
    for message in (none, wrong):
        for option in ("Authorization: Bearer KEY", "X-API-Key: KEY", "`api_keys`", "PERTINENT_API_KEYS"):
            assert option in message
        assert not any(key in message for key in (*KEYS, "wrong-guess"))
    assert "needs an API key" in none
    assert "key is wrong" in wrong


@pytest.mark.parametrize("headers", [{}, {"x-api-key": "wrong-guess"}])
def test_rule_24_probes_answer_without_a_key(serve: Serve, headers: dict[str, str]) -> None:
    """They say which part is down and nothing else."""
    locked = serve(api_keys=KEYS, rate_limit=1)
    responses = {probe: locked.client.get(probe, headers=headers) for probe in PROBES}
    assert {probe: (response.status_code, response.json()) for probe, response in responses.items()} == {
        "/livez": (200, {"status": "ok"}),
        "/readyz": (200, {"status": "ok", "index": True, "catalog": True}),
        "/health": (200, {"status": "ok", "qdrant": True, "postgres": True}),
        "/api/v1/health": (200, {"status": "ok", "index": True, "catalog": True}),
    }
    problem(locked.client.get("/healthy", headers=headers), 401, "unauthorized")
    problem(locked.client.get("/readyz/", headers=headers), 429, "rate_limited")


def test_rule_24_metrics_need_a_key_unless_a_setting_opens_them(serve: Serve) -> None:
    problem(serve(api_keys=KEYS).client.get("/metrics"), 401, "unauthorized")
    opened = serve(api_keys=KEYS, open_metrics=True).client
    assert opened.get("/metrics").text.startswith("# HELP")
    problem(opened.get("/api/v1/documents"), 401, "unauthorized")


@pytest.mark.parametrize("key", KEYS)
def test_key_is_accepted_as_bearer_header_and_basic(locked: Service, key: str) -> None:
    headers: list[dict[str, Any]] = [
        {"authorization": f"Bearer {key}".encode()},
        {"authorization": f"bEaReR  {key} ".encode()},
        {"x-api-key": key.encode()},
        basic(key),
        basic(key, "somebody"),
    ]
    assert [locked.client.get("/api/v1/index", headers=header).status_code for header in headers] == [200] * 5


@pytest.mark.parametrize(
    "headers",
    [
        {"x-api-key": "wrong"},
        {"x-api-key": KEYS[0][:-1]},
        {"x-api-key": KEYS[0] + "x"},
        {"x-api-key": KEYS[0].upper()},
        {"x-api-key": ",".join(["first-secret-key"] * 2)},
        {"authorization": f"Bearer{KEYS[0]}"},
        {"authorization": "Bearer"},
        {"authorization": f"Token {KEYS[0]}"},
        {"authorization": KEYS[0]},
        {"authorization": "Basic !!!"},
        {"authorization": "Basic " + b64encode(KEYS[0].encode()).decode()},
        {"authorization": "Basic " + b64encode(b"\xff\xfe:\xff").decode()},
        {"cookie": f"key={KEYS[0]}"},
    ],
)
def test_wrong_key_is_refused(locked: Service, headers: dict[str, str]) -> None:
    problem(locked.client.get("/api/v1/index", headers=headers), 401, "unauthorized")


def test_key_in_the_query_string_is_ignored(locked: Service) -> None:
    problem(locked.client.get(f"/api/v1/index?api_key={KEYS[0]}"), 401, "unauthorized")


def test_every_key_is_compared_in_constant_time(locked: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []
    compare = hmac.compare_digest

    def noted(key: bytes, valid_key: bytes) -> bool:
        compared.append(valid_key)
        return compare(key, valid_key)

    monkeypatch.setattr(hmac, "compare_digest", noted)
    locked.client.get("/api/v1/index", headers={"x-api-key": KEYS[0]})
    assert compared == [key.encode() for key in KEYS]


def test_no_key_is_needed_by_default(service: Service) -> None:
    assert service.client.get("/health").status_code == 200
    assert service.client.get("/health", headers={"x-api-key": "whatever"}).status_code == 200


def test_keys_appear_in_no_log_and_no_response(locked: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [locked.client.get("/api/v1/index", headers={"x-api-key": KEYS[0] + "x"})]
    headers = {"authorization": f"Bearer {KEYS[0]}"}
    answers.append(locked.client.post("/search", json={"query": "torque"}, headers=headers))
    locked.break_index(monkeypatch, RuntimeError("unexpected"))
    answers.append(locked.client.post("/search", json={"query": "torque"}, headers=headers))
    answers.append(locked.client.get("/metrics", headers=headers))
    assert [response.status_code for response in answers] == [401, 200, 500, 200]
    output = str(locked.logged.entries) + "".join(answer.text + str(answer.headers) for answer in answers)
    assert not any(key in output for key in KEYS)


PUBLIC_KEY = "a-public-key"
PUBLIC_REQUESTS = [
    ("POST", "/search", {"query": "torque"}),
    ("POST", "/api/v1/search", {"query_text": "torque"}),
    ("GET", "/api/v1/suggest?q=joi", None),
    ("POST", "/1/indexes/*/queries", {"requests": [{"query": "torque"}]}),
]


@pytest.mark.parametrize(("method", "path", "body"), PUBLIC_REQUESTS)
def test_public_key_may_search_and_suggest(serve: Serve, method: str, path: str, body: Any) -> None:
    client = serve(api_keys=KEYS, public_keys=[PUBLIC_KEY]).client
    for headers in ({"x-api-key": PUBLIC_KEY}, {"authorization": f"Bearer {PUBLIC_KEY}"}):
        assert client.request(method, path, json=body, headers=headers).status_code == 200
    with_parameter = f"{path}{'&' if '?' in path else '?'}key={PUBLIC_KEY}"
    assert client.request(method, with_parameter, json=body).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        route
        for route in EVERY_ROUTE
        if route not in [(method, path.replace("joi", "x")) for method, path, _ in PUBLIC_REQUESTS]
    ],
)
def test_public_key_may_call_nothing_else(serve: Serve, method: str, path: str) -> None:
    client = serve(api_keys=KEYS, public_keys=[PUBLIC_KEY]).client
    message = problem(
        client.request(method, path, headers={"x-api-key": PUBLIC_KEY, "accept": "application/json"}),
        403,
        "forbidden",
    )
    assert "`api_keys`" in message
    assert PUBLIC_KEY not in message
    problem(client.request(method, f"{path}?key={PUBLIC_KEY}"), 403, "forbidden")


def test_public_key_has_its_own_rate_limit_for_each_address(serve: Serve, book: Workspace) -> None:
    service = serve(api_keys=KEYS, public_keys=[PUBLIC_KEY], rate_limit=1, public_rate_limit=3)
    neighbor = TestClient(service.app, base_url="http://localhost", client=("192.0.2.7", 50000))

    def suggest(client: TestClient, key: str) -> int:
        return client.get("/api/v1/suggest?q=x", headers={"x-api-key": key}).status_code

    assert [suggest(service.client, PUBLIC_KEY) for _ in range(4)] == [200, 200, 200, 429]
    assert suggest(neighbor, PUBLIC_KEY) == 200
    assert [suggest(service.client, KEYS[0]) for _ in range(2)] == [200, 429]


def test_rate_limit_makes_a_caller_wait_for_what_was_charged() -> None:
    clock = Clock()
    limit = RateLimit(60, clock)
    assert limit.take("a") == 0.0
    assert limit.charge("a", 69) == 0.0
    assert limit.take("a") == pytest.approx(11.0)
    clock.now += 11
    assert limit.take("a") == 0.0


def test_rate_limit_refuses_further_charges_of_requests_that_were_taken_together() -> None:
    limit = RateLimit(60, Clock())
    assert [limit.take("a") for _ in range(30)] == [0.0] * 30
    assert [limit.charge("a", 31), limit.charge("a", 9)] == [0.0, pytest.approx(2.0)]
    assert limit.charge("somebody else", 9) == 0.0
    assert limit.take("somebody else") == 0.0


@pytest.mark.parametrize("headers", [{"x-api-key": PUBLIC_KEY}, {"x-api-key": KEYS[0]}])
def test_rate_limit_counts_each_query_of_a_docsearch_request(serve: Serve, headers: dict[str, str]) -> None:
    service = serve(api_keys=KEYS, public_keys=[PUBLIC_KEY], rate_limit=12, public_rate_limit=12)

    def search(count: int) -> Any:
        body = {"requests": [{"query": "torque"}] * count}
        return service.client.post("/1/indexes/*/queries", json=body, headers=headers)

    assert [search(count).status_code for count in (10, 1, 10)] == [200, 200, 200]
    problem(search(1), 429, "rate_limited")


def test_public_rate_limit_counts_refused_requests(serve: Serve) -> None:
    client = serve(api_keys=KEYS, public_keys=[PUBLIC_KEY], public_rate_limit=1).client
    headers = {"x-api-key": PUBLIC_KEY}
    assert [client.get("/api/v1/index", headers=headers).status_code for _ in range(2)] == [403, 429]


def test_key_parameter_appears_in_no_log_no_metric_and_no_response(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = serve(api_keys=KEYS, public_keys=[PUBLIC_KEY], public_rate_limit=5)

    def suggest(key: str, path: str = "/api/v1/suggest") -> Any:
        return service.client.get(f"{path}?q=x&key={key}", headers={"accept": "text/html"})

    answers = [suggest(PUBLIC_KEY), suggest("wrong-guess"), suggest(KEYS[0]), suggest(PUBLIC_KEY, "/")]
    answers.append(suggest(PUBLIC_KEY, f"/{'x' * 300}"))
    service.break_index(monkeypatch, RuntimeError("unexpected"))
    failing = f"/search?key={PUBLIC_KEY}"
    answers += [service.client.post(failing, json={"query": "torque"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 401, 401, 403, 403, 500, 500, 429]
    answers.append(service.client.get("/metrics", headers={"x-api-key": KEYS[0]}))
    output = str(service.logged.entries) + "".join(answer.text + str(answer.headers) for answer in answers)
    assert not any(key in output for key in (PUBLIC_KEY, "wrong-guess", *KEYS))


def test_wrong_key_parameter_is_refused(serve: Serve) -> None:
    client = serve(api_keys=KEYS, public_keys=[PUBLIC_KEY]).client
    message = problem(client.get("/api/v1/suggest?q=x&key=wrong-guess"), 401, "unauthorized")
    assert "`public_keys`" in message
    problem(client.get(f"/api/v1/suggest?q=x&key={KEYS[0]}"), 401, "unauthorized")
    problem(client.get("/api/v1/suggest?q=%C3%BC&key=%FF%F0%9F%98%80"), 401, "unauthorized")


@pytest.mark.parametrize("typed", ["%C3%BC", "%FF", "%F0%9F%98%80&;="])
def test_public_key_parameter_stands_beside_any_other(serve: Serve, typed: str) -> None:
    client = serve(api_keys=KEYS, public_keys=[PUBLIC_KEY]).client
    assert client.get(f"/api/v1/suggest?q={typed}&key={PUBLIC_KEY}").status_code == 200


class Clock:
    def __init__(self) -> None:
        self.now = 1000.7

    def __call__(self) -> float:
        return self.now


def test_rate_limit_refills_over_time() -> None:
    clock = Clock()
    limit = RateLimit(60, clock)
    assert [limit.take("a") for _ in range(60)] == [0.0] * 60
    assert limit.take("a") == pytest.approx(1.0)
    assert limit.take("b") == 0.0
    clock.now += 0.5
    assert limit.take("a") == pytest.approx(0.5)
    clock.now += 0.5
    assert limit.take("a") == 0.0
    assert limit.take("a") > 0.0
    clock.now += 3600
    assert [limit.take("a") for _ in range(61)].count(0.0) == 60


@settings(max_examples=200)
@given(st.integers(1, 5000), st.floats(0, 1e7), st.lists(st.floats(0, 2), max_size=50))
def test_rate_limit_allows_a_request_after_a_wait(per_minute: int, start: float, steps: list[float]) -> None:
    clock = Clock()
    clock.now = start
    limit = RateLimit(per_minute, clock)
    for step in steps:
        clock.now += step
        if wait := limit.take("a"):
            clock.now += wait + 1e-6
            assert limit.take("a") == 0.0


def test_rate_limit_forgets_idle_callers() -> None:
    limit = RateLimit(1, Clock(), max_callers=3)
    assert [limit.take(caller) for caller in "abcd"] == [0.0] * 4
    assert limit.take("d") > 0.0
    assert limit.take("a") == 0.0


def test_rate_limited_response_has_retry_after(serve: Serve) -> None:
    service = serve(rate_limit=3)
    answers = [service.search() for _ in range(4)]
    assert [response.status_code for response in answers] == [200, 200, 200, 429]
    problem(answers[3], 429, "rate_limited")
    assert answers[3].headers["retry-after"] == "20"
    assert service.client.get("/livez").status_code == 200


def test_rate_limit_is_per_key(serve: Serve) -> None:
    service = serve(rate_limit=2, api_keys=KEYS)
    for key in KEYS:
        headers = [(b"x-api-key", key.encode())]
        statuses = [service.client.get("/api/v1/documents", headers=headers).status_code for _ in range(3)]
        assert statuses == [200, 200, 429]


def test_wrong_keys_are_rate_limited_by_address(serve: Serve) -> None:
    service = serve(rate_limit=2, api_keys=KEYS)
    guesses = [service.client.get("/api/v1/documents", headers={"x-api-key": f"guess-{n}"}) for n in range(3)]
    assert [guess.status_code for guess in guesses] == [401, 401, 429]
    assert service.client.get("/api/v1/documents", headers={"x-api-key": KEYS[0]}).status_code == 200


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("203.0.113.7", "203.0.113.8", False),
        ("203.0.113.7", "::ffff:203.0.113.7", True),
    ],
)
def test_limits_count_an_ipv6_network_as_one_client(first: str, second: str, *, same: bool) -> None:
    assert (identify_client(first) == identify_client(second)) == same


def test_rate_limit_without_keys_is_per_address(serve: Serve) -> None:
    service = serve(rate_limit=1)
    service.client.get("/api/v1/documents", headers={"x-api-key": "one"})
    assert service.client.get("/api/v1/documents", headers={"x-api-key": "two"}).status_code == 429


def preflight(service: Service, origin: str = ORIGIN, method: str = "POST") -> Any:
    requested = {"method": method, "headers": "content-type, authorization"}
    headers = {f"access-control-request-{name}": value for name, value in requested.items()}
    return service.client.options("/search", headers={"origin": origin, **headers})


@pytest.mark.parametrize("keys", [(), KEYS])
def test_preflight_needs_no_key_and_is_not_rate_limited(serve: Serve, keys: tuple[str, ...]) -> None:
    service = serve(cors_origins=[ORIGIN], api_keys=keys, rate_limit=1)
    for _ in range(3):
        answer = preflight(service)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == ORIGIN
        assert "POST" in answer.headers["access-control-allow-methods"]
        assert "authorization" in answer.headers["access-control-allow-headers"]


@pytest.mark.parametrize(("origin", "method"), [("https://evil.example", "POST"), (ORIGIN, "DELETE")])
def test_refused_preflight_is_an_error_response(serve: Serve, origin: str, method: str) -> None:
    answer = preflight(serve(cors_origins=[ORIGIN]), origin, method)
    problem(answer, 400, "validation_error")
    assert answer.headers["x-request-id"]
    if origin != ORIGIN:
        assert "access-control-allow-origin" not in answer.headers


def test_cors_headers_are_on_answers_and_errors(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    service = serve(cors_origins=[ORIGIN], api_keys=KEYS, rate_limit=4)
    headers = {"origin": ORIGIN, "x-api-key": KEYS[0]}

    def ask(**changed: str) -> Any:
        return service.client.post("/search", json={"query": "x"}, headers={**headers, **changed})

    answers = [ask(), ask(**{"x-api-key": "wrong"}), ask(**{"content-length": "99999"})]
    service.break_index(monkeypatch, RuntimeError("unexpected"))
    answers += [ask(), ask(), ask()]
    assert [response.status_code for response in answers] == [200, 401, 413, 500, 500, 429]
    for answer in answers:
        assert answer.headers["access-control-allow-origin"] == ORIGIN
        assert "x-request-id" in answer.headers["access-control-expose-headers"].lower()
        assert "retry-after" in answer.headers["access-control-expose-headers"].lower()
    assert "access-control-allow-origin" not in ask(origin="https://evil.example").headers


def test_no_cors_headers_by_default(service: Service) -> None:
    answer = service.client.get("/health", headers={"origin": ORIGIN})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    problem(preflight(service), 405, "method_not_allowed")


@pytest.mark.parametrize(("method", "path"), [*EVERY_ROUTE, *(("GET", probe) for probe in PROBES)])
def test_every_response_has_the_security_headers(service: Service, method: str, path: str) -> None:
    headers = service.client.request(method, path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cache-control"] in ("no-store", "no-cache")
    assert headers["x-request-id"]
    assert "server" not in headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    assert all(part in policy for part in ("frame-ancestors 'none'", "base-uri 'none'"))
    assert not any(part in policy for part in ("unsafe-eval", "http"))
    assert ("unsafe-inline" in policy) == (path == "/docs")


def test_access_errors_have_the_security_headers(serve: Serve) -> None:
    service = serve(api_keys=KEYS, rate_limit=1)
    for status in (401, 429):
        answer = service.client.get("/api/v1/documents")
        assert answer.status_code == status
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"]
        assert answer.headers["x-request-id"]


def test_static_files_and_probes_are_not_rate_limited(serve: Serve) -> None:
    service = serve(rate_limit=1)
    files = ["/static/swagger.js", "/static/favicon.svg", "/docs/assets/swagger-ui.css", "/openapi.json"]
    probes = ["/livez", "/readyz", "/metrics", "/health", "/api/v1/health"]
    assert {service.client.get(path).status_code for path in files + probes} == {200}
    assert [service.search().status_code for _ in range(2)] == [200, 429]


def test_wrong_keys_are_rate_limited_on_static_files_too(serve: Serve) -> None:
    service = serve(rate_limit=1, api_keys=KEYS)
    statuses = [service.client.get("/static/swagger.js").status_code for _ in range(2)]
    assert statuses == [401, 429]


def test_static_files_are_revalidated(service: Service) -> None:
    first = service.client.get("/static/swagger.js")
    assert first.headers["cache-control"] == "no-cache"
    second = service.client.get("/static/swagger.js", headers={"if-none-match": first.headers["etag"]})
    assert (second.status_code, second.content) == (304, b"")


@pytest.mark.parametrize("path", ["/", "/docs", "/livez", "/readyz", "/health", "/api/v1/documents"])
def test_every_get_route_answers_head(service: Service, path: str) -> None:
    head, read = service.client.head(path), service.client.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(read.content))
    assert head.headers["content-type"] == read.headers["content-type"]


def test_post_route_refuses_head(service: Service) -> None:
    assert service.client.head("/search").status_code == 405


@pytest.mark.parametrize(("host", "status"), [
    ("localhost:8000", 200), ("127.0.0.1:8000", 200), ("127.0.0.2", 200), ("[::1]:8000", 200),
    ("book.localhost", 200), ("BOOK.example", 200), ("evil.example", 403), ("evil.example:8000", 403),
    ("localhost.evil.example", 403), ("127.0.0.1.evil.example", 403), ("[::1", 403),
])  # fmt: skip
def test_loopback_service_refuses_unknown_host_names(book: Workspace, host: str, status: int) -> None:
    """A web page whose name resolves to this machine could read everything (DNS rebinding)."""
    with TestClient(create_app(Pertinent(book), host_names={"book.example"})) as client:
        response = client.get("/api/v1/documents", headers={"Host": host})
        assert response.status_code == status
        if status == 403:
            assert "cors_origins" in problem(response, 403, "forbidden")
        assert client.get("/livez", headers={"Host": "probe.example"}).status_code == 200


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        ({}, set()),
        ({"cors_origins": ["https://book.example:8443"]}, {"book.example"}),
        ({"api_keys": ["k" * 20]}, None),
        ({"host": "0.0.0.0"}, None),  # noqa: S104
        ({"host": "::1"}, set()),
    ],
)
def test_host_names_are_restricted_on_open_loopback(chosen: dict[str, Any], names: set[str] | None) -> None:
    assert server.allowed_host_names(Settings.model_validate(chosen)) == names
