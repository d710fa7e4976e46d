"""The diagnosis of a failed query: each kind of failure on its own; further kinds are in test_damage."""

from __future__ import annotations

from dataclasses import replace

import pytest
import qdrant_edge as qdrant

from pertinent.identity import point_id
from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.testing.pages import page
from pertinent.types import Answer, SearchOptions
from pertinent.validation.diagnosis import Diagnosis
from pertinent.validation.validate import ValidationOptions, validate
from pertinent.workspace.workspace import Workspace

from .conftest import (
    LOST,
    PARTS,
    Judge,
    add_pages,
    change_query,
    copy_of_knee,
    find_case,
    find_diagnosis,
    golden,
    has_issue,
    labels_on,
)
from .test_damage import passage, shard

COPIES = [page(f"copy-{n}", {"": "The hinge of the knee, the hinge of the knee."}) for n in range(4)]


class RepeatingPipeline(LocalPipeline):
    """A pipeline that shows a text as often as it is stored."""

    def search(self, text: str, options: SearchOptions) -> Answer:
        return super().search(text, replace(options, distinct=False))


def test_crowded_out_is_diagnosed(stored: Workspace) -> None:
    add_pages(stored, *COPIES)
    report = validate(RepeatingPipeline(stored), golden(), ValidationOptions(together=False))
    diagnosis = find_diagnosis(report, "knee")
    assert diagnosis.kind == "crowded_out"
    assert diagnosis.detail == "3 of the first 5 results repeat another one"
    assert has_issue(report, "remove the repeated text")


def test_distinct_search_is_not_crowded_out(stored: Workspace, judged: Judge) -> None:
    add_pages(stored, *COPIES)
    assert find_case(judged(), "knee").status == "passed"


def test_changed_is_diagnosed(stored: Workspace, judged: Judge) -> None:
    """The index was rewritten, but not the catalog."""
    chunks = [passage(stored, "knee", part) for part in PARTS[:3]]
    unlike = [point_id(passage(stored, "battery", part).chunk_id) for part in PARTS[3:]]
    records, _ = shard(stored).scroll(qdrant.ScrollRequest(limit=1000, with_payload=True, with_vector=True))
    by_id = {str(record.id): record for record in records}
    vectors = [by_id[str(point)].vector for point in unlike]
    fields = {"title": "Battery", "section": ""}
    points = [
        qdrant.Point(record.id, vector, {**record.payload, **fields, "text": f"Not {record.payload['text']}"})
        for record, vector in zip((by_id[str(point_id(c.chunk_id))] for c in chunks), vectors, strict=True)
    ]
    shard(stored).update(qdrant.UpdateOperation.upsert_points(points))
    report = judged()
    diagnosis = find_diagnosis(report, "knee")
    assert diagnosis.kind == "changed"
    missed = {miss.chunk_id for miss in diagnosis.misses if miss.kind == "changed"}
    assert missed == {chunk.chunk_id for chunk in chunks}
    assert has_issue(report, "pertinent doctor --repair")


def test_not_found_is_diagnosed(judged: Judge) -> None:
    """Words alone find nothing that shares none with the query."""
    labels = [*labels_on("camera"), *labels_on("gripper", grade=0)]
    report = judged(change_query("gripper", text="gripper", labels=labels), ranking="lexical")
    diagnosis = find_diagnosis(report, "gripper")
    assert diagnosis.kind == "not_found"
    assert {miss.kind for miss in diagnosis.misses} == {"not_found"}
    assert all(miss.rank is None for miss in diagnosis.misses)
    assert "it is not among the 6 results" in diagnosis.detail
    assert has_issue(report, "another model may help")


def test_refused_is_diagnosed(judged: Judge) -> None:
    diagnosis = find_diagnosis(judged(change_query("knee", text=" ")), "knee")
    assert diagnosis.kind == "refused"
    assert "must not be empty" in diagnosis.detail
    assert diagnosis.misses == []


def test_false_answer_is_diagnosed(judged: Judge) -> None:
    report = judged(golden(answer_threshold=0.0))
    diagnosis = find_diagnosis(report, "taxes")
    assert diagnosis.kind == "false_answer"
    assert diagnosis.rivals[0].rank == 1
    assert "it has no answer, but" in diagnosis.detail
    assert has_issue(report, "raise the threshold")


def test_lost_labels_is_diagnosed(judged: Judge) -> None:
    diagnosis = find_diagnosis(judged(change_query("knee", labels=LOST)), "knee")
    assert diagnosis == Diagnosis(kind="lost_labels", detail="every label of a relevant passage is lost")


@pytest.mark.parametrize("query_id", ["knee", "taxes"])
def test_unmet_expected_criteria_are_the_reason_if_enough_is_relevant(judged: Judge, query_id: str) -> None:
    """Enough of the first five answer, or none should: lower results are not the reason."""
    report = judged(change_query(query_id, expected_criteria={"min_score": 0.999}))
    diagnosis = find_diagnosis(report, query_id)
    assert diagnosis.kind == "other"
    assert "min_score 0.999" in diagnosis.detail
    assert diagnosis.misses == []


def test_copy_of_a_text_is_missed_once(stored: Workspace, judged: Judge) -> None:
    """A text on two pages is shown once, and explained once."""
    add_pages(stored, copy_of_knee())
    labels = [*labels_on("knee"), *labels_on("gripper", grade=0)]
    diagnosis = find_diagnosis(judged(change_query("gripper", labels=labels)), "gripper")
    assert diagnosis.kind == "outranked"
    assert {miss.kind for miss in diagnosis.misses} == {"outranked"}
    titles = [miss.title for miss in diagnosis.misses]
    assert len(set(titles)) == len(titles) == 5


def test_answer_just_beyond_top_k_is_outranked(judged: Judge) -> None:
    diagnosis = find_diagnosis(judged(change_query("knee", top_k=2)), "knee")
    assert diagnosis.kind == "outranked"
    assert diagnosis.misses[0].rank == 3
    assert "it is at rank 3, and top_k is 2" in diagnosis.detail
