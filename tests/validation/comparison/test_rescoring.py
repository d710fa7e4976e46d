"""Compare across changes of the golden set: real runs on a real index, scored with the later labels.

The oracle is always a run of the earlier retrieval with the later labels: what the stored list scores when
it is scored again must be what that run scores.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from pertinent._internal.progress import NoProgress
from pertinent.errors import InvalidInput
from pertinent.settings import Settings
from pertinent.surfaces.library import Pertinent
from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import Page
from pertinent.validation.comparison.compare import MEASURES, Comparison, compare_reports
from pertinent.validation.golden.golden_set import GoldenSet
from pertinent.validation.report import ValidationReport
from pertinent.validation.scoring import MEASURES as ALL_MEASURES
from pertinent.validation.validate import ValidationOptions, validate
from pertinent.workspace.workspace import Workspace

NAMES = ("gripper", "knee", "camera", "battery")
PARTS = ("hinge", "spring", "cable", "shaft", "bearing", "motor")


def make_page(name: str, extra: str = "") -> Page:
    """A page whose sections are cut at 40 tokens and not at 120."""
    sections = {
        f"The {part}": [
            f"The {part} of the {name} belongs to the {name} alone.{extra}",
            f"Whoever builds a {name} checks the {part} of that {name} twice.",
            f"Once a month it is oiled by somebody who knows the {name} well, the {part} and all the rest.",
        ]
        for part in PARTS
    }
    return page(name, sections, title=f"The {name}")


def make_label(name: str, part: str, grade: int = 1, **fields: Any) -> dict[str, Any]:
    return {"page": f"docs/{name}.md", "anchor": f"the-{part}", "grade": grade, **fields}


def make_query(name: str, *labels: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": name, "text": f"the hinge of the {name}", "labels": list(labels), **fields}


def make_golden(queries: list[dict[str, Any]], **fields: Any) -> GoldenSet:
    return GoldenSet.model_validate({"name": "parts", "queries": queries, **fields})


def usual_queries() -> list[dict[str, Any]]:
    return [make_query(name, *(make_label(name, part) for part in PARTS[:4])) for name in NAMES]


class Book:
    """A book in a real index, cut in one way."""

    def __init__(self, folder: Path, chunk_tokens: int) -> None:
        settings = Settings(
            folder=folder, embedder="testing:hashed-words", chunk_tokens=chunk_tokens, query_cache=0
        )
        self.workspace = Workspace(settings)

    def index(self, *pages: Page) -> None:
        indexer = self.workspace.create_indexer(NoProgress())
        indexer.apply(indexer.plan(InMemorySource(*pages)))

    def reindex(self) -> None:
        with Pertinent(self.workspace) as opened:
            opened.reindex()

    def run(self, golden: GoldenSet, **options: Any) -> ValidationReport:
        usual = {"together": False, "diagnose": False}
        report = validate(LocalPipeline(self.workspace), golden, ValidationOptions(**(usual | options)))
        # What is compared is what was written.
        return ValidationReport.model_validate_json(report.model_dump_json())

    def compare_with_oracle(
        self, old: GoldenSet, new: GoldenSet, edit: Callable[[], None] = lambda: None
    ) -> tuple[Comparison, Comparison]:
        """Compare a run with the old labels, and the oracle, each with a run after an edit."""
        baseline, oracle = self.run(old, ranking="lexical"), self.run(new, ranking="lexical")
        edit()
        current = self.run(new, ranking="hybrid")
        return compare_reports(baseline, current), compare_reports(oracle, current)

    def edit_gripper(self) -> None:
        """Change the first passage of each section of a page."""
        steel = make_page("gripper", " It is made of steel, and not of wood.")
        self.index(steel, *map(make_page, NAMES[1:]))


@pytest.fixture
def open_book(tmp_path: Path) -> Iterator[Callable[..., Book]]:
    opened: list[Book] = []

    def open_it(chunk_tokens: int = 120, folder: str = "data") -> Book:
        opened.append(Book(tmp_path / folder, chunk_tokens))
        return opened[-1]

    yield open_it
    for book in opened:
        book.workspace.close()


@pytest.fixture
def book(open_book: Callable[..., Book]) -> Book:
    opened = open_book()
    opened.index(*map(make_page, NAMES))
    return opened


def figures(compared: Comparison, side: str) -> dict[str, float]:
    return {change.measure: getattr(change, side) for change in compared.changes}


def verdicts(compared: Comparison) -> set[str]:
    return {change.verdict for change in compared.changes}


def relabelled(*labels: dict[str, Any]) -> GoldenSet:
    """The usual set, with other labels for its first query."""
    return make_golden([make_query(NAMES[0], *labels), *usual_queries()[1:]])


OLD_LABELS = [make_label("gripper", part) for part in PARTS[:4]]
CHANGES = {
    "one label added": ([*OLD_LABELS, make_label("gripper", "motor", 2)], "1 label added"),
    "one label removed": (OLD_LABELS[1:], "1 label removed"),
    "one grade changed": ([make_label("gripper", "hinge", 2), *OLD_LABELS[1:]], "1 label regraded"),
    "a grade set to 0": ([make_label("gripper", "hinge", 0), *OLD_LABELS[1:]], "1 label regraded"),
    "a section taken out of a page": (
        [{"page": "docs/gripper.md"}, make_label("gripper", "hinge", 0), *OLD_LABELS[1:]],
        "1 label added, 1 regraded",
    ),
    "a second judge": (
        [*OLD_LABELS, make_label("gripper", "hinge", 0, judge="ann")],
        "1 label added",
    ),
    "all at once": (
        [
            make_label("gripper", "hinge", 2),
            *OLD_LABELS[2:],
            make_label("knee", "hinge"),
            make_label("knee", "motor"),
        ],
        "2 labels added, 1 removed, 1 regraded",
    ),
}


@pytest.mark.parametrize(("labels", "message"), CHANGES.values(), ids=CHANGES.keys())
def test_changed_labels_score_both_runs(book: Book, labels: list[dict[str, Any]], message: str) -> None:
    comparison, oracle = book.compare_with_oracle(make_golden(usual_queries()), relabelled(*labels))
    assert comparison.scored_with == f"Scored with the labels of AFTER (golden set changed: {message})."
    assert (comparison.n, comparison.rescored, comparison.unpaired) == (4, ["gripper"], [])
    assert comparison.changes == oracle.changes
    assert [change.measure for change in comparison.changes] == list(MEASURES)


def test_changed_labels_are_listed_with_both_grades(book: Book) -> None:
    labels = [make_label("gripper", "hinge", 2), *OLD_LABELS[2:], make_label("knee", "hinge")]
    comparison = compare_reports(book.run(make_golden(usual_queries())), book.run(relabelled(*labels)))
    assert {
        (label.query, label.location, label.baseline, label.current)
        for label in comparison.golden_change.labels
    } == {
        ("gripper", "docs/gripper.md#the-hinge", 1, 2),
        ("gripper", "docs/gripper.md#the-spring", 1, None),
        ("gripper", "docs/knee.md#the-hinge", None, 1),
    }


def test_same_run_shows_no_change_under_any_new_labels(book: Book) -> None:
    drawn = random.Random(5)  # noqa: S311  no secret
    locations = [(name, part) for name in NAMES for part in PARTS]
    before = book.run(make_golden(usual_queries()))
    for _ in range(15):
        queries = [
            make_query(
                name,
                *(
                    make_label(*location, grade=drawn.randint(0, 2))
                    for location in drawn.sample(locations, drawn.randint(1, 9))
                ),
                make_label(name, "hinge"),
            )
            for name in NAMES
        ]
        comparison = compare_reports(before, book.run(make_golden(queries)))
        assert verdicts(comparison) == {"no change"}
        assert (comparison.n, len(comparison.changes), comparison.rescored) == (4, 3, list(NAMES))


def test_rescored_list_matches_a_run_with_the_new_labels(book: Book) -> None:
    drawn = random.Random(7)  # noqa: S311  no secret
    locations = [(name, part) for name in NAMES for part in PARTS]
    before = book.run(make_golden(usual_queries()), ranking="lexical")
    shared = [name for name in ALL_MEASURES if not name.startswith(("rr", "map", "recall@100"))] + ["rr_best"]
    for _ in range(15):
        queries = [
            make_query(
                name,
                *(
                    make_label(*location, grade=drawn.randint(0, 2), judge=drawn.choice((None, "ann", "ben")))
                    for location in drawn.sample(locations, 8)
                ),
            )
            for name in NAMES
        ]
        new = make_golden(queries)
        after, oracle = book.run(new), book.run(new, ranking="lexical")
        expected = compare_reports(oracle, after, shared)
        assert compare_reports(before, after, shared).changes == expected.changes


def test_unchanged_labels_keep_the_figures_of_the_reports(book: Book) -> None:
    golden = make_golden(usual_queries())
    before, after = book.run(golden, ranking="lexical"), book.run(golden)
    comparison = compare_reports(before, after)
    assert (comparison.scored_with, comparison.rescored) == ("Scored with the same golden set.", [])
    for side, run in (("baseline", before), ("current", after)):
        assert figures(comparison, side) == pytest.approx(
            {name: run.metrics["all"][name].mean for name in MEASURES}, abs=1e-12
        )


def test_added_and_removed_queries_are_listed(book: Book) -> None:
    queries = usual_queries()
    before = book.run(make_golden(queries[:3]))
    after = book.run(make_golden(queries[1:]))
    comparison = compare_reports(before, after)
    assert comparison.n == 2
    assert (comparison.golden_change.queries_added, comparison.golden_change.queries_removed) == (
        ["battery"],
        ["gripper"],
    )
    assert "golden set changed: queries added: battery; removed: gripper" in comparison.scored_with
    assert verdicts(comparison) == {"no change"}


@pytest.mark.parametrize("changed", [{"text": "what a gripper is"}, {"filters": {"section": "The hinge"}}])
def test_query_with_another_text_or_filter_is_not_compared(book: Book, changed: dict[str, Any]) -> None:
    queries = usual_queries()
    before = book.run(make_golden(queries))
    after = book.run(make_golden([queries[0] | changed, *queries[1:]]))
    comparison = compare_reports(before, after)
    assert comparison.golden_change.queries_reworded == ["gripper"]
    assert "reworded: gripper" in comparison.scored_with
    assert comparison.n == 3


def test_different_top_k_is_noted(book: Book) -> None:
    queries = usual_queries()
    after = make_golden([query | {"top_k": 10} for query in queries])
    comparison = compare_reports(book.run(make_golden(queries)), book.run(after))
    assert comparison.n == 4
    assert {"name": "top_k", "baseline": "5", "current": "10"} in [
        entry.model_dump() for entry in comparison.differences
    ]
    assert any("it differs for: gripper" in note for note in comparison.notes)


def test_query_that_became_answerable_is_compared(book: Book) -> None:
    queries = usual_queries()
    unanswerable = make_query("gripper", answerable=False)
    before, after = book.run(make_golden([unanswerable, *queries[1:]])), book.run(make_golden(queries))
    comparison = compare_reports(before, after)
    assert (comparison.n, comparison.rescored) == (4, ["gripper"])
    assert verdicts(comparison) == {"no change"}
    back = compare_reports(after, before)
    assert back.n == 3
    assert any("have no answer now: gripper" in note for note in back.notes)


def test_new_labels_are_located_across_chunk_sizes(open_book: Callable[..., Book], book: Book) -> None:
    new = relabelled(*OLD_LABELS, make_label("gripper", "motor", 2), make_label("knee", "hinge"))
    before = book.run(make_golden(usual_queries()), ranking="lexical")
    oracle = book.run(new, ranking="lexical")
    book.workspace.close()
    recut = open_book(chunk_tokens=40)
    recut.reindex()
    recut = open_book(chunk_tokens=40)
    after = recut.run(new)
    assert after.fingerprints["chunker"] != before.fingerprints["chunker"]
    assert {case.relevant for case in after.test_cases} != {case.relevant for case in oracle.test_cases}
    comparison, expected = compare_reports(before, after), compare_reports(oracle, after)
    assert (comparison.n, comparison.rescored) == (4, ["gripper"])
    assert comparison.changes[:2] == expected.changes[:2]
    ndcg = comparison.changes[2]
    assert (ndcg.measure, ndcg.n) == ("ndcg@10", 3)
    assert any(
        "ndcg@10 is not compared for 1 query" in note and "how many of its passages" in note
        for note in comparison.notes
    )


def test_labels_in_both_sets_are_scored_on_edited_pages(book: Book) -> None:
    new = relabelled(make_label("gripper", "hinge", 2), *OLD_LABELS[1:])
    comparison, oracle = book.compare_with_oracle(make_golden(usual_queries()), new, book.edit_gripper)
    assert (comparison.n, comparison.rescored) == (4, ["gripper"])
    assert comparison.changes == oracle.changes


def test_new_label_on_an_edited_page_leaves_the_query_out(book: Book) -> None:
    new = relabelled(*OLD_LABELS, make_label("gripper", "motor"))
    comparison, _ = book.compare_with_oracle(make_golden(usual_queries()), new, book.edit_gripper)
    assert (comparison.n, comparison.unpaired) == (3, ["gripper"])
    assert any("their pages were edited" in note and "gripper" in note for note in comparison.notes)


def test_results_on_edited_pages_are_recognised_by_their_text(book: Book) -> None:
    """A section above all others moves every span, and changes no other passage."""
    new = relabelled(*OLD_LABELS, make_label("gripper", "motor", 2), make_label("gripper", "bearing", 0))

    def insert_section() -> None:
        usual = make_page("gripper")
        sections = {"News": "The gripper is painted red now."} | {
            section.path[-1]: [usual.text[block.start : block.end] for block in section.blocks]
            for section in usual.sections
        }
        book.index(page("gripper", sections, title="The gripper"), *map(make_page, NAMES[1:]))

    comparison, oracle = book.compare_with_oracle(make_golden(usual_queries()), new, insert_section)
    assert (comparison.n, comparison.rescored, comparison.unpaired) == (4, ["gripper"], [])
    assert comparison.changes[:2] == oracle.changes[:2]


def test_results_on_removed_pages_are_unjudged(book: Book) -> None:
    """The knee's page is removed, and the gripper gets a label that it did not have."""
    gripper, _, camera, _ = usual_queries()
    new = make_golden([make_query("gripper", *OLD_LABELS, make_label("gripper", "motor")), camera])
    (case, _) = book.run(make_golden([gripper, camera]), ranking="lexical").test_cases
    assert "knee" in " ".join([*(result.chunk_id for result in case.actual_results), *case.further])
    comparison, oracle = book.compare_with_oracle(
        make_golden([gripper, camera]),
        new,
        lambda: book.index(*(make_page(name) for name in NAMES if name != "knee")),
    )
    assert (comparison.n, comparison.rescored) == (2, ["gripper"])
    assert comparison.changes == oracle.changes


def test_status_change_under_other_labels_is_only_noted(book: Book) -> None:
    before = book.run(relabelled(*(make_label("gripper", part) for part in PARTS)))
    after = book.run(relabelled(*(make_label("battery", part) for part in PARTS)))
    assert [case.status for case in (before.test_cases[0], after.test_cases[0])] == ["passed", "failed"]
    comparison = compare_reports(before, after)
    assert comparison.newly_failing == []
    assert any("their labels or expectations changed: gripper" in note for note in comparison.notes)


def test_judged_pages_are_rescored(book: Book) -> None:
    def make_set(*names: str) -> GoldenSet:
        labels = [{"page": f"docs/{name}.md", "grade": 1} for name in names]
        criteria = {"queries_reaching": 0, "mrr": 0}
        return make_golden([make_query("gripper", *labels)], unit="page", criteria=criteria)

    comparison, oracle = book.compare_with_oracle(make_set("gripper"), make_set("gripper", "knee", "camera"))
    assert comparison.rescored == ["gripper"]
    assert comparison.changes == oracle.changes


def test_different_units_are_refused(book: Book) -> None:
    queries = [make_query("gripper", {"page": "docs/gripper.md", "grade": 1})]
    by_page, by_passage = make_golden(queries, unit="page"), make_golden(queries)
    with pytest.raises(InvalidInput, match="judges each page and the other each passage"):
        compare_reports(book.run(by_page), book.run(by_passage))


def test_text_on_two_pages_is_found_on_either(open_book: Callable[..., Book]) -> None:
    """The list has the text from one page; the new label points at the other."""
    shared = "The safety notice: keep your fingers away from the hinge of the gripper at all times."
    book = open_book(folder="copies")
    more = "More about the {}, which is long enough to be a passage of its own beside the notice above it."
    pages = [page(name, {"Notice": shared, "More": more.format(name)}) for name in ("arm", "leg")]
    book.index(*pages)
    query = make_query("gripper", {"page": "docs/arm.md", "anchor": "more", "grade": 1})
    before = book.run(make_golden([query]))
    (first, *_) = before.test_cases[0].actual_results
    assert first.content == shared
    copy = "leg" if "docs/arm" in str(first.url) else "arm"
    label = {"page": f"docs/{copy}.md", "anchor": "notice", "grade": 2}
    new = make_golden([make_query("gripper", label)])
    comparison = compare_reports(before, book.run(new))
    assert verdicts(comparison) == {"no change"}
    assert figures(comparison, "baseline")["rr_best"] == 1.0


def test_comparison_of_rankings_is_symmetric(book: Book) -> None:
    golden = make_golden(usual_queries())
    runs = [book.run(golden, ranking=ranking) for ranking in ("hybrid", "dense", "lexical")]
    for run in runs:
        assert verdicts(compare_reports(run, run)) == {"no change"}
    for first, second in combinations(runs, 2):
        forth, back = compare_reports(first, second), compare_reports(second, first)
        assert figures(forth, "baseline") == figures(back, "current")


def test_report_without_label_locations_is_refused(book: Book) -> None:
    before = book.run(make_golden(usual_queries()))
    after = book.run(relabelled(*OLD_LABELS[1:]))
    with pytest.raises(InvalidInput, match="labels lack their locations"):
        compare_reports(before, after.model_copy(update={"label_locations": {}}))


def test_report_without_labels_is_compared_only_with_the_same_golden_set(book: Book) -> None:
    labelled = book.run(make_golden(usual_queries()))
    cases = [case.model_copy(update={"labels": []}) for case in labelled.test_cases]
    without = labelled.model_copy(update={"test_cases": cases})
    assert compare_reports(labelled, without).n == compare_reports(without, labelled).n == 4
    changed = book.run(relabelled(*OLD_LABELS[1:]))
    for pair in ((without, changed), (changed, without)):
        with pytest.raises(InvalidInput, match="has no labels"):
            compare_reports(*pair)


def test_new_label_is_located_where_another_query_had_it(book: Book) -> None:
    """Its page was edited, but the baseline knows the location from the other query."""
    label = make_label("gripper", "motor")
    knee = make_query("knee", label)
    new = make_golden([make_query("gripper", *OLD_LABELS, label), knee])
    old = make_golden([usual_queries()[0], knee])
    comparison, oracle = book.compare_with_oracle(old, new, book.edit_gripper)
    assert comparison.rescored == ["gripper"]
    assert comparison.changes == oracle.changes
