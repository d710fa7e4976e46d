"""Validation errors name the field and what it may be, in plain words."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from pertinent.surfaces.http.errors import describe_validation_error
from pertinent.surfaces.http.search_api import SearchRequest
from pertinent.surfaces.http.validate_api import ValidationRequest

from .conftest import Serve, Service, problem

HALF = "half \ud800 pair"
MISFITS: list[Any] = [
    None, True, -1, 1.5, 10**30, float("nan"), "", " ", "x" * 3000, HALF, [], {}, [None], {"x": 1},
]  # fmt: skip

FILTERS = {"document_id": "x", "section": "x", "url": "https://book.example", "source_type": "x"}
SEARCH: dict[str, Any] = {"top_k": 5, "ranking": "hybrid", "filters": FILTERS, "rerank": False}
V1_SEARCH = {
    "similarity_threshold": 0.5, "per_page": 1, "explain": False, "distinct": True, "fallback": "lexical",
}  # fmt: skip
BODIES: dict[str, dict[str, Any]] = {
    "/search": {"query": "torque", **SEARCH},
    "/api/v1/search": {"query_text": "torque", **SEARCH, **V1_SEARCH},
    "/api/v1/validate": {
        "tests": [
            {
                "test_id": "t",
                "query_text": "torque",
                "expected_results": ["CHUNK"],
                "success_criteria": {"min_accuracy": 0.8, "min_similarity_score": 0.3},
                "test_category": "factual",
            }
        ],
        "top_k": 5,
    },
    "/api/v1/labels": {"query_id": "q", "chunk_id": "c", "grade": 1, "judge": "ann", "note": "why"},
    "/api/v1/labels/undo": {"judge": "ann"},
}

FRAMEWORK_WORDS = re.compile(
    r"Input|should|valid\b|pydantic|dictionary|Value error|NoneType|\bbool\b|\bdict\b|is not what", re.I
)
"""Words that only a framework would use."""


UNKNOWN = {f"unknown_{number}": 0 for number in range(2000)}
VALID_TEST = {"test_id": "t", "query_text": "torque", "expected_results": ["CHUNK"]}


@pytest.mark.parametrize(
    ("model", "body", "errors"),
    [
        (SearchRequest, {**UNKNOWN, "query": "torque"}, 3),
        (SearchRequest, {"query": "torque", "filters": UNKNOWN}, 3),
        (ValidationRequest, {"tests": [VALID_TEST, *[0] * 900]}, 1),
        (ValidationRequest, {"tests": [{**UNKNOWN, **VALID_TEST}]}, 3),
        (ValidationRequest, {"tests": [{**VALID_TEST, "success_criteria": UNKNOWN}]}, 3),
    ],
)
def test_thousands_of_errors_are_not_collected(
    model: type[BaseModel], body: dict[str, Any], errors: int
) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(body)
    assert caught.value.error_count() == errors


def field_paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every field of the body."""
    yield path
    steps = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for step in steps:
        yield from field_paths(value[step], (*path, step))


def with_misfit(body: Any, path: tuple[Any, ...], misfit: Any) -> Any:
    if not path:
        return misfit
    changed = copy.deepcopy(body)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = misfit
    return changed


@pytest.fixture
def labelling(serve: Serve, tmp_path: Path) -> Service:
    golden = tmp_path / "golden.yaml"
    golden.write_text("queries:\n- {id: q, text: torque}\n", encoding="utf-8")
    return serve(golden=golden)


@pytest.mark.parametrize("route", BODIES)
def test_every_invalid_value_in_every_field_gets_a_plain_message(labelling: Service, route: str) -> None:
    headers = {"content-type": "application/json"}
    chunk_id = labelling.search().json()["results"][0]["chunk_id"]
    refused = 0
    for path in field_paths(BODIES[route]):
        for misfit in MISFITS:
            body = json.dumps(with_misfit(BODIES[route], path, misfit)).replace("CHUNK", chunk_id)
            answer = labelling.client.post(route, content=body, headers=headers)
            if answer.status_code != 400:
                continue  # a value that may stand here
            refused += 1
            message = problem(answer, 400, "validation_error")
            assert not FRAMEWORK_WORDS.search(message), (path, misfit, message)
            field = next((step for step in reversed(path) if isinstance(step, str)), "body")
            top = str(path[0]) if path else ""
            assert field in message or top in message, (path, misfit, message)
    assert refused > len(list(field_paths(BODIES[route])))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"ranking": "best"}, "ranking: must be hybrid, dense or lexical, not 'best'"),
        ({"ranking": "x" * 1000}, f"ranking: must be hybrid, dense or lexical, not '{'x' * 58}…"),
        ({"fallback": "dense"}, "fallback: must be lexical, not 'dense'"),
        ({"explain": "yes"}, "explain: must be true or false"),
        ({"filters": []}, "filters: must be an object with named fields"),
        ({"filters": {"section": ""}}, "filters.section: must not be empty"),
        ({"filters": {"section": 5}}, "filters.section: must be text"),
        (
            {"filters": {"section": "x" * 1001}},
            "filters.section: has 1001 characters; it must have at most 1000",
        ),
        ({"topk": 5}, "topk: there is no such field"),
        ({"per_page": 0}, "per_page: must be between 1 and 100, not 0"),
        ({"similarity_threshold": 2}, "similarity_threshold: must be between 0.0 and 1.0, not 2"),
    ],
)
def test_error_names_the_field_and_its_limit(service: Service, fields: dict[str, Any], message: str) -> None:
    assert problem(service.v1(**fields), 400, "validation_error") == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tests": []}, "tests: must not be empty"),
        ({"tests": {}}, "tests: must be a list"),
        ({"tests": [5]}, "tests.0: must be an object with named fields"),
        ({"tests": [{"test_id": "t"}]}, "tests.0.query_text: must be given"),
    ],
)
def test_error_names_a_list_entry_by_number(service: Service, change: dict[str, Any], message: str) -> None:
    answer = service.client.post("/api/v1/validate", json=change)
    assert message in problem(answer, 400, "validation_error")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"/api/v1/chunks/{'x' * 201}", "chunk_id: has 201 characters; it must have at most 200"),
        (f"/api/v1/documents/{'x' * 201}", "document_id: has 201 characters; it must have at most 200"),
        ("/reports/compare", "before: must be given; after: must be given"),
    ],
)
def test_error_names_an_invalid_path_or_query_parameter(service: Service, path: str, message: str) -> None:
    assert message in problem(service.client.get(path), 400, "validation_error")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "body: must be given"),
        (b"{", "body: is not JSON: "),
        (b"\xff\xfe\xfa", "body: can't be read as JSON in UTF-8"),
        (b'{"query": ' + b"9" * 5000 + b"}", "body: can't be read as JSON in UTF-8"),
        (b"[]", "body: must be a JSON object, sent with Content-Type: application/json"),
    ],
)
def test_malformed_body_error_says_what_is_expected(service: Service, body: bytes, message: str) -> None:
    answer = service.client.post("/search", content=body, headers={"content-type": "application/json"})
    assert message in problem(answer, 400, "validation_error")


def test_unknown_route_and_method_errors_say_what_exists(service: Service) -> None:
    assert "/docs" in problem(service.client.get("/nope"), 404, "not_found")
    wrong = problem(service.client.get("/search"), 405, "method_not_allowed")
    assert wrong == "this route takes POST, not GET"


def test_unknown_kind_of_validation_error_gets_a_general_message() -> None:
    error = {"type": "is_instance_of", "loc": ("body", "field"), "msg": "Input should be x", "input": 5}
    assert describe_validation_error(error) == "field: must be x"
    two = {"type": "too_short", "loc": ("body", "field"), "input": [1], "ctx": {"min_length": 2}}
    assert describe_validation_error(two) == "field: must have at least 2 entries"
