"""Seed 004's Validation Test: `POST /api/v1/validate`, and the same from Python."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pertinent.build import CATALOG_FILE
from pertinent.errors import InvalidInput, StoreError
from pertinent.search.engine import Engine
from pertinent.search.notes import NO_CATALOG
from pertinent.surfaces.http import validate_api
from pertinent.testing.pages import page
from pertinent.types import SearchOptions
from pertinent.workspace.workspace import Workspace

from .conftest import Serve, Service, open_filled, problem


def search(service: Service, text: str = "the torque of joints", top_k: int = 5) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = service.v1(text, top_k=top_k).json()["results"]
    return results


def make_test(service: Service, **changes: Any) -> dict[str, Any]:
    """A test that passes: the first two results are expected."""
    expected = [result["chunk_id"] for result in search(service)[:2]]
    return {
        "test_id": "torque",
        "query_text": "the torque of joints",
        "expected_results": expected,
        "success_criteria": {"min_accuracy": 1.0, "min_similarity_score": 0.1},
        "test_category": "factual",
        **changes,
    }


def run(service: Service, *tests: dict[str, Any], **fields: Any) -> dict[str, Any]:
    response = service.client.post("/api/v1/validate", json={"tests": list(tests), **fields})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def refuse(service: Service, *tests: Any, **fields: Any) -> str:
    """The message about a run that is refused."""
    response = service.client.post("/api/v1/validate", json={"tests": list(tests), **fields})
    return problem(response, 400, "validation_error")


def test_rule_11_run_has_its_fields(service: Service) -> None:
    body = run(service, make_test(service))
    assert uuid.UUID(body["validation_id"])
    assert (body["total_tests"], body["passed_tests"], body["failed_tests"]) == (1, 1, 0)
    assert body["overall_accuracy"] == 1.0
    assert body["validation_status"] == "passed"
    (test,) = body["tests"]
    assert {
        "test_id", "query_text", "expected_results", "success_criteria", "test_category", "executed_at",
        "result_accuracy", "passed", "actual_results",
    } <= set(test)  # fmt: skip
    assert datetime.fromisoformat(test["executed_at"]).tzinfo is not None
    assert test["executed_at"].endswith("Z")
    assert (test["passed"], test["result_accuracy"], test["reason"]) == (True, 1.0, None)


def test_actual_results_equal_a_search(service: Service) -> None:
    (test,) = run(service, make_test(service), top_k=3)["tests"]
    assert [(result["chunk_id"], result["similarity_score"]) for result in test["actual_results"]] == [
        (result["chunk_id"], result["similarity_score"]) for result in search(service, top_k=3)
    ]
    assert [result["expected"] for result in test["actual_results"]] == [True, True, False]


def test_accuracy_is_the_share_of_expected_chunks_in_the_top_k(service: Service) -> None:
    everything = [result["chunk_id"] for result in search(service, top_k=20)]
    expected = [everything[0], everything[1], everything[18], everything[19]]
    (test,) = run(service, make_test(service, expected_results=expected))["tests"]
    assert test["result_accuracy"] == 0.5
    assert not test["passed"]
    assert everything[19] in test["reason"]
    test = make_test(service, expected_results=expected, success_criteria={"min_accuracy": 1.0})
    (test,) = run(service, test, top_k=20)["tests"]
    assert test["passed"]


def test_min_accuracy_is_inclusive(service: Service) -> None:
    everything = [result["chunk_id"] for result in search(service, top_k=20)]
    half = make_test(service, expected_results=[everything[0], everything[19]])
    for least, passed in ((0.5, True), (0.51, False)):
        test = {**half, "success_criteria": {"min_accuracy": least}}
        assert run(service, test)["tests"][0]["passed"] is passed


@pytest.mark.parametrize("field", ["min_accuracy", "min_similarity_score"])
@pytest.mark.parametrize("value", [True, False, "0.5", None, -0.1, 1.1, []])
def test_seed_004_criteria_are_numbers_from_0_to_1(service: Service, field: str, value: object) -> None:
    test = make_test(service, success_criteria={field: value})
    assert field in refuse(service, test)
    with pytest.raises(InvalidInput, match=field):
        service.pertinent.run_tests([test])


@pytest.mark.parametrize("field", ["min_accuracy", "min_similarity_score"])
@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0])
def test_seed_004_criteria_take_both_ends_of_their_range(service: Service, field: str, value: float) -> None:
    (test,) = run(service, make_test(service, success_criteria={field: value}))["tests"]
    assert test["success_criteria"][field] == value


def test_found_chunks_must_reach_min_similarity_score(service: Service) -> None:
    second = search(service)[1]["similarity_score"]
    criteria = {"min_accuracy": 0.0, "min_similarity_score": second + 0.001}
    (test,) = run(service, make_test(service, success_criteria=criteria))["tests"]
    assert (test["result_accuracy"], test["passed"]) == (1.0, False)
    assert "min_similarity_score" in test["reason"]


def test_validation_status_is_partial_or_failed(service: Service) -> None:
    last = search(service, top_k=20)[-1]["chunk_id"]
    good, bad = make_test(service), make_test(service, test_id="bad", expected_results=[last])
    both = run(service, good, bad)
    assert (both["validation_status"], both["passed_tests"], both["failed_tests"]) == ("partial", 1, 1)
    assert both["overall_accuracy"] == 0.5
    assert run(service, bad)["validation_status"] == "failed"


def test_rule_11_expected_chunk_is_looked_up_in_the_index(serve: Serve, own: Workspace) -> None:
    service = serve(own)
    test = make_test(service)
    catalog_file = own.settings.folder / CATALOG_FILE
    with sqlite3.connect(catalog_file) as connection:
        connection.execute("DELETE FROM documents")
    connection.close()
    assert run(service, test)["validation_status"] == "passed"

    # The same while the catalog is down: searches still work.
    catalog_file.unlink()
    response = run(service, test)
    assert response["validation_status"] == "passed"
    assert NO_CATALOG in response["warnings"]
    assert "no-such-chunk" in refuse(service, make_test(service, expected_results=["no-such-chunk"]))


SharedText = tuple[Service, list[str]]
LICENCE = "Everybody may copy this robot, as long as the licence comes with the copy."


@pytest.fixture
def shared_text(serve: Serve, tmp_path: Path) -> Iterator[SharedText]:
    """A service over two pages that hold the same passage, and the ids of that passage's two chunks."""
    pages = [
        page(name, {"": f"About {name}.", "Licence": LICENCE, "Use": f"How to use {name}."})
        for name in ("arms", "legs")
    ]
    with open_filled(tmp_path / "shared", *pages) as workspace:
        catalog = workspace.catalog()
        chunks = [chunk for record in catalog.pages() for chunk in catalog.chunks(record.document_id)]
        yield serve(workspace), [chunk.chunk_id for chunk in chunks if chunk.text == LICENCE]


def test_seed_004_expected_chunk_is_found_by_any_chunk_with_its_text(
    shared_text: SharedText,
) -> None:
    service, copies = shared_text
    assert len(copies) == 2
    listed = [result["chunk_id"] for result in search(service, LICENCE)]
    assert len({*listed} & {*copies}) == 1, "a search lists the text once"
    tests = [
        make_test(service, test_id=chunk_id, query_text=LICENCE, expected_results=[chunk_id])
        for chunk_id in copies
    ]
    both = make_test(service, test_id="both", query_text=LICENCE, expected_results=copies)
    body = run(service, *tests, both)
    assert (body["validation_status"], body["overall_accuracy"]) == ("passed", 1.0)
    for test in body["tests"]:
        assert test["result_accuracy"] == 1.0
        assert [result["chunk_id"] for result in test["actual_results"] if result["expected"]] == listed[:1]
    ran = service.pertinent.run_tests([*tests, both])
    assert [test.result_accuracy for test in ran.tests] == [1.0, 1.0, 1.0]


def test_seed_004_score_is_that_of_the_hit_with_the_expected_text(
    shared_text: SharedText,
) -> None:
    service, copies = shared_text
    best = search(service, LICENCE)[0]
    (duplicate,) = {*copies} - {best["chunk_id"]}
    for least, passed in ((best["similarity_score"], True), (best["similarity_score"] + 1e-6, False)):
        criteria = {"min_accuracy": 1.0, "min_similarity_score": min(least, 1.0)}
        test = make_test(service, query_text=LICENCE, expected_results=[duplicate], success_criteria=criteria)
        assert run(service, test)["tests"][0]["passed"] is passed


def test_duplicate_test_id_is_named(service: Service) -> None:
    assert "'torque'" in refuse(service, make_test(service), make_test(service))


def test_unknown_expected_chunk_is_named(service: Service) -> None:
    message = refuse(service, make_test(service, expected_results=["no-such-chunk"]))
    assert "'no-such-chunk'" in message
    assert "'torque'" in message


@pytest.mark.parametrize(
    "changes",
    [
        {"query_text": ""},
        {"query_text": "  "},
        {"query_text": "x" * 2001},
        {"test_id": ""},
        {"test_id": " \t\u3000"},
        {"expected_results": [" "]},
        {"expected_results": []},
        {"expected_results": "x"},
        {"success_criteria": {"min_accuracy": 1.01}},
        {"success_criteria": {"min_accuracy": -0.01}},
        {"success_criteria": {"min_similarity_score": 2}},
        {"success_criteria": {"least": 1}},
        {"surprise": True},
    ],
)
def test_values_out_of_range_are_refused(service: Service, changes: dict[str, Any]) -> None:
    refuse(service, make_test(service, **changes))


@pytest.mark.parametrize("body", [{}, {"tests": []}, {"tests": [1]}, [], {"tests": None}])
def test_body_without_tests_is_refused(service: Service, body: Any) -> None:
    problem(service.client.post("/api/v1/validate", json=body), 400, "validation_error")


@pytest.mark.parametrize("top_k", [0, 101, "5", 2.5])
def test_top_k_must_be_1_to_100(service: Service, top_k: Any) -> None:
    assert "top_k" in refuse(service, make_test(service), top_k=top_k)


def test_python_runs_the_same_tests(service: Service) -> None:
    test = make_test(service)
    ran = service.pertinent.run_tests([test])
    over_http = run(service, test)
    assert ran.overall_accuracy == over_http["overall_accuracy"]
    results = [result.model_dump() for result in ran.tests[0].actual_results]
    assert results == over_http["tests"][0]["actual_results"]


@pytest.mark.parametrize(
    "changes", [{"test_id": " "}, {"expected_results": [" "]}, {"expected_results": ["\u3000"]}]
)
def test_seed_004_blank_id_is_refused_and_named(service: Service, changes: dict[str, Any]) -> None:
    (field,) = changes
    with pytest.raises(InvalidInput, match=rf"tests\.0\.{field}.*must not be empty"):
        service.pertinent.run_tests([make_test(service, **changes)])


@pytest.mark.parametrize("tests", [[{"test_id": "x"}], "tests", {}, [], None, 5])
def test_python_validation_errors_name_the_field(service: Service, tests: Any) -> None:
    with pytest.raises(InvalidInput, match="tests"):
        service.pertinent.run_tests(tests)


@pytest.mark.slow
def test_timed_out_run_releases_its_thread(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    service = serve(request_timeout=1.0)
    test = make_test(service)
    tests = [{**test, "test_id": f"t{number}"} for number in range(200)]
    usual, searched = Engine.search, []

    def slow(engine: Engine, text: str, options: SearchOptions) -> Any:
        searched.append(text)
        time.sleep(0.05)
        return usual(engine, text, options)

    monkeypatch.setattr(Engine, "search", slow)
    response = service.client.post("/api/v1/validate", json={"tests": tests})
    problem(response, 503, "service_unavailable")
    so_far = -1
    while so_far != len(searched):
        so_far = len(searched)
        time.sleep(0.5)
    assert so_far < 60


@pytest.mark.slow
def test_searches_do_not_wait_for_validations(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    service = serve()
    body = {"tests": [make_test(service)]}
    started, released = threading.Event(), threading.Event()

    def wait_for_release(*_: Any) -> Any:
        started.set()
        assert released.wait(30)
        raise StoreError("stopped")

    monkeypatch.setattr(validate_api, "run_tests", wait_for_release)
    runs = 2 * (os.cpu_count() or 1)
    with ThreadPoolExecutor(runs) as callers:
        for _ in range(runs):
            callers.submit(service.client.post, "/api/v1/validate", json=body)
        assert started.wait(10)
        response = service.search("another query about joints")
        released.set()
    assert response.status_code == 200, response.text
