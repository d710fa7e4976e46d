"""The entities of seed 000's report refuse what the seed forbids, also when built by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.errors import InvalidInput
from pertinent.identity import content_hash
from pertinent.types import Chunk, Hit, Scores
from pertinent.validation import integrity
from pertinent.validation.rendering.html import render_html
from pertinent.validation.rendering.junit import render_junit
from pertinent.validation.rendering.markdown import render_markdown
from pertinent.validation.report import (
    Query,
    SearchResult,
    SeedField,
    TestCase,
    ValidationReport,
)
from pertinent.validation.report_fields import ReportPart
from pertinent.validation.report_files import load_report, save_report

from .conftest import Judge

QUERY: dict[str, Any] = {"text": "What is a URDF joint?", "query_type": "specific", "id": "joint"}
CONTENT = "ROS 2 nodes communicate over topics."
RESULT: dict[str, Any] = {
    "similarity_score": 0.89, "content": CONTENT, "url": "https://book.example/docs/nodes",
    "title": "Nodes", "chunk_index": 0, "timestamp": "2025-12-15T10:00:00Z",
    "content_hash": content_hash(CONTENT), "chunk_id": "nodes-0", "document_id": "nodes", "section": "",
    "anchor": "", "start": 0, "end": len(CONTENT), "cosine": 0.9, "lexical": None,
}  # fmt: skip
CASE: dict[str, Any] = {
    "query": QUERY, "expected_criteria": {"min_score": 0.7}, "actual_results": [RESULT, RESULT],
    "relevance_labels": [2, 0], "precision_at_k": 0.2, "rank_of_best": 1, "judged": [True, True],
    "metrics": {"p@5": 0.2}, "latency_ms": 4.5, "status": "passed", "complaints": [], "relevant": 1,
    "labels": [], "further": [],
}  # fmt: skip
WHITE_SPACE = ("", " ", "\t\n", "\u3000")
NO_SHARE = (-0.01, 1.01, math.nan, math.inf, True, "0.5", None)
NO_COUNT = (-1, 1.5, True, "1", None)


def refused(kind: type[ReportPart], fields: dict[str, Any], name: str) -> str:
    """Build the entity; the message of the error, which must name the field."""
    with pytest.raises(InvalidInput) as error:
        kind(**fields)
    assert error.value.field == name, error.value
    return str(error.value)


SEED_QUERY: dict[str, Any] = {"text": "How do ROS 2 nodes communicate?", "top_k": 5, "query_type": "specific"}
SEED_RESULT: dict[str, Any] = {name: RESULT[name] for name in get_args(SeedField)}
SEED_CASE: dict[str, Any] = {
    "query": SEED_QUERY,
    "expected_criteria": {"min_score": 0.7, "expected_topic": "ROS 2 topics, pub/sub"},
    "actual_results": [SEED_RESULT] * 5,
    "relevance_labels": [2, 2, 1, 1, 0],
    "precision_at_k": 0.80,
    "rank_of_best": 1,
}
SEED_REPORT: dict[str, Any] = {
    "timestamp": "2025-12-16T15:30:00Z",
    "total_queries": 2,
    "avg_precision_at_5": 0.6,
    "mrr": 0.75,
    "avg_latency_ms": 450.3,
    "p95_latency_ms": 1200.0,
    "p99_latency_ms": 1800.0,
    "metadata_completeness_rate": 1.0,
    "hash_validation_pass_rate": 1.0,
    "test_cases": [
        SEED_CASE,
        SEED_CASE
        | {
            "query": SEED_QUERY | {"text": "What is a URDF joint?"},
            "relevance_labels": [0, 1, 1, 0, 0],
            "precision_at_k": 0.4,
            "rank_of_best": 2,
        },
    ],
    "summary": "FAIL: 1/2 queries (50%) achieved precision@5 >= 0.80. MRR 0.75 exceeds target 0.70.",
    "issues": ["p99 latency 1800ms within acceptable range but approaching limit"],
}


def test_seed_000_query_needs_only_the_seeds_fields() -> None:
    query = Query(**SEED_QUERY)
    assert (query.id, query.answerable) == ("how-do-ros-2-nodes-communicate", True)
    refused(Query, {"text": None, "query_type": "specific"}, "text")


def test_seed_000_search_result_needs_only_the_seeds_fields() -> None:
    result = SearchResult(**SEED_RESULT)
    assert (result.chunk_id, result.start, result.cosine, result.damaged) == ("", None, None, [])


def test_seed_000_test_case_needs_only_the_seeds_fields() -> None:
    passed, failed = (TestCase(**fields) for fields in SEED_REPORT["test_cases"])
    assert (passed.status, failed.status) == ("passed", "failed")
    assert (passed.judged, passed.relevant) == ([True] * 5, 4)
    assert failed.metrics == {"p@5": 0.4, "rr_best": 0.5}
    refused(TestCase, SEED_CASE | {"relevance_labels": [2]}, "relevance_labels")
    refused(TestCase, SEED_CASE | {"relevance_labels": None}, "relevance_labels")
    refused(TestCase, SEED_CASE | {"precision_at_k": "high"}, "precision_at_k")
    refused(TestCase, SEED_CASE | {"rank_of_best": 0}, "rank_of_best")
    for value in (-0.1, 1.1, float("nan"), float("inf")):
        refused(TestCase, SEED_CASE | {"metrics": {"p@5": value}}, "metrics.p@5")


def test_seed_000_report_needs_only_the_seeds_fields(tmp_path: Path) -> None:
    report = ValidationReport(**SEED_REPORT)
    assert report.verdict == "FAIL"
    assert report.avg_precision_at_5_answerable == pytest.approx(0.6)
    assert report.mrr_answerable == report.mrr_first_relevant == 0.75
    assert (report.golden.queries, report.golden.scored) == (2, 2)
    for name in SEED_REPORT:
        missing = {key: value for key, value in SEED_REPORT.items() if key != name}
        refused(ValidationReport, missing, name)
    assert load_report(save_report(report, tmp_path)) == report


def test_file_with_only_the_seeds_fields_is_read_unless_it_has_a_version(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(SEED_REPORT))
    assert load_report(path) == ValidationReport(**SEED_REPORT)
    path.write_text(json.dumps(SEED_REPORT | {"schema_version": 1}))
    with pytest.raises(InvalidInput, match="another version of Pertinent"):
        load_report(path)


@pytest.mark.parametrize("render", [render_html, render_markdown, render_junit])
def test_report_with_only_the_seeds_fields_can_be_rendered(render: Callable[[ValidationReport], str]) -> None:
    html = render(ValidationReport(**SEED_REPORT))
    assert "FAIL" in html
    assert "What is a URDF joint?" in html


def test_seed_000_top_k_of_a_query_defaults_to_5() -> None:
    assert Query(**QUERY).top_k == 5


def test_seed_000_query_text_may_be_empty() -> None:
    assert Query(**QUERY | {"text": ""}).text == ""


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("text", [None, 5]),
        ("top_k", [0, 101, -1, True, "5", 5.5, None]),
        ("query_type", ["odd", "", None, "SPECIFIC"]),
    ],
)
def test_seed_000_query_refuses_what_the_seed_forbids(field: str, values: list[Any]) -> None:
    for value in values:
        refused(Query, QUERY | {field: value}, field)


def test_seed_000_refusal_names_the_range() -> None:
    assert refused(Query, QUERY | {"top_k": 101}, "top_k") == "top_k: must be between 1 and 100, not 101"
    message = refused(Query, QUERY | {"query_type": "odd"}, "query_type")
    assert all(name in message for name in ("specific", "broad", "paraphrase", "edge"))
    message = refused(SearchResult, RESULT | {"similarity_score": 2}, "similarity_score")
    assert message == "similarity_score: must be between 0.0 and 1.0, not 2"


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("similarity_score", NO_SHARE),
        ("content", [*WHITE_SPACE, None, 5]),
        ("url", [*WHITE_SPACE, None]),
        ("title", [*WHITE_SPACE, None]),
        ("chunk_index", NO_COUNT),
        ("timestamp", [*WHITE_SPACE, "yesterday", "15.12.2025", 12345, None]),
        ("content_hash", [*WHITE_SPACE, "abc123", "g" * 64, "a" * 63, "a" * 65, None]),
    ],
)
def test_seed_000_search_result_refuses_what_the_seed_forbids(field: str, values: list[Any]) -> None:
    for value in values:
        refused(SearchResult, RESULT | {field: value}, field)


def test_damaged_field_is_null_only_where_it_is_named() -> None:
    damaged = SearchResult(**RESULT | {"timestamp": None, "damaged": ["timestamp"]})
    assert damaged.timestamp is None
    refused(SearchResult, RESULT | {"damaged": ["timestamp"]}, "timestamp")
    refused(SearchResult, RESULT | {"title": None, "timestamp": None, "damaged": ["title"]}, "timestamp")
    refused(SearchResult, RESULT | {"damaged": ["colour"]}, "damaged.0")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"relevance_labels": [2]}, "relevance_labels"),
        ({"relevance_labels": [2, 0, 1]}, "relevance_labels"),
        ({"judged": [True]}, "judged"),
        ({"relevance_labels": [2, 3]}, "relevance_labels.1"),
        ({"relevance_labels": [-1, 0]}, "relevance_labels.0"),
        ({"relevance_labels": [True, 0]}, "relevance_labels.0"),
        *(({"precision_at_k": value}, "precision_at_k") for value in NO_SHARE),
        *(({"rank_of_best": value}, "rank_of_best") for value in (0, -1, 1.5, True)),
        *(({"latency_ms": value}, "latency_ms") for value in (-0.1, math.nan, math.inf, True)),
        ({"query": QUERY | {"top_k": 0}}, "query.top_k"),
        ({"actual_results": [RESULT, RESULT | {"title": ""}]}, "actual_results.1.title"),
        ({"actual_results": [RESULT, RESULT | {"title": None}]}, "actual_results.1.title"),
    ],
)
def test_seed_000_test_case_refuses_what_the_seed_forbids(changes: dict[str, Any], field: str) -> None:
    refused(TestCase, CASE | changes, field)


def test_seed_000_rank_of_best_may_be_none() -> None:
    assert TestCase(**CASE | {"rank_of_best": None}).rank_of_best is None


@pytest.fixture
def report_fields(judged: Judge) -> dict[str, Any]:
    return judged().to_dict()


RATES = ("avg_precision_at_5", "mrr", "metadata_completeness_rate", "hash_validation_pass_rate")
LATENCIES = ("avg_latency_ms", "p95_latency_ms", "p99_latency_ms")


def test_seed_000_report_refuses_what_the_seed_forbids(report_fields: dict[str, Any]) -> None:
    for name in RATES:
        for value in NO_SHARE:
            refused(ValidationReport, report_fields | {name: value}, name)
    for name in LATENCIES:
        for value in (-1, math.nan, math.inf, True, None):
            refused(ValidationReport, report_fields | {name: value}, name)
    for value in ("now", "", None):
        refused(ValidationReport, report_fields | {"timestamp": value}, "timestamp")


def test_seed_000_total_queries_is_the_number_of_test_cases(report_fields: dict[str, Any]) -> None:
    cases = len(report_fields["test_cases"])
    for value in (0, cases - 1, cases + 1, True, -1):
        refused(ValidationReport, report_fields | {"total_queries": value}, "total_queries")
    refused(ValidationReport, report_fields | {"test_cases": []}, "total_queries")


def test_seed_000_summary_names_the_verdict(report_fields: dict[str, Any]) -> None:
    assert report_fields["verdict"] == "PASS"
    for summary in ("", "All is well.", "PASSED", "FAIL: nothing was found", "INVALID"):
        refused(ValidationReport, report_fields | {"summary": summary}, "summary")
    for verdict in ("PASS", "FAIL", "INVALID"):
        changes = {"verdict": verdict, "summary": f"{verdict}: so it is"}
        assert ValidationReport(**report_fields | changes).verdict == verdict


def test_seed_000_to_dict_is_plain_data_that_can_be_read_back(judged: Judge, tmp_path: Path) -> None:
    report = judged(audit=True)
    text = json.dumps(report.to_dict(), allow_nan=False)
    path = tmp_path / "report.json"
    path.write_text(text)
    assert load_report(path) == report
    assert json.loads(save_report(report, tmp_path / "saved").read_text()) == report.to_dict()
    (case, *_) = report.test_cases
    for part in (case, case.query, case.actual_results[0]):
        assert type(part)(**part.to_dict()) == part
        json.dumps(part.to_dict(), allow_nan=False)


def test_file_with_a_forbidden_value_is_refused_with_the_path_of_its_field(
    report_fields: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "report.json"
    report_fields["test_cases"][1]["query"]["top_k"] = 0
    path.write_text(json.dumps(report_fields))
    with pytest.raises(
        InvalidInput, match=r"is not a report: test_cases\.1\.query\.top_k: must be between 1"
    ):
        load_report(path)
    report_fields["test_cases"][1]["query"]["top_k"] = 5
    report_fields["test_cases"][1]["actual_results"][0]["title"] = None
    path.write_text(json.dumps(report_fields))
    with pytest.raises(InvalidInput, match=r"test_cases\.1\.actual_results\.0\.title: must not be null"):
        load_report(path)


ANY_TEXT = st.one_of(st.just(""), st.just(" "), st.text(max_size=5))
CHUNKS = st.builds(
    Chunk,
    **dict.fromkeys(("chunk_id", "document_id", "url", "anchor", "title", "section", "text"), ANY_TEXT),
    **{name: st.integers(-1, 3) for name in ("position", "start", "end")},
    content_hash=st.one_of(ANY_TEXT, st.just("ab" * 32)),
    source_path=ANY_TEXT,
    slug=ANY_TEXT,
    source_type=ANY_TEXT,
    created_at=st.one_of(ANY_TEXT, st.datetimes().map(datetime.isoformat)),
)


@given(CHUNKS, st.one_of(st.floats(), st.floats(0, 1)))
def test_every_hit_however_damaged_can_be_reported(chunk: Chunk, score: float) -> None:
    result = SearchResult.from_hit(Hit(chunk, score, Scores(None, None), 1))
    assert set(result.damaged) - {"similarity_score"} == set(integrity.find_damage(chunk))
    assert ("similarity_score" in result.damaged) is not (0.0 <= score <= 1.0)
    assert SearchResult(**json.loads(json.dumps(result.to_dict(), allow_nan=False))) == result
    # Seed 000's completeness can be computed again from the report.
    stored = (result.url, result.title, result.content, result.timestamp, result.content_hash)
    complete = all(stored) and result.chunk_index is not None
    assert integrity.completeness([chunk]) == float(complete)
