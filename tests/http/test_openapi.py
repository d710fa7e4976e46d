"""The OpenAPI description: examples for every model, docs without a network, and conformance."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
import structlog
from schemathesis.generation import GenerationMode
from starlette.testclient import TestClient

from pertinent.surfaces.http import create_app
from pertinent.surfaces.http.errors import ERROR_KINDS
from pertinent.surfaces.http.observability import Observer
from pertinent.surfaces.library import Pertinent
from pertinent.workspace.workspace import Workspace

from ..rerankers.rerank_server import VLLM, RerankServer
from .conftest import Serve, Service, change_settings, check_conformance

if TYPE_CHECKING:
    from fastapi import FastAPI


@pytest.fixture(scope="module")
def quiet_app(book: Workspace) -> Iterator[FastAPI]:
    log = structlog.wrap_logger(structlog.ReturnLogger(), processors=[])
    # Without a reranker, `"rerank": true` is refused, which the description can't say.
    with RerankServer() as server:
        workspace = change_settings(book, reranker=f"http:{server.url}{VLLM}")
        app = create_app(Pertinent(workspace), Observer(log))
        with TestClient(app):
            yield app
        assert workspace.reranking is not None
        workspace.reranking.reranker.close()


@pytest.fixture(scope="module")
def described(quiet_app: FastAPI) -> dict[str, Any]:
    return quiet_app.openapi()


@pytest.fixture(scope="module")
def api(quiet_app: FastAPI) -> Any:
    return schemathesis.openapi.from_asgi("/openapi.json", quiet_app)


def operations(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_openapi_describes_every_route(described: dict[str, Any]) -> None:
    assert {name for name, _ in operations(described)} == {
        "POST /search", "GET /health", "POST /api/v1/search", "GET /api/v1/health", "GET /api/v1/index",
        "GET /api/v1/suggest", "POST /1/indexes/*/queries",
        "POST /api/v1/validate", "GET /api/v1/chunks/{chunk_id}", "GET /api/v1/documents",
        "GET /api/v1/documents/{document_id}", "GET /api/v1/labels/next", "POST /api/v1/labels",
        "POST /api/v1/labels/undo", "GET /api/v1/labels/agreement",
        "POST /api/v1/audits", "GET /api/v1/audits/{audit_id}",
    }  # fmt: skip


def example_of(schema: dict[str, Any], models: dict[str, Any]) -> Any:
    """The example that Swagger UI shows: the schema's own, or one put together from its parts."""
    match schema:
        case (
            {"examples": [example, *_]} | {"enum": [example, *_]} | {"const": example} | {"default": example}
        ):
            return example
        case {"$ref": reference}:
            return example_of(models[reference.rpartition("/")[2]], models)
        case {"anyOf": [first, *_]}:
            return example_of(first, models)
        case {"properties": properties}:
            return {name: example_of(part, models) for name, part in properties.items()}
        case {"type": "array", "items": items}:
            return [example_of(items, models)]
        case {"type": "boolean"}:
            return True
    raise AssertionError(f"no example for {schema}")


def test_every_model_has_a_valid_example(described: dict[str, Any]) -> None:
    import jsonschema_rs

    models = described["components"]["schemas"]
    assert "HTTPValidationError" not in models
    for name, schema in models.items():
        example = example_of(schema, models)
        assert jsonschema_rs.is_valid({**schema, "components": described["components"]}, example), name
        assert set(example) <= set(schema["properties"]), name


def test_every_error_has_an_example(described: dict[str, Any]) -> None:
    statuses = {error: str(int(status)) for status, (error, _) in ERROR_KINDS.items()}
    for name, operation in operations(described):
        assert "422" not in operation["responses"], name
        for status, response in operation["responses"].items():
            if status == "200":
                continue
            content = response["content"]["application/json"]
            if name.endswith("/health") and status == "503":
                assert content["schema"]["$ref"].endswith("Health") or content["schema"]["$ref"].endswith(
                    "HealthResponse"
                )
                continue
            assert content["schema"] == {"$ref": "#/components/schemas/ErrorResponse"}, name
            example = content["example"]
            assert set(example) == {"error", "message"}
            assert status in (statuses[example["error"]], "4XX"), name


@pytest.mark.parametrize("route", ["POST /search", "POST /api/v1/search"])
def test_search_describes_all_its_errors(described: dict[str, Any], route: str) -> None:
    responses = dict(operations(described))[route]["responses"]
    assert {"200", "400", "401", "413", "429", "500", "502", "503"} <= set(responses)


def test_seed_003_ranges_are_described(described: dict[str, Any]) -> None:
    request = described["components"]["schemas"]["SearchRequest"]
    assert request["required"] == ["query"]
    query, top_k = request["properties"]["query"], request["properties"]["top_k"]
    assert (query["type"], query["minLength"], query["maxLength"]) == ("string", 1, 500)
    assert (top_k["type"], top_k["minimum"], top_k["maximum"], top_k["default"]) == ("integer", 1, 20, 5)
    result = described["components"]["schemas"]["SearchHit"]
    assert result["title"] == "SearchResult"
    assert set(result["required"]) == {"chunk_id", "snippet", "source_path", "slug", "score", "url"}


def test_seed_004_ranges_are_described(described: dict[str, Any]) -> None:
    fields = described["components"]["schemas"]["SearchQuery"]["properties"]
    top_k, threshold = fields["top_k"], fields["similarity_threshold"]
    assert (top_k["minimum"], top_k["maximum"], top_k["default"]) == (1, 100, 5)
    assert (threshold["minimum"], threshold["maximum"], threshold["default"]) == (0.0, 1.0, 0.5)


@pytest.mark.parametrize(
    ("request_model", "result_model"), [("SearchRequest", "SearchHit"), ("SearchQuery", "RetrievedChunk")]
)
def test_snippet_length_and_highlights_are_described(
    described: dict[str, Any], request_model: str, result_model: str
) -> None:
    schemas = described["components"]["schemas"]
    (length,) = [
        option
        for option in schemas[request_model]["properties"]["snippet_length"]["anyOf"]
        if option["type"] == "integer"
    ]
    assert (length["minimum"], length["maximum"]) == (50, 2000)
    assert "snippet_length" not in schemas[request_model]["required"]
    assert {"snippet", "highlights"} <= set(schemas[result_model]["properties"])
    assert "highlights" not in schemas[result_model]["required"]


def test_request_examples_work(service: Service, described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    for route, model in (("/search", "SearchRequest"), ("/api/v1/search", "SearchQuery")):
        assert service.client.post(route, json=schemas[model]["examples"][0]).status_code == 200


def test_docs_load_only_local_assets(service: Service) -> None:
    page = service.client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assets = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(assets) == 4
    for asset in assets:
        assert re.match(r"/(docs/assets|static)/", asset)
        assert service.client.get(asset).status_code == 200, asset
    assert "<script>" not in page.text
    assert "style=" not in page.text
    assert "http" not in page.text.replace("<!doctype html>", "")


def test_docs_assets_load_nothing_external(service: Service) -> None:
    style = service.client.get("/docs/assets/swagger-ui.css").text
    assert set(re.findall(r"url\(\s*[\"']?([a-z]+):", style)) <= {"data"}
    assert "@import" not in style
    start = service.client.get("/static/swagger.js").text
    assert '"/openapi.json"' in start
    assert "validatorUrl: null" in start
    assert "://" not in start


def test_search_page_has_a_strict_policy(service: Service) -> None:
    page = service.client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["cache-control"] == "no-cache"
    assert "unsafe" not in page.headers["content-security-policy"]
    for asset in re.findall(r'(?:src|href)="([^"#]+)"', page.text):
        assert service.client.get(f"/{asset}").status_code == 200, asset


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/search"),
        ("GET", "/health"),
        ("POST", "/api/v1/search"),
        ("GET", "/api/v1/health"),
        ("GET", "/api/v1/suggest"),
        ("GET", "/api/v1/chunks/{chunk_id}"),
        ("GET", "/api/v1/documents"),
        ("GET", "/api/v1/documents/{document_id}"),
        ("GET", "/api/v1/index"),
    ],
)
def test_service_conforms_to_its_openapi(api: Any, method: str, path: str, mode: GenerationMode) -> None:
    check_conformance(api[path][method], mode, examples=100 if "search" in path else 20)


def test_security_schemes_are_described(serve: Serve, described: dict[str, Any]) -> None:
    assert set(described["components"]["securitySchemes"]) == {"bearer", "header", "basic"}
    assert "security" not in described
    locked = serve(api_keys=["a-secret-key"]).app.openapi()
    assert locked["security"] == [{"bearer": []}, {"header": []}, {"basic": []}]
    assert "a-secret-key" not in str(locked)
