"""Seed 000 end to end: the fields of a report, its formulas and its verdict."""

from __future__ import annotations

import hashlib
import json
import math
import re
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pertinent.embedders.cached import CachedQueries
from pertinent.errors import IndexFailure, InvalidInput
from pertinent.surfaces.library import Pertinent
from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.testing.embedder import HashedWords
from pertinent.types import Answer, SearchOptions
from pertinent.validation import rendering, report_files, runner
from pertinent.validation.criteria import Criteria
from pertinent.validation.golden.golden_set import GoldenSet, fingerprint_golden, load_golden_file
from pertinent.validation.report import ValidationReport
from pertinent.validation.runner import WARM_UP
from pertinent.validation.validate import NoVerdict, ValidationOptions, validate
from pertinent.workspace.workspace import Workspace

from .conftest import (
    LOST,
    PARTS,
    FailingPipeline,
    Judge,
    add_pages,
    change_query,
    copy_of_knee,
    find_case,
    find_check,
    find_diagnosis,
    golden,
    has_issue,
    labels_on,
)

SEED_FIELDS = {
    "timestamp": str, "total_queries": int, "avg_precision_at_5": float, "mrr": float,
    "avg_latency_ms": float, "p95_latency_ms": float, "p99_latency_ms": float,
    "metadata_completeness_rate": float, "hash_validation_pass_rate": float, "test_cases": list,
    "summary": str, "issues": list,
}  # fmt: skip


def test_healthy_pipeline_passes(judged: Judge) -> None:
    report = judged(audit=True)
    assert report.verdict == "PASS", report.summary
    assert report.summary.startswith("PASS: 8/8 answerable queries (100%) achieved precision@5 >= 0.80")
    assert all(criterion.passed for criterion in report.criteria)
    assert {check.name: check.passed for check in report.checks} == {
        "specific queries": True, "broad queries": None, "duplicate passages": True, "paraphrases": True,
        "paraphrases, by page": True, "false positives among queries without an answer": True,
        "chunk indices": True, "50 queries at once": True,
    }  # fmt: skip


def test_seed_000_fields_stand_at_the_top_level_with_their_types(judged: Judge) -> None:
    data = json.loads(judged().model_dump_json())
    assert {name: type(data[name]) for name in SEED_FIELDS} == SEED_FIELDS
    assert data["timestamp"].endswith("Z")
    assert data["total_queries"] == len(data["test_cases"]) == 10
    for rate in ("avg_precision_at_5", "mrr", "metadata_completeness_rate", "hash_validation_pass_rate"):
        assert 0.0 <= data[rate] <= 1.0


def test_seed_000_test_cases_have_their_fields_and_their_rules(judged: Judge) -> None:
    for case in json.loads(judged().model_dump_json())["test_cases"]:
        assert {"text", "top_k", "query_type"} <= set(case["query"])
        assert len(case["relevance_labels"]) == len(case["actual_results"]) == len(case["judged"])
        assert set(case["relevance_labels"]) <= {0, 1, 2}
        assert 0.0 <= case["precision_at_k"] <= 1.0
        assert case["rank_of_best"] is None or case["rank_of_best"] >= 1
        for result in case["actual_results"]:
            assert 0.0 <= result["similarity_score"] <= 1.0
            assert result["chunk_index"] >= 0
            assert result["timestamp"].endswith("Z")
            digest = hashlib.sha256(result["content"].encode("utf-8")).hexdigest()
            assert result["content_hash"] == digest
            assert result["url"].startswith("https://")
            assert result["title"]


def test_seed_000_rank_of_best_is_the_first_result_with_the_highest_label(judged: Judge) -> None:
    """Rule 12 in docs/seeds.md: a label 1 above the only 2 is not the best."""
    labels = [*labels_on("knee", "spring", grade=2), *labels_on("knee", "hinge", "cable", "shaft")]
    case = find_case(judged(change_query("knee", labels=labels)), "knee")
    assert case.relevance_labels[0] == 1
    assert case.rank_of_best == case.relevance_labels.index(2) + 1 > 1


def test_empty_query_passes_with_a_refusal(judged: Judge) -> None:
    case = find_case(judged(), "empty")
    assert case.status == "refused"
    assert "must not be empty" in (case.error or "")


def test_false_answer_is_an_issue_but_no_fail(judged: Judge) -> None:
    report = judged(golden(answer_threshold=0.0))
    assert report.verdict == "PASS"
    assert has_issue(report, "taxes", "it has no answer")
    assert not find_check(report, "false positives among queries without an answer").passed


def test_strict_criteria_count_acceptance_checks(judged: Judge) -> None:
    report = judged(golden(answer_threshold=0.0, criteria={"strict": True}))
    assert report.verdict == "FAIL"
    assert "false positives among queries without an answer" in report.summary


def test_unmet_expected_criteria_are_issues_and_fail_only_their_query(judged: Judge) -> None:
    """Rule 20 in docs/seeds.md."""
    criteria = {"min_score": 0.999, "expected_topic": "zeppelin"}
    report = judged(change_query("knee", expected_criteria=criteria))
    case = find_case(report, "knee")
    assert case.status == "failed"
    assert has_issue(report, "min_score 0.999")
    assert has_issue(report, "zeppelin")
    assert report.verdict == "PASS"
    assert report.avg_precision_at_5 == judged().avg_precision_at_5


def test_seed_000_further_expected_criteria_are_kept_and_shown_not_judged(judged: Judge) -> None:
    """Rule 30 in docs/seeds.md."""
    further = {"expected_topic": "knee", "max_age_days": 30, "reviewer": "<b>ann</b>"}
    report = judged(change_query("knee", expected_criteria=further))
    case = find_case(report, "knee")
    assert case.status == "passed"
    read_back = ValidationReport.model_validate_json(report.model_dump_json())
    stored = find_case(read_back, "knee")
    assert stored.expected_criteria.model_dump(exclude_none=True) == further
    page = rendering.render_html(report)
    assert "<bdi>max_age_days</bdi> (not judged)</dt><dd><bdi>30</bdi>" in page
    assert "&lt;b&gt;ann&lt;/b&gt;" in page
    assert "<b>ann</b>" not in page


@pytest.mark.parametrize(
    ("criteria", "named"),
    [
        ({"precision_at_5": 1.0, "queries_reaching": 1.0, "at_least": {"recall@5": 1.0}}, "recall@5"),
        ({"p95_latency_ms": 1e-9}, "p95 latency"),
        ({"at_least": {"p@10": 1.0}, "mrr": 1.0}, "p@10"),
    ],
)
def test_unmet_criterion_fails_and_is_named(judged: Judge, criteria: dict[str, Any], named: str) -> None:
    report = judged(golden(criteria=criteria))
    assert report.verdict == "FAIL"
    assert named in report.summary
    assert [criterion.name for criterion in report.criteria if not criterion.passed]


def test_unknown_measure_is_refused_before_any_search(judged: Judge) -> None:
    with pytest.raises(InvalidInput, match="bogus"):
        judged(golden(criteria={"at_least": {"bogus@3": 0.5}}))


def test_every_measure_can_be_required(judged: Judge) -> None:
    names = list(judged(together=False).metrics["all"])
    assert "span_recall@5" in names
    criteria = {"at_least": dict.fromkeys([*names, "p@7", "ndcg"], 0.001)}
    report = judged(golden(criteria=criteria), together=False)
    values = {criterion.name: criterion.value for criterion in report.criteria}
    for name in names:
        assert values[name] == pytest.approx(report.metrics["all"][name].mean)
    assert {"p@7", "ndcg"} <= set(values)


def test_share_of_queries_has_a_wilson_interval(judged: Judge) -> None:
    """Where all eight pass, the bootstrap can only draw passes; the Wilson interval has a width."""
    report = judged(golden(criteria={"at_least": {"success@5": 0.5}}), together=False)
    names = ("queries with", "success@5")
    shares = [criterion for criterion in report.criteria if criterion.name.startswith(names)]
    assert [criterion.value for criterion in shares] == [1.0, 1.0]
    for criterion in shares:
        assert [criterion.low, criterion.high] == pytest.approx([0.676, 1.0], abs=1e-3)
        assert "Wilson" in criterion.detail
    assert report.metrics["all"]["success@5"].low == 1.0


def test_criteria_have_values_and_means_have_intervals(judged: Judge) -> None:
    report = judged()
    assert [criterion.name for criterion in report.criteria] == [
        "queries with P@5 ≥ 0.80",
        "MRR (answerable)",
        "metadata completeness",
        "hash validation",
        "p95 latency (ms)",
    ]
    for criterion in report.criteria[:2]:
        assert criterion.low is not None
        assert criterion.high is not None
        assert criterion.low <= criterion.value <= criterion.high
    groups = {"all", "type:specific", "type:paraphrase", "category:factual", "type:specific/category:factual"}
    assert groups == set(report.metrics)
    for means in report.metrics.values():
        for mean in means.values():
            assert mean.low <= mean.mean + 1e-12
            assert mean.mean <= mean.high + 1e-12


@pytest.mark.parametrize("concurrency", [1, 8])
def test_second_run_has_the_same_results_also_with_concurrency(judged: Judge, concurrency: int) -> None:
    first, second = judged(), judged(concurrency=concurrency)
    assert (first.metrics, first.fingerprints) == (second.metrics, second.fingerprints)
    for case, repeated in zip(first.test_cases, second.test_cases, strict=True):
        assert case.actual_results == repeated.actual_results


def test_failed_search_counts_0_and_is_never_dropped(pipeline: LocalPipeline) -> None:
    intact = validate(pipeline, golden())
    broken = validate(FailingPipeline(pipeline, "knee hinge"), golden())
    assert broken.total_queries == intact.total_queries
    assert broken.mrr == pytest.approx((intact.mrr * 10 - 1) / 10)
    assert broken.mrr_answerable == pytest.approx((intact.mrr_answerable * 8 - 1) / 8)
    assert broken.avg_precision_at_5 == pytest.approx((intact.avg_precision_at_5 * 10 - 1) / 10)
    case = find_case(broken, "knee-again")
    assert (case.status, case.precision_at_k) == ("error", 0.0)
    assert find_diagnosis(broken, "knee-again").kind == "error"
    assert has_issue(broken, "1 search failed and counts as 0", "on fire")


class FailingDeepSearch(FailingPipeline):
    """A pipeline that fails where more results are requested than callers do."""

    def search(self, text: str, options: SearchOptions) -> Answer:
        if options.top_k > 10:
            raise IndexFailure("the index is on fire")
        return self._inner.search(text, options)


def test_unreadable_deep_ranking_gives_invalid(pipeline: LocalPipeline) -> None:
    report = validate(FailingDeepSearch(pipeline), golden(), ValidationOptions(together=False))
    assert report.verdict == "INVALID"
    message = r"\d+ deep rankings could not be read: IndexFailure: the index is on fire"
    assert re.search(message, report.summary)


def test_store_that_is_down_gives_no_verdict(pipeline: LocalPipeline) -> None:
    with pytest.raises(NoVerdict, match="on fire"):
        validate(FailingPipeline(pipeline), golden())


def test_lost_labels_are_invalid_unless_allowed(judged: Judge) -> None:
    bad = {"page": "docs/knee.md", "quote": "no such words anywhere", "grade": 1}
    labels = [*labels_on("knee"), bad]
    report = judged(change_query("knee", labels=labels))
    assert report.verdict == "INVALID"
    assert [(fault.query, fault.status) for fault in report.label_faults] == [("knee", "lost")]
    allowed = judged(change_query("knee", golden(criteria={"lost_labels": 1}), labels=labels))
    assert allowed.verdict == "PASS"
    assert any("is lost" in note for note in allowed.preflight)


def test_lost_label_does_not_change_the_measures(judged: Judge) -> None:
    """It is a fault of the golden set, not of retrieval."""
    golden_set = golden(criteria={"lost_labels": 1})
    labels = [*labels_on("knee", PARTS[0], grade=2), *labels_on("knee", *PARTS[1:]), *LOST]
    assert judged(change_query("knee", golden_set, labels=labels)).metrics == judged(golden_set).metrics


def test_preflight_notes_a_ceiling_below_the_criterion(judged: Judge) -> None:
    data = golden().model_dump(mode="json")
    for query in data["queries"]:
        query["labels"] = query["labels"][:1]
    report = judged(GoldenSet.model_validate(data))
    assert report.verdict == "INVALID"
    assert report.golden.ceiling == 0.0
    assert any("can't reach P@5 0.80" in note and "(0.2)" in note for note in report.preflight)
    assert any("the criterion can't be met" in note for note in report.preflight)


def test_seed_000_percentiles_of_few_queries_are_called_interpolated(judged: Judge) -> None:
    report = judged()
    assert report.p95_latency_ms < max(case.latency_ms for case in report.test_cases)
    assert has_issue(report, "p95 is interpolated from 10 queries")
    assert has_issue(report, "p99 is interpolated from 10 queries")
    assert report.criteria[4].detail == "interpolated from 10 queries"
    for output in (rendering.render_html(report), rendering.render_markdown(report)):
        assert "p95 is interpolated from 10 queries" in output
        assert "the maximum" not in output


def test_preflight_notes_duplicate_texts_and_few_queries(judged: Judge) -> None:
    report = judged(change_query("taxes", text="Knee  hinge", answerable=True))
    assert "these queries have the same text: knee-again, taxes" in report.preflight
    assert any("only 9 queries have an answer" in note and "±" in note for note in report.preflight)


def test_preflight_names_labels_on_all_sections_of_a_page(judged: Judge) -> None:
    """A forgotten anchor, or one that YAML takes for a comment, makes the whole page relevant."""
    labels = [
        {"page": "docs/knee.md"},
        {"page": "docs/gripper.md", "grade": 0},
        *labels_on("camera", "hinge"),
    ]
    report = judged(change_query("knee", labels=labels))
    assert [note for note in report.preflight if "all sections" in note] == [
        "1 label covers all sections of a page; if only a part of it answers the question, give an anchor or "
        "a quote: docs/knee.md of knee"
    ]
    assert not any("all sections" in note for note in judged().preflight)


def test_preflight_names_zeros_without_effect(judged: Judge) -> None:
    labels = [
        {"page": "docs/knee.md"},
        *labels_on("knee", "hinge", grade=0),
        *labels_on("knee", "spring", grade=0),
        {"page": "docs/knee.md", "quote": "The spring of the knee", "grade": 1},
        *labels_on("knee", "shaft", grade=0),
        *labels_on("knee", "shaft"),
        {"page": "docs/camera.md", "grade": 0},
        *labels_on("camera", "hinge"),
    ]
    by_another_judge = [{**label, "judge": "ada"} for label in labels_on("knee", "cable", grade=0)]
    report = judged(change_query("knee", labels=[*labels, *by_another_judge]))
    assert [note for note in report.preflight if "no effect" in note] == [
        "2 labels with grade 0 have no effect, since the same passages have more specific labels, or equally "
        "specific ones, with a higher grade: docs/knee.md#the-spring of knee, docs/knee.md#the-shaft of knee"
    ]


def test_grade_0_takes_a_section_out_of_a_label_on_its_page(judged: Judge) -> None:
    labels = [{"page": "docs/knee.md"}, *labels_on("knee", "hinge", grade=0)]
    report = judged(change_query("knee", labels=labels))
    case = find_case(report, "knee")
    grades = {
        result.anchor: grade
        for result, grade in zip(case.actual_results, case.relevance_labels, strict=True)
        if (result.url or "").endswith("/knee")
    }
    assert grades.pop("the-hinge") == 0
    assert set(grades.values()) == {2}
    assert case.judged[[result.anchor for result in case.actual_results].index("the-hinge")]
    assert case.relevant == len(PARTS) - 1
    # The page is labelled on purpose, and not because an anchor was forgotten.
    assert not any("all sections" in note or "no effect" in note for note in report.preflight)


@pytest.mark.parametrize("labels", [[], labels_on("knee", "hinge", grade=0)])
def test_query_without_a_relevant_label_is_invalid(judged: Judge, labels: list[dict[str, Any]]) -> None:
    report = judged(change_query("taxes", answerable=True, labels=labels))
    assert "1 answerable query has no label of a relevant passage: taxes" in report.preflight
    assert report.verdict == "INVALID"
    assert report.summary.startswith("INVALID: no label says what answers taxes: label it, or mark it")


def test_paraphrase_groups_with_low_overlap_are_named(judged: Judge) -> None:
    report = judged(change_query("knee-again", text="the spring of the camera"), together=False)
    paraphrases = find_check(report, "paraphrases")
    assert paraphrases.n == 4
    assert paraphrases.value == pytest.approx(0.75)
    assert paraphrases.detail == ["group knee, 0% in common: knee, knee-again"]
    assert paraphrases.passed
    assert "on average" in paraphrases.target
    assert "group knee, 0% in common: knee, knee-again" in rendering.render_html(report)


def test_paraphrase_overlap_is_reported_by_page_too(judged: Judge) -> None:
    by_passage, by_page = (
        find_check(judged(together=False), name) for name in ("paraphrases", "paraphrases, by page")
    )
    assert by_page.n == by_passage.n == 4
    assert "first three pages" in by_page.target
    changed = judged(change_query("knee-again", text="the spring of the camera"), together=False)
    assert (find_check(changed, "paraphrases, by page").value or 0) < (by_page.value or 0)


class ConfusedPipeline(FailingPipeline):
    """Answers another query where several are run at once."""

    def __init__(self, inner: LocalPipeline) -> None:
        super().__init__(inner)
        self._searching = threading.Semaphore(1)

    def search(self, text: str, options: SearchOptions) -> Answer:
        alone = self._searching.acquire(blocking=False)
        try:
            return self._inner.search(text if alone else "battery", options)
        finally:
            if alone:
                self._searching.release()


def test_concurrency_check_finds_other_results_than_alone(pipeline: LocalPipeline) -> None:
    report = validate(ConfusedPipeline(pipeline), golden())
    concurrency = find_check(report, "50 queries at once")
    assert not concurrency.passed
    assert any("results differ from those of a single query" in line for line in concurrency.detail)


def test_report_that_cant_be_written_leaves_no_file(
    judged: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = judged()

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(InvalidInput, match="No space left"):
        report_files.save_report(report, tmp_path / "reports")
    assert not list((tmp_path / "reports").iterdir())


def test_report_is_named_by_its_time_and_round_trips(judged: Judge, tmp_path: Path) -> None:
    report = judged()
    first = report_files.save_report(report, tmp_path / "validation_results")
    second = report_files.save_report(report, tmp_path / "validation_results")
    stamp = report.timestamp.replace("-", "").replace(":", "").replace("T", "_").removesuffix("Z")
    assert first.name == f"report_{stamp}.json"
    assert second.name == f"report_{stamp}_2.json"
    assert report_files.load_report(first) == report
    assert report_files.list_reports(first.parent) == [first, second]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        pytest.param("[" * 20_000, "not JSON that can be read: it is nested too deeply", id="deep nesting"),
        pytest.param("1" * 5000, "not JSON that can be read: Exceeds the limit", id="huge number"),
        ("[]", "not a report"),
        ('{"schema_version": 99}', "another version of Pertinent"),
        ("{}", "not a report"),
        ('{"schema_version": 1}', "another version of Pertinent; run `pertinent validate` again"),
    ],
)
def test_file_that_is_not_a_report_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(InvalidInput, match=message):
        report_files.load_report(tmp_path / "report.json")


def test_report_with_deeply_nested_options_is_refused(judged: Judge, tmp_path: Path) -> None:
    path = report_files.save_report(judged(), tmp_path)
    nested: dict[str, Any] = {}
    for _ in range(500):
        nested = {"a": nested}
    path.write_text(json.dumps({**json.loads(path.read_text()), "options": {"ranking": nested}}))
    with pytest.raises(InvalidInput, match=r"is not a report: options\.ranking"):
        report_files.load_report(path)


def test_report_without_labels_is_refused_with_advice(judged: Judge, tmp_path: Path) -> None:
    path = report_files.save_report(judged(), tmp_path)
    stored = json.loads(path.read_text())
    del stored["test_cases"][0]["labels"]
    path.write_text(json.dumps(stored))
    with pytest.raises(InvalidInput, match="another version of Pertinent; run `pertinent validate`"):
        report_files.load_report(path)


def test_full_precision_is_kept(judged: Judge, tmp_path: Path) -> None:
    report = judged()
    path = report_files.save_report(report, tmp_path)
    stored = json.loads(path.read_text())
    assert stored["avg_latency_ms"] == report.avg_latency_ms
    assert not math.isclose(stored["avg_latency_ms"], round(stored["avg_latency_ms"], 3), abs_tol=1e-12)


def test_golden_fingerprint_depends_on_queries_and_labels() -> None:
    expected = fingerprint_golden(golden())
    assert fingerprint_golden(golden(name="other", description="words")) == expected
    assert fingerprint_golden(golden(pages={"docs/knee.md": "https://book.example/docs/knee"})) == expected
    assert fingerprint_golden(change_query("knee", text="another question")) != expected
    assert fingerprint_golden(change_query("knee", labels=[], paraphrase_group="knee")) != expected


def test_fingerprints_name_corpus_and_model(judged: Judge) -> None:
    fingerprints = judged().fingerprints
    assert fingerprints["embedder"] == "testing:hashed-words"
    assert fingerprints["chunker"].startswith("structure-")
    assert len(fingerprints["corpus"]) == len(fingerprints["golden"]) == 64


def test_criteria_of_one_run(pipeline: LocalPipeline) -> None:
    report = validate(pipeline, golden(), ValidationOptions(), Criteria(mrr=1.0, at_least={"p@1": 1.0}))
    assert "p@1" in [criterion.name for criterion in report.criteria]


def test_store_that_fails_during_the_run_is_invalid_whatever_was_refused(pipeline: LocalPipeline) -> None:
    """The empty query is refused without a search, and must not hide that all searches fail."""
    texts = [query.text for query in golden().queries]
    report = validate(FailingPipeline(pipeline, *texts), golden())
    assert report.verdict == "INVALID"
    assert "every search failed" in report.summary


def test_seed_000_measures_use_top_k_results_only(judged: Judge) -> None:
    """With top_k 2 the third result does not count, though it is read for other measures."""
    case = find_case(judged(change_query("knee", top_k=2, labels=labels_on("knee"))), "knee")
    assert len(case.actual_results) == 2
    assert case.metrics["p@5"] == 0.4
    assert case.precision_at_k == 1.0
    assert case.metrics["recall@10"] == 1.0


def test_seed_000_rank_of_best_is_none_where_the_best_is_beyond_top_k(judged: Judge) -> None:
    """Rule 12 in docs/seeds.md: rank_of_best is a rank among the results."""
    report = judged(change_query("knee", labels=labels_on("camera", "motor", grade=2)))
    case = find_case(report, "knee")
    assert case.rank_of_best is None
    assert case.metrics["rr_best"] == 0.0
    assert case.metrics["rr"] > 0.0
    ranks = [case.rank_of_best for case in report.test_cases]
    assert report.mrr == pytest.approx(sum(1 / rank if rank else 0 for rank in ranks) / len(ranks))


def test_query_with_only_lost_labels_is_outside_the_means_and_named(judged: Judge) -> None:
    report = judged(change_query("knee", golden(criteria={"lost_labels": 1}), labels=LOST))
    assert report.verdict == "PASS"
    assert report.golden.scored == 7
    assert report.avg_precision_at_5_answerable == judged().avg_precision_at_5_answerable
    assert has_issue(report, "can't be judged", "knee")


@pytest.mark.parametrize("options", [{"threshold": 1.5}, {"concurrency": 0}, {"concurrency": 65}])
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ValidationOptions(**options)


def test_library_applies_criteria_of_the_settings(stored: Workspace) -> None:
    stored.settings = stored.settings.model_copy(update={"criteria": {"p95_latency_ms": 1e-9}})
    assert Pertinent(stored).validate(golden()).verdict == "FAIL"


def test_query_cache_is_bypassed(stored: Workspace) -> None:
    """Each query is embedded again, however often it was run."""
    embedded: list[str] = []

    class CountingEmbedder(HashedWords):
        def embed_queries(self, texts: Any) -> Any:
            embedded.extend(texts)
            return super().embed_queries(texts)

    cached = CachedQueries(CountingEmbedder(), 100)
    for _ in range(2):
        validate(LocalPipeline(stored, cached), golden(), ValidationOptions(together=False))
    timed_and_deep = 2 * 2
    assert embedded.count("knee hinge") == timed_and_deep


class TickingPipeline(FailingPipeline):
    """Each search takes a fixed time, by a clock that nothing else moves."""

    def __init__(self, inner: LocalPipeline) -> None:
        super().__init__(inner)
        self.now = 0.0
        self.texts: list[str] = []

    def search(self, text: str, options: SearchOptions) -> Answer:
        self.texts.append(text)
        self.now += 60.0 if text in WARM_UP else 0.002
        return self._inner.search(text, options)


def test_warm_up_is_not_timed(pipeline: LocalPipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first searches load models and stores, here for a minute each."""
    target = TickingPipeline(pipeline)
    monkeypatch.setattr(runner, "time", SimpleNamespace(perf_counter=lambda: target.now))
    report = validate(target, golden(), ValidationOptions(together=False, diagnose=False))
    assert target.texts[: len(WARM_UP)] == list(WARM_UP)
    assert not {*target.texts[len(WARM_UP) :]} & {*WARM_UP}
    assert report.latency is not None
    assert report.latency.n == len(golden().queries)
    assert report.latency.max == pytest.approx(2.0)
    assert report.latency.mean == pytest.approx(2.0)


class RecordingProgress:
    """Records the stages and their steps."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int | None]] = []
        self.steps: dict[str, int] = {}

    def stage(self, name: str, total: int | None) -> None:
        self.stages.append((name, total))
        self.steps[name] = 0

    def advance(self, steps: int = 1) -> None:
        self.steps[self.stages[-1][0]] += steps

    def waiting(self, message: str) -> None:
        self.stages.append((message, None))


@pytest.mark.parametrize("concurrency", [1, 4])
def test_progress_advances_for_each_query(pipeline: LocalPipeline, concurrency: int) -> None:
    progress = RecordingProgress()
    golden_set = change_query("knee", expected_criteria={"min_score": 1.0})
    report = validate(
        pipeline, golden_set, ValidationOptions(concurrency=concurrency, audit=True), progress=progress
    )
    failed = sum(case.status == "failed" for case in report.test_cases)
    assert progress.stages == [
        ("Running queries", 10),
        ("Reading deep rankings", 10),
        ("Running 50 queries at once", None),
        ("Diagnosing failures", failed),
        ("Auditing", None),
    ]
    assert [progress.steps[name] for name, total in progress.stages if total is not None] == [10, 10, failed]
    assert failed == 1


def test_labelled_text_on_two_pages_is_one_answer(stored: Workspace, judged: Judge) -> None:
    """A search shows it once, from either page; its copy counts as labelled."""
    original = judged(together=False)
    add_pages(stored, copy_of_knee())
    copied = judged(together=False)
    assert [case.relevant for case in copied.test_cases] == [case.relevant for case in original.test_cases]
    case = find_case(copied, "knee")
    assert case.relevance_labels[0] == 2
    assert case.metrics["recall@10"] == 1.0
    good = sum(label > 0 for label in case.relevance_labels)
    assert case.metrics["span_recall@5"] == pytest.approx(good / len(PARTS), abs=0.02)
    few = change_query("knee", labels=labels_on("knee", *PARTS[:3]))
    single = few.model_copy(update={"queries": few.queries[2:3]})
    assert judged(single, together=False).golden.ceiling == 0.0


@pytest.mark.parametrize(("limit", "count"), [(2, 2), (10, 10), (99, 10)])
def test_limit_runs_the_first_queries(judged: Judge, limit: int, count: int) -> None:
    report = judged(limit=limit, together=False)
    assert [case.query.id for case in report.test_cases] == [query.id for query in golden().queries[:count]]
    assert ("Only the first 2 queries of the golden set were run." in report.summary) == (count == 2)
    assert report.options["limit"] == (2 if count == 2 else None)


@pytest.mark.parametrize("limit", [0, -1, "2", True])
def test_limit_below_one_is_refused(limit: Any) -> None:
    with pytest.raises(InvalidInput, match="limit: must be"):
        ValidationOptions(limit=limit)


def test_golden_set_with_a_lone_surrogate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "golden.json").write_text('{"queries": [{"id": "x", "text": "\\ud800"}]}')
    with pytest.raises(InvalidInput, match="surrogate"):
        load_golden_file(tmp_path / "golden.json")


def test_judges_of_a_passage_outvote_the_label_of_its_section(judged: Judge) -> None:
    """Each passage has the lower median of its judges, whatever place each of them pointed at."""
    words = {"page": "docs/knee.md", "quote": "The hinge of the knee belongs to the knee alone", "grade": 0}
    votes = [*labels_on("knee", "hinge", grade=2), {**words, "judge": "ann"}, {**words, "judge": "ben"}]
    case = find_case(judged(change_query("knee", labels=votes)), "knee")
    assert case.relevant == 0
    assert case.judged[0]
    assert case.relevance_labels[0] == 0
