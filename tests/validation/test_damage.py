"""Deliberate damage: each kind is found and named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import qdrant_edge as qdrant

from pertinent.identity import content_hash, point_id
from pertinent.stores.edge import EdgeIndex
from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.types import Chunk
from pertinent.validation.golden.golden_set import GoldenSet
from pertinent.validation.report_files import load_report, save_report
from pertinent.validation.validate import validate
from pertinent.workspace.workspace import Workspace

from .conftest import (
    PARTS,
    Judge,
    UnhashedPipeline,
    change_query,
    find_case,
    find_check,
    find_diagnosis,
    golden,
    has_issue,
    labels_on,
)


def shard(stored: Workspace) -> Any:
    index = stored.index()
    assert isinstance(index, EdgeIndex)
    return index._shard


def passage(stored: Workspace, name: str, part: str) -> Chunk:
    (record,) = (page for page in stored.catalog().pages() if page.source_path == f"docs/{name}.md")
    chunks = stored.catalog().chunks(record.document_id)
    (chunk,) = (chunk for chunk in chunks if chunk.anchor == f"the-{part}")
    return chunk


def set_payload(stored: Workspace, chunk: Chunk, **fields: object) -> None:
    shard(stored).update(qdrant.UpdateOperation.set_payload([point_id(chunk.chunk_id)], fields))


def delete(stored: Workspace, *chunks: Chunk) -> None:
    ids: list[Any] = [point_id(chunk.chunk_id) for chunk in chunks]
    shard(stored).update(qdrant.UpdateOperation.delete_points(ids))


def test_changed_text_fails_hash_validation_and_is_named(stored: Workspace, judged: Judge) -> None:
    chunk = passage(stored, "knee", "hinge")
    set_payload(stored, chunk, text="The hinge of the knee was rewritten by somebody else.")
    report = judged()
    assert report.verdict == "FAIL"
    assert report.hash_validation_pass_rate < 1.0
    assert has_issue(report, chunk.chunk_id, "hash")


def test_seed_000_missing_time_fails_completeness_and_is_named(stored: Workspace, judged: Judge) -> None:
    chunk = passage(stored, "knee", "hinge")
    set_payload(stored, chunk, created_at=None)
    report = judged()
    assert report.verdict == "FAIL"
    assert report.metadata_completeness_rate < 1.0
    assert has_issue(report, chunk.chunk_id, "lacks timestamp")
    results = [result for case in report.test_cases for result in case.actual_results]
    assert {result.timestamp for result in results if result.chunk_id == chunk.chunk_id} == {None}


DAMAGE: list[tuple[str, object]] = [
    ("position", "x"), ("position", None), ("position", -1), ("created_at", 12345),
    ("created_at", "yesterday"), ("created_at", ""), ("url", "not a url"), ("url", None),
    ("url", ["https://book.example"]), ("content_hash", None), ("content_hash", "abc"), ("text", None),
    ("text", {"a": 1}), ("text", " "), ("title", 5), ("section", ["a"]), ("chunk_id", "another-chunk"),
    ("chunk_id", None), ("document_id", 5), ("start", "0"), ("headings", "The hinge"),
    ("url_parents", [1]),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), DAMAGE)
def test_rule_29_damaged_point_that_a_query_would_find_fails_and_is_named(
    stored: Workspace, judged: Judge, field: str, value: object
) -> None:
    chunk = passage(stored, "knee", "hinge")
    point = point_id(chunk.chunk_id)
    set_payload(stored, chunk, **{field: value})
    report = judged()
    assert report.verdict == "FAIL"
    assert "damaged points: 1 (target: 0)" in report.summary
    assert has_issue(report, f"damaged point {point}", f"{field} is ")
    chunk_ids = {result.chunk_id for case in report.test_cases for result in case.actual_results}
    assert chunk.chunk_id not in chunk_ids
    assert all(len(case.actual_results) == 5 for case in report.test_cases if case.query.answerable)


def test_rule_29_audit_finds_a_damaged_point_that_no_query_finds(stored: Workspace, judged: Judge) -> None:
    chunk = passage(stored, "knee", "hinge")
    set_payload(stored, chunk, position="x")
    data = golden().model_dump(mode="json")
    data["queries"] = [query for query in data["queries"] if query["id"].startswith("gripper")]
    for query in data["queries"]:
        query["filters"] = {"url": "https://book.example/docs/gripper"}
    golden_set = GoldenSet.model_validate(data)
    assert not any("damaged" in issue for issue in judged(golden_set).issues)
    report = judged(golden_set, audit=True)
    assert report.audit is not None
    assert any(chunk.chunk_id in fault and "position is 'x'" in fault for fault in report.audit)
    assert not any("not in the index" in fault for fault in report.audit)
    assert [criterion.passed for criterion in report.criteria if criterion.name == "audit"] == [False]
    assert report.verdict == "FAIL"


def test_seed_000_report_names_damaged_results(stored: Workspace, judged: Judge, tmp_path: Path) -> None:
    chunk = passage(stored, "knee", "hinge")
    set_payload(stored, chunk, content_hash="0" * 64, created_at=None)
    report = judged()
    assert report.verdict == "FAIL"
    results = [result for case in report.test_cases for result in case.actual_results]
    (damaged,) = {tuple(result.damaged) for result in results if result.chunk_id == chunk.chunk_id}
    assert damaged == ("timestamp",)
    assert has_issue(report, f"{chunk.chunk_id} of {chunk.url}", "timestamp")
    complete = sum(not result.damaged for result in results)
    assert report.metadata_completeness_rate == complete / len(results) < 1.0
    hashed = sum(content_hash(result.content or "") == result.content_hash for result in results)
    assert report.hash_validation_pass_rate == hashed / len(results) < 1.0
    assert load_report(save_report(report, tmp_path / "reports")) == report


@pytest.mark.parametrize("field", ["title", "url", "source_path", "text"])
def test_audit_finds_a_missing_field(stored: Workspace, judged: Judge, field: str) -> None:
    """Also one that the catalog makes up for in an answer."""
    chunk = passage(stored, "battery", "motor")
    shard(stored).update(qdrant.UpdateOperation.delete_payload([point_id(chunk.chunk_id)], [field]))
    report = judged(audit=True)
    assert report.verdict == "FAIL"
    assert report.audit is not None
    assert any(chunk.chunk_id in finding for finding in report.audit)


def test_deleted_chunks_are_diagnosed_as_not_indexed(stored: Workspace, judged: Judge) -> None:
    gone = [passage(stored, "knee", part) for part in PARTS[:3]]
    delete(stored, *gone)
    report = judged()
    diagnosis = find_diagnosis(report, "knee")
    assert diagnosis.kind == "not_indexed"
    missed = {miss.chunk_id for miss in diagnosis.misses if miss.kind == "not_indexed"}
    assert missed == {chunk.chunk_id for chunk in gone}
    assert has_issue(report, "not indexed", "pertinent doctor")


def test_audit_finds_a_deleted_chunk(stored: Workspace, judged: Judge) -> None:
    chunk = passage(stored, "camera", "cable")
    delete(stored, chunk)
    report = judged(audit=True)
    assert report.verdict == "FAIL"
    assert report.audit is not None
    assert any("not in the index" in line and chunk.chunk_id in line for line in report.audit)


def test_audit_finds_shuffled_vectors(stored: Workspace, judged: Judge) -> None:
    """Every point keeps its text and gets another one's vectors."""
    request = qdrant.ScrollRequest(limit=1000, with_payload=True, with_vector=True)
    records, _ = shard(stored).scroll(request)
    vectors = [record.vector for record in records]
    moved = [*vectors[7:], *vectors[:7]]
    pairs = zip(records, moved, strict=True)
    points = [qdrant.Point(record.id, vector, record.payload) for record, vector in pairs]
    shard(stored).update(qdrant.UpdateOperation.upsert_points(points))
    report = judged(audit=True)
    assert report.verdict == "FAIL"
    assert report.criteria[0].value < 0.8
    assert report.audit is not None
    assert any("sampled with a vector of another text" in finding for finding in report.audit)


def test_chunk_positions_with_a_gap_are_named(stored: Workspace, judged: Judge) -> None:
    import sqlalchemy as sa

    chunk = passage(stored, "knee", "motor")
    catalog: Any = stored.catalog()
    with catalog._engine.begin() as connection:
        statement = "UPDATE documents SET order_index = 99 WHERE chunk_id = :chunk_id"
        connection.execute(sa.text(statement), {"chunk_id": chunk.chunk_id})
    report = judged()
    sequence = find_check(report, "chunk indices")
    assert not sequence.passed
    assert sequence.detail == ["docs/knee.md"]


def test_audit_of_an_undamaged_store_is_empty(judged: Judge) -> None:
    assert judged(audit=True).audit == []


def test_filtered_out_answer_is_diagnosed(stored: Workspace, judged: Judge) -> None:
    report = judged(change_query("knee", filters={"section": "The motor"}))
    diagnosis = find_diagnosis(report, "knee")
    assert diagnosis.kind == "filtered_out"
    assert "filter on section" in diagnosis.misses[0].detail


def test_answer_below_the_threshold_is_diagnosed(judged: Judge) -> None:
    report = judged(threshold=0.75)
    failed = [case for case in report.test_cases if case.query.answerable and case.status == "failed"]
    assert failed
    assert {case.diagnosis.kind for case in failed if case.diagnosis} == {"below_threshold"}
    assert has_issue(report, "lower the threshold")


def test_outranked_answer_is_diagnosed_with_its_rank_and_rivals(judged: Judge) -> None:
    """The labels say that another page answers, so that the first results are not relevant."""
    labels = [*labels_on("gripper"), *labels_on("knee", grade=0)]
    diagnosis = find_diagnosis(judged(change_query("knee", labels=labels)), "knee")
    assert diagnosis.kind == "outranked"
    assert all(miss.rank is not None and miss.rank > 5 for miss in diagnosis.misses)
    assert diagnosis.misses[0].cosine is not None
    assert [rival.rank for rival in diagnosis.rivals] == [1, 2, 3, 4, 5]
    assert all(rival.label == 0 for rival in diagnosis.rivals)


def test_unjudged_results_are_diagnosed(judged: Judge) -> None:
    report = judged(change_query("knee", labels=labels_on("knee", *PARTS[:3])))
    diagnosis = find_diagnosis(report, "knee")
    assert diagnosis.kind == "unjudged"
    assert diagnosis.unjudged >= 2
    assert has_issue(report, "pertinent label")


def test_missing_hashes_change_no_measure(stored: Workspace) -> None:
    """Chunks without a hash are no copies of each other: an irrelevant result stays irrelevant."""
    wrong = change_query("gripper", labels=labels_on("knee", "hinge"))
    hashed = validate(LocalPipeline(stored), wrong)
    unhashed = validate(UnhashedPipeline(LocalPipeline(stored)), wrong)
    assert unhashed.hash_validation_pass_rate == 0.0
    assert find_case(unhashed, "gripper").metrics["success@5"] == 0.0
    assert [case.metrics for case in unhashed.test_cases] == [case.metrics for case in hashed.test_cases]
    assert [case.diagnosis for case in unhashed.test_cases] == [case.diagnosis for case in hashed.test_cases]
    assert unhashed.fingerprints["corpus"] == hashed.fingerprints["corpus"]
    assert unhashed.passages == hashed.passages
