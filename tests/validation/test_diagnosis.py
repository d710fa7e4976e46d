"""Why a query failed: each reason by its name, where nothing but that is wrong.

What is missing from the index, filtered out, below the threshold, outranked or unjudged is in test_damage.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import qdrant_edge as qdrant

from pertinent._internal.progress import Silent
from pertinent.identity import point_id
from pertinent.surfaces.subjects import Local
from pertinent.testing.pages import Shelf, page
from pertinent.types import Answer, Page, SearchOptions
from pertinent.validation.diagnosis import Diagnosis
from pertinent.validation.golden.golden_set import GoldenSet
from pertinent.validation.report import ValidationReport
from pertinent.validation.validate import Options, validate
from pertinent.workspace.workspace import Workspace

from .conftest import PARTS, Judge, book, golden
from .test_damage import passage, shard, why


def asked(query_id: str, **changes: Any) -> GoldenSet:
    """The golden set with one query changed, which is no paraphrase of another any more."""
    data = golden().model_dump(mode="json")
    (query,) = (query for query in data["queries"] if query["id"] == query_id)
    query.update({"paraphrase_group": None, **changes})
    return GoldenSet.model_validate(data)


def on(name: str, *parts: str, grade: int = 1) -> list[dict[str, Any]]:
    """Labels on sections of a page."""
    return [{"page": f"docs/{name}.md", "anchor": f"the-{part}", "grade": grade} for part in parts or PARTS]


def add(stored: Workspace, *pages: Page) -> None:
    indexer = stored.indexer(Silent())
    indexer.apply(indexer.plan(Shelf(*book(), *pages)))


def told(report: ValidationReport, words: str) -> bool:
    return any(words in issue for issue in report.issues)


class Repeating(Local):
    """A pipeline that shows a text as often as it is stored."""

    def search(self, text: str, options: SearchOptions) -> Answer:
        return super().search(text, replace(options, distinct=False))


def test_crowded_out(stored: Workspace) -> None:
    copies = [page(f"copy-{n}", {"": "The hinge of the knee, the hinge of the knee."}) for n in range(4)]
    add(stored, *copies)
    report = validate(Repeating(stored), golden(), Options(together=False))
    found = why(report, "knee")
    assert found.kind == "crowded_out"
    assert found.detail == "3 of the first 5 results repeat another one"
    assert told(report, "remove the repeated text")


def test_a_search_that_shows_each_text_once_is_not_crowded(stored: Workspace, judged: Judge) -> None:
    add(stored, *(page(f"copy-{n}", {"": "The hinge of the knee, the hinge of the knee."}) for n in range(4)))
    (case,) = (case for case in judged().test_cases if case.query.id == "knee")
    assert case.status == "passed"


def test_changed(stored: Workspace, judged: Judge) -> None:
    """The index was written anew, and the catalog does not know of it."""
    chunks = [passage(stored, "knee", part) for part in PARTS[:3]]
    vectors = {point_id(passage(stored, "battery", part).chunk_id): part for part in PARTS[:3]}
    records, _ = shard(stored).scroll(qdrant.ScrollRequest(limit=1000, with_payload=True, with_vector=True))
    by_id = {str(record.id): record for record in records}
    others = [by_id[str(one)].vector for one in vectors]
    points = [
        qdrant.Point(record.id, vector, {**record.payload, "text": "Something else stands here now."})
        for record, vector in zip((by_id[str(point_id(c.chunk_id))] for c in chunks), others, strict=True)
    ]
    shard(stored).update(qdrant.UpdateOperation.upsert_points(points))
    report = judged()
    found = why(report, "knee")
    assert found.kind == "changed"
    missed = {miss.chunk_id for miss in found.misses if miss.kind == "changed"}
    assert missed == {chunk.chunk_id for chunk in chunks}
    assert told(report, "pertinent doctor --repair")


def test_not_found(judged: Judge) -> None:
    """Words alone find nothing that shares none with the query."""
    labels = [*on("camera"), *on("gripper", grade=0)]
    report = judged(asked("gripper", text="gripper", labels=labels), ranking="lexical")
    found = why(report, "gripper")
    assert found.kind == "not_found"
    assert {miss.kind for miss in found.misses} == {"not_found"}
    assert all(miss.rank is None for miss in found.misses)
    assert "it is not among the 6 results" in found.detail
    assert told(report, "another model may help")


def test_refused(judged: Judge) -> None:
    found = why(judged(asked("knee", text=" ")), "knee")
    assert found.kind == "refused"
    assert "must not be empty" in found.detail
    assert found.misses == []


def test_false_answer(judged: Judge) -> None:
    report = judged(golden(answer_threshold=0.0))
    found = why(report, "taxes")
    assert found.kind == "false_answer"
    assert found.rivals[0].rank == 1
    assert "it has no answer, but" in found.detail
    assert told(report, "raise the threshold")


def test_lost_labels(judged: Judge) -> None:
    lost = [{"page": "docs/gone.md", "quote": "nothing of it is left", "grade": 2}]
    found = why(judged(asked("knee", labels=lost)), "knee")
    assert found == Diagnosis(kind="lost_labels", detail="every label of a relevant passage is lost")


@pytest.mark.parametrize("query_id", ["knee", "taxes"])
def test_another_rule_that_is_not_met_is_the_reason_and_not_what_was_found(
    judged: Judge, query_id: str
) -> None:
    """Enough of the first five answer, or nothing should: what stands lower is no reason then."""
    found = why(judged(asked(query_id, expected_criteria={"min_score": 0.999})), query_id)
    assert found.kind == "other"
    assert "min_score 0.999" in found.detail
    assert found.misses == []


def test_a_copy_that_a_search_leaves_out_is_not_missed(stored: Workspace, judged: Judge) -> None:
    """A text that stands on two pages is shown once, and explained once."""
    (knee,) = (one for one in book() if one.slug == "knee")
    copy = replace(
        knee, document_id="copy-1", url="https://book.example/docs/copy", source_path="docs/copy.md"
    )
    add(stored, copy)
    found = why(judged(asked("gripper", labels=[*on("knee"), *on("gripper", grade=0)])), "gripper")
    assert found.kind == "outranked"
    assert {miss.kind for miss in found.misses} == {"outranked"}
    titles = [miss.title for miss in found.misses]
    assert len(set(titles)) == len(titles) == 5


def test_what_stands_just_beyond_top_k_is_told_so(judged: Judge) -> None:
    found = why(judged(asked("knee", top_k=2)), "knee")
    assert found.kind == "outranked"
    assert found.misses[0].rank == 3
    assert "it is at rank 3, and top_k is 2" in found.detail
