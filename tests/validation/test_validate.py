"""Seed 000 from end to end: the report's fields, its formulas, and a verdict that holds up."""

from __future__ import annotations

import hashlib
import json
import math
import re
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pertinent._internal.progress import Silent
from pertinent.embedders.cached import CachedQueries
from pertinent.errors import IndexFailure, InvalidInput
from pertinent.surfaces.library import Pertinent
from pertinent.surfaces.subjects import Local
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import Shelf
from pertinent.types import Answer, SearchOptions
from pertinent.validation import rendering, runner
from pertinent.validation import report as reports
from pertinent.validation.criteria import Criteria
from pertinent.validation.golden.golden_set import GoldenSet, fingerprint, load
from pertinent.validation.runner import WARM_UP
from pertinent.validation.validate import NoVerdict, Options, validate
from pertinent.workspace.workspace import Workspace

from .conftest import PARTS, Judge, book, golden

SEED_FIELDS = {
    "timestamp": str,
    "total_queries": int,
    "avg_precision_at_5": float,
    "mrr": float,
    "avg_latency_ms": float,
    "p95_latency_ms": float,
    "p99_latency_ms": float,
    "metadata_completeness_rate": float,
    "hash_validation_pass_rate": float,
    "test_cases": list,
    "summary": str,
    "issues": list,
}


def changed(asked: GoldenSet, query_id: str, **changes: Any) -> GoldenSet:
    """The golden set with one query changed."""
    data = asked.model_dump(mode="json")
    for query in data["queries"]:
        if query["id"] == query_id:
            query.update(changes)
    return GoldenSet.model_validate(data)


def test_a_healthy_pipeline_passes(judged: Judge) -> None:
    report = judged(audit=True)
    assert report.verdict == "PASS", report.summary
    assert report.summary.startswith("PASS: 8/8 answerable queries (100%) achieved precision@5 >= 0.80")
    assert all(criterion.passed for criterion in report.criteria)
    assert {check.name: check.passed for check in report.checks} == {
        "specific queries": True,
        "broad queries": None,
        "duplicate passages": True,
        "paraphrases": True,
        "queries without an answer": True,
        "chunk indices": True,
        "50 queries at once": True,
    }


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


def test_seed_000_formulas_are_followed_exactly(judged: Judge) -> None:
    """The seed's own functions, over what the report says of each query."""
    report = judged()
    cases = report.test_cases

    def compute_precision_at_k(labels: list[int], k: int) -> float:
        return sum(1 for label in labels[:k] if label >= 1) / k

    assert report.avg_precision_at_5 == pytest.approx(
        np.mean([compute_precision_at_k(case.relevance_labels, 5) for case in cases])
    )
    ranks = [1.0 / case.rank_of_best if case.rank_of_best else 0.0 for case in cases]
    assert report.mrr == pytest.approx(sum(ranks) / len(cases))
    for case in report.test_cases:
        assert case.precision_at_k == compute_precision_at_k(case.relevance_labels, case.query.top_k)
    latencies = [case.latency_ms for case in report.test_cases]
    assert report.avg_latency_ms == pytest.approx(np.mean(latencies))
    assert report.p95_latency_ms == pytest.approx(np.percentile(latencies, 95))
    assert report.p99_latency_ms == pytest.approx(np.percentile(latencies, 99))


def test_seed_000_rank_of_best_is_the_first_result_with_the_highest_label(judged: Judge) -> None:
    """CONTRACTS 12: a label 1 above the only 2 is not the best."""
    asked = golden()
    label = {"page": "docs/knee.md", "anchor": "the-spring", "grade": 2}
    others = [
        {"page": "docs/knee.md", "anchor": f"the-{part}", "grade": 1} for part in ("hinge", "cable", "shaft")
    ]
    report = judged(changed(asked, "knee", labels=[label, *others], paraphrase_group=None))
    (case,) = (case for case in report.test_cases if case.query.id == "knee")
    assert case.relevance_labels[0] == 1
    assert case.rank_of_best == case.relevance_labels.index(2) + 1 > 1


def test_a_query_without_an_answer_and_an_edge_case_are_outside_the_means(judged: Judge) -> None:
    report = judged()
    assert report.total_queries == 10
    assert report.golden.scored == report.metrics["all"]["p@5"].n == 8
    assert report.criteria[0].n == 8


def test_an_empty_query_passes_with_a_clean_refusal(judged: Judge) -> None:
    (case,) = (case for case in judged().test_cases if case.query.id == "empty")
    assert case.status == "refused"
    assert "must not be empty" in (case.error or "")


def test_an_answer_to_what_has_none_is_an_issue_and_no_fail(judged: Judge) -> None:
    report = judged(golden(answer_threshold=0.0))
    assert report.verdict == "PASS"
    assert any("taxes" in issue and "it has no answer" in issue for issue in report.issues)
    assert not next(check for check in report.checks if check.name == "queries without an answer").passed


def test_with_strict_criteria_the_acceptance_checks_count(judged: Judge) -> None:
    report = judged(golden(answer_threshold=0.0, criteria={"strict": True}))
    assert report.verdict == "FAIL"
    assert "queries without an answer" in report.summary


def test_expected_criteria_that_are_not_met_go_into_issues_and_fail_the_query_alone(judged: Judge) -> None:
    """CONTRACTS 20."""
    wanted = {"min_score": 0.999, "expected_topic": "zeppelin"}
    report = judged(changed(golden(), "knee", expected_criteria=wanted))
    (case,) = (case for case in report.test_cases if case.query.id == "knee")
    assert case.status == "failed"
    assert any("min_score 0.999" in issue for issue in report.issues)
    assert any("zeppelin" in issue for issue in report.issues)
    assert report.verdict == "PASS"
    assert report.avg_precision_at_5 == judged().avg_precision_at_5


def test_seed_000_further_expected_criteria_are_kept_and_shown_not_judged(judged: Judge) -> None:
    """CONTRACTS 30."""
    further = {"expected_topic": "knee", "max_age_days": 30, "reviewer": "<b>ann</b>"}
    report = judged(changed(golden(), "knee", expected_criteria=further))
    (case,) = (case for case in report.test_cases if case.query.id == "knee")
    assert case.status == "passed"
    again = reports.ValidationReport.model_validate_json(report.model_dump_json())
    (stored,) = (case for case in again.test_cases if case.query.id == "knee")
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
        ({"at_least": {"ndcg@10": 1.0}, "mrr": 1.0}, "ndcg@10"),
    ],
)
def test_a_criterion_that_is_not_met_fails_and_is_named(
    judged: Judge, criteria: dict[str, Any], named: str
) -> None:
    report = judged(golden(criteria=criteria))
    assert report.verdict == "FAIL"
    assert named in report.summary
    assert [one.name for one in report.criteria if not one.passed]


def test_an_unknown_measure_is_refused_before_anything_runs(judged: Judge) -> None:
    with pytest.raises(InvalidInput, match="bogus"):
        judged(golden(criteria={"at_least": {"bogus@3": 0.5}}))


def test_every_measure_of_the_report_may_be_asked_for(judged: Judge) -> None:
    names = list(judged(together=False).metrics["all"])
    assert "span_recall@5" in names
    asked = golden(criteria={"at_least": dict.fromkeys([*names, "p@7", "ndcg"], 0.001)})
    report = judged(asked, together=False)
    found = {one.name: one for one in report.criteria}
    for name in names:
        assert found[name].value == pytest.approx(report.metrics["all"][name].mean)
    assert {"p@7", "ndcg"} <= set(found)


def test_the_share_of_queries_has_an_interval_with_a_width_though_all_reach_it(judged: Judge) -> None:
    """Of eight that are all good the bootstrap can only draw good ones; Wilson's interval says more."""
    report = judged(golden(criteria={"at_least": {"success@5": 0.5}}), together=False)
    shares = [one for one in report.criteria if one.name.startswith(("queries with", "success@5"))]
    assert [one.value for one in shares] == [1.0, 1.0]
    for one in shares:
        assert [one.low, one.high] == pytest.approx([0.676, 1.0], abs=1e-3)
        assert "Wilson" in one.detail
    assert report.metrics["all"]["success@5"].low == 1.0


def test_every_criterion_has_its_value_and_the_means_their_intervals(judged: Judge) -> None:
    report = judged()
    assert [one.name for one in report.criteria] == [
        "queries with P@5 ≥ 0.80",
        "MRR (answerable)",
        "metadata completeness",
        "hash validation",
        "p95 latency (ms)",
    ]
    for one in report.criteria[:2]:
        assert one.low is not None
        assert one.high is not None
        assert one.low <= one.value <= one.high
    groups = {"all", "type:specific", "type:paraphrase", "category:factual", "type:specific/category:factual"}
    assert groups == set(report.metrics)
    for means in report.metrics.values():
        for mean in means.values():
            assert mean.low <= mean.mean + 1e-12
            assert mean.mean <= mean.high + 1e-12


def test_the_same_run_has_the_same_figures(judged: Judge) -> None:
    first, second = judged(), judged()
    assert first.metrics == second.metrics
    assert first.fingerprints == second.fingerprints
    assert [case.actual_results for case in first.test_cases] == [
        case.actual_results for case in second.test_cases
    ]


class Failing:
    """A pipeline of which some searches fail."""

    def __init__(self, inner: Local, *texts: str) -> None:
        self._inner = inner
        self._texts = texts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def search(self, text: str, options: SearchOptions) -> Answer:
        if not self._texts or text in self._texts:
            raise IndexFailure("the index is on fire")
        return self._inner.search(text, options)


def test_a_search_that_fails_counts_0_and_is_never_dropped(stored: Workspace) -> None:
    whole = validate(Local(stored), golden())
    broken = validate(Failing(Local(stored), "knee hinge"), golden())
    assert broken.total_queries == whole.total_queries
    assert broken.mrr == pytest.approx((whole.mrr * 10 - 1) / 10)
    assert broken.mrr_answerable == pytest.approx((whole.mrr_answerable * 8 - 1) / 8)
    (case,) = (case for case in broken.test_cases if case.query.id == "knee-again")
    assert (case.status, case.precision_at_k) == ("error", 0.0)
    assert case.diagnosis is not None
    assert case.diagnosis.kind == "error"
    assert any("1 search failed and counts as 0" in issue and "on fire" in issue for issue in broken.issues)


class FailingFurtherOn(Failing):
    """A pipeline that fails where more results are wanted than a caller does."""

    def search(self, text: str, options: SearchOptions) -> Answer:
        if options.top_k > 10:
            raise IndexFailure("the index is on fire")
        return self._inner.search(text, options)


def test_a_list_that_can_not_be_read_on_is_no_miss(stored: Workspace) -> None:
    report = validate(FailingFurtherOn(Local(stored)), golden(), Options(together=False))
    assert report.verdict == "INVALID"
    assert re.search(r"\d+ deep rankings could not be read: IndexFailure: the index is on fire", report.summary)


def test_a_store_that_is_down_gives_no_verdict(stored: Workspace) -> None:
    with pytest.raises(NoVerdict, match="on fire"):
        validate(Failing(Local(stored)), golden())


def test_lost_labels_make_it_invalid_unless_so_many_are_allowed(judged: Judge) -> None:
    bad = {"page": "docs/knee.md", "quote": "no such words anywhere", "grade": 1}
    asked = golden()
    data = asked.model_dump(mode="json")
    data["queries"][2]["labels"].append(bad)
    report = judged(GoldenSet.model_validate(data))
    assert report.verdict == "INVALID"
    assert [(one.query, one.status) for one in report.label_faults] == [("knee", "lost")]
    data["criteria"] = {"lost_labels": 1}
    allowed = judged(GoldenSet.model_validate(data))
    assert allowed.verdict == "PASS"
    assert any("is lost" in note for note in allowed.preflight)


def test_a_lost_label_is_no_miss(judged: Judge) -> None:
    """It is a fault of the golden set: the query's figures are those without it."""
    data = golden(criteria={"lost_labels": 1}).model_dump(mode="json")
    whole = judged(GoldenSet.model_validate(data))
    data["queries"][2]["labels"].append({"page": "docs/gone.md", "quote": "gone with its page", "grade": 2})
    assert judged(GoldenSet.model_validate(data)).metrics == whole.metrics


def test_a_ceiling_below_the_criterion_is_told_beforehand(judged: Judge) -> None:
    asked = golden()
    data = asked.model_dump(mode="json")
    for query in data["queries"]:
        query["labels"] = query["labels"][:1]
    report = judged(GoldenSet.model_validate(data))
    assert report.verdict == "INVALID"
    assert report.golden.ceiling == 0.0
    assert any("can't reach P@5 0.80" in note and "(0.2)" in note for note in report.preflight)
    assert any("the criterion can't be met" in note for note in report.preflight)


def test_few_queries_are_told_to_be_few(judged: Judge) -> None:
    report = judged()
    assert any("only 8 queries" in note and "±" in note for note in report.preflight)


def test_seed_000_percentiles_of_few_queries_are_called_interpolated(judged: Judge) -> None:
    report = judged()
    assert report.p95_latency_ms < max(case.latency_ms for case in report.test_cases)
    assert any(issue.startswith("p95 is interpolated from 10 queries") for issue in report.issues)
    assert any(issue.startswith("p99 is interpolated from 10 queries") for issue in report.issues)
    assert report.criteria[4].detail == "interpolated from 10 queries"
    for shown in (rendering.render_html(report), rendering.render_markdown(report)):
        assert "p95 is interpolated from 10 queries" in shown
        assert "the maximum" not in shown


def test_the_same_query_twice_is_told(judged: Judge) -> None:
    report = judged(changed(golden(), "taxes", text="Knee  hinge", answerable=True))
    assert any("these queries have the same text: knee-again, taxes" in note for note in report.preflight)


def test_a_query_that_should_have_an_answer_but_no_label_is_told(judged: Judge) -> None:
    report = judged(changed(golden(), "taxes", answerable=True))
    assert "1 answerable query has no label of a relevant passage: taxes" in report.preflight
    assert report.verdict == "INVALID"
    assert report.summary.startswith("INVALID: no label says what answers taxes: label it, or mark it")


def test_labels_that_say_only_what_is_wrong_are_not_enough(judged: Judge) -> None:
    wrong = [{"page": "docs/knee.md", "anchor": "the-hinge", "grade": 0}]
    report = judged(changed(golden(), "taxes", answerable=True, labels=wrong))
    assert report.verdict == "INVALID"
    assert "taxes" in report.summary


def test_paraphrase_groups_that_share_too_little_are_named_with_their_share(judged: Judge) -> None:
    report = judged(changed(golden(), "knee-again", text="the spring of the camera"), together=False)
    found = next(check for check in report.checks if check.name == "paraphrases")
    assert found.n == 4
    assert found.value == pytest.approx(0.75)
    assert found.detail == ["group knee, 0% in common: knee, knee-again"]
    assert found.passed
    assert "on average" in found.wanted
    assert "group knee, 0% in common: knee, knee-again" in rendering.render_html(report)


def test_many_at_once_get_the_same_answers(judged: Judge) -> None:
    alone, together = judged(), judged(concurrency=8)
    assert [case.actual_results for case in alone.test_cases] == [
        case.actual_results for case in together.test_cases
    ]


class Confused(Failing):
    """Answers another query's question when several ask at once."""

    def __init__(self, inner: Local) -> None:
        super().__init__(inner, "never asked")
        self._asking = threading.Semaphore(1)

    def search(self, text: str, options: SearchOptions) -> Answer:
        alone = self._asking.acquire(blocking=False)
        try:
            return self._inner.search(text if alone else "battery", options)
        finally:
            if alone:
                self._asking.release()


def test_another_answer_in_a_crowd_is_found(stored: Workspace) -> None:
    report = validate(Confused(Local(stored)), golden())
    crowd = next(check for check in report.checks if check.name == "50 queries at once")
    assert not crowd.passed
    assert any("other results than alone" in line for line in crowd.detail)


def test_a_report_is_named_by_its_time_and_read_back_the_same(judged: Judge, tmp_path: Path) -> None:
    report = judged()
    first = reports.save(report, tmp_path / "validation_results")
    second = reports.save(report, tmp_path / "validation_results")
    stamp = report.timestamp.replace("-", "").replace(":", "").replace("T", "_").removesuffix("Z")
    assert first.name == f"report_{stamp}.json"
    assert second.name == f"report_{stamp}_2.json"
    assert reports.load(first) == report
    assert reports.list_reports(first.parent) == [first, second]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "not a report"),
        ('{"schema_version": 99}', "schema version 99"),
        ("{}", "not a report"),
    ],
)
def test_a_file_that_is_no_report_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(InvalidInput, match=said):
        reports.load(tmp_path / "report.json")


def test_full_precision_is_kept(judged: Judge, tmp_path: Path) -> None:
    report = judged()
    path = reports.save(report, tmp_path)
    stored = json.loads(path.read_text())
    assert stored["avg_latency_ms"] == report.avg_latency_ms
    assert not math.isclose(stored["avg_latency_ms"], round(stored["avg_latency_ms"], 3), abs_tol=1e-12)


def test_fingerprints_tell_golden_sets_apart_but_not_their_wording() -> None:
    asked = golden()
    assert fingerprint(asked) == fingerprint(golden(name="other", description="words"))
    assert fingerprint(asked) == fingerprint(golden(pages={"docs/knee.md": "https://book.example/docs/knee"}))
    assert fingerprint(asked) != fingerprint(changed(asked, "knee", text="another question"))
    assert fingerprint(asked) != fingerprint(changed(asked, "knee", labels=[]))


def test_the_corpus_and_the_model_are_in_the_fingerprints(judged: Judge) -> None:
    found = judged().fingerprints
    assert found["embedder"] == "testing:hashed-words"
    assert found["chunker"].startswith("structure-")
    assert len(found["corpus"]) == len(found["golden"]) == 64


def test_criteria_may_be_given_for_one_run(stored: Workspace) -> None:
    report = validate(Local(stored), golden(), Options(), Criteria(mrr=1.0, at_least={"p@1": 1.0}))
    assert "p@1" in [one.name for one in report.criteria]


def test_a_store_that_dies_in_the_run_gives_no_verdict_whatever_was_refused(stored: Workspace) -> None:
    """The empty query is refused before any store is asked, and must not hide that none answers."""
    texts = [query.text for query in golden().queries]
    report = validate(Failing(Local(stored), *texts), golden())
    assert report.verdict == "INVALID"
    assert "every search failed" in report.summary


def test_the_seeds_figures_are_those_of_what_the_caller_got(judged: Judge) -> None:
    """With top_k 2, what stands third is nobody's result, though it is read for the other measures."""
    labels = [{"page": "docs/knee.md", "anchor": f"the-{part}", "grade": 1} for part in PARTS]
    report = judged(changed(golden(), "knee", top_k=2, labels=labels, paraphrase_group=None))
    (case,) = (case for case in report.test_cases if case.query.id == "knee")
    assert len(case.actual_results) == 2
    assert case.metrics["p@5"] == 0.4
    assert case.precision_at_k == 1.0
    assert case.metrics["recall@10"] == 1.0


def test_the_best_beyond_top_k_is_no_best(judged: Judge) -> None:
    """CONTRACTS 12: rank_of_best is a rank among the results."""
    last = {"page": "docs/camera.md", "anchor": "the-motor", "grade": 2}
    report = judged(changed(golden(), "knee", labels=[last], paraphrase_group=None))
    (case,) = (case for case in report.test_cases if case.query.id == "knee")
    assert case.rank_of_best is None
    assert case.metrics["rr_best"] == 0.0
    assert case.metrics["rr"] > 0.0
    ranks = [one.rank_of_best for one in report.test_cases]
    assert report.mrr == pytest.approx(sum(1 / rank if rank else 0 for rank in ranks) / len(ranks))


def test_a_query_whose_labels_are_all_lost_is_outside_the_means_and_named(judged: Judge) -> None:
    lost = [{"page": "docs/gone.md", "quote": "nothing of it is left", "grade": 2}]
    asked = changed(golden(criteria={"lost_labels": 1}), "knee", labels=lost, paraphrase_group=None)
    report = judged(asked)
    assert report.verdict == "PASS"
    assert report.golden.scored == 7
    assert report.avg_precision_at_5_answerable == judged().avg_precision_at_5_answerable
    assert any("can't be judged" in issue and "knee" in issue for issue in report.issues)


@pytest.mark.parametrize("options", [{"threshold": 1.5}, {"concurrency": 0}, {"concurrency": 65}])
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Options(**options)


def test_the_settings_criteria_hold_from_python_too(stored: Workspace) -> None:
    stored.settings = stored.settings.model_copy(update={"criteria": {"p95_latency_ms": 1e-9}})
    assert Pertinent(stored).validate(golden()).verdict == "FAIL"


def test_latency_is_never_that_of_something_remembered(stored: Workspace) -> None:
    """Each query is embedded anew, however often it was asked."""
    asked: list[str] = []

    class Counting(HashedWords):
        def embed_queries(self, texts: Any) -> Any:
            asked.extend(texts)
            return super().embed_queries(texts)

    cached = CachedQueries(Counting(), 100)
    for _ in range(2):
        validate(Local(stored, cached), golden(), Options(together=False))
    timed_and_read_on = 2 * 2
    assert asked.count("knee hinge") == timed_and_read_on


class Ticking(Failing):
    """Each search takes as long as it says, by a clock that nothing else moves."""

    def __init__(self, inner: Local) -> None:
        super().__init__(inner, "never asked")
        self.now = 0.0
        self.texts: list[str] = []

    def search(self, text: str, options: SearchOptions) -> Answer:
        self.texts.append(text)
        self.now += 60.0 if text in WARM_UP else 0.002
        return self._inner.search(text, options)


def test_the_warm_up_is_outside_the_latencies(stored: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is loaded by the first searches, be it a minute each, is nobody's latency."""
    subject = Ticking(Local(stored))
    monkeypatch.setattr(runner, "time", SimpleNamespace(perf_counter=lambda: subject.now))
    report = validate(subject, golden(), Options(together=False, diagnose=False))
    assert subject.texts[: len(WARM_UP)] == list(WARM_UP)
    first = next(place for place, text in enumerate(subject.texts) if text == golden().queries[0].text)
    assert not {*subject.texts[first:]} & {*WARM_UP}
    assert report.latency is not None
    assert report.latency.n == len(golden().queries)
    assert report.latency.max == pytest.approx(2.0)
    assert report.latency.mean == pytest.approx(2.0)


class Watching:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int | None]] = []
        self.steps: dict[str, int] = {}

    def stage(self, name: str, total: int | None) -> None:
        self.stages.append((name, total))
        self.steps[name] = 0

    def advance(self, steps: int = 1) -> None:
        self.steps[self.stages[-1][0]] += steps


@pytest.mark.parametrize("concurrency", [1, 4])
def test_progress_is_told_for_each_query(stored: Workspace, concurrency: int) -> None:
    told = Watching()
    asked = changed(golden(), "knee", expected_criteria={"min_score": 1.0})
    report = validate(Local(stored), asked, Options(concurrency=concurrency, audit=True), progress=told)
    failed = sum(case.status == "failed" for case in report.test_cases)
    assert told.stages == [
        ("Running queries", 10),
        ("Reading deep rankings", 10),
        ("Running 50 queries at once", None),
        ("Diagnosing failures", failed),
        ("Auditing", None),
    ]
    assert [told.steps[name] for name, total in told.stages if total is not None] == [10, 10, failed]
    assert failed == 1


def test_a_copy_of_a_labelled_text_counts_as_labelled(stored: Workspace) -> None:
    (knee,) = (one for one in book() if one.slug == "knee")
    copy = replace(
        knee, document_id="copy-1", url="https://book.example/docs/copy", source_path="docs/copy.md"
    )
    indexer = stored.indexer(Silent())
    indexer.apply(indexer.plan(Shelf(*book(), copy)))
    report = validate(Local(stored), golden())
    (case,) = (case for case in report.test_cases if case.query.id == "knee")
    assert case.relevance_labels[0] == 2


def test_a_text_on_two_pages_is_one_answer_and_not_half_of_it(stored: Workspace, judged: Judge) -> None:
    """A search shows it once, so that nothing could find the other half; it is found from either page."""
    whole = judged(together=False)
    (knee,) = (one for one in book() if one.slug == "knee")
    copy = replace(
        knee, document_id="copy-1", url="https://book.example/docs/copy", source_path="docs/copy.md"
    )
    indexer = stored.indexer(Silent())
    indexer.apply(indexer.plan(Shelf(*book(), copy)))
    twice = judged(together=False)
    for before, after in zip(whole.test_cases, twice.test_cases, strict=True):
        assert after.relevant == before.relevant
    (case,) = (case for case in twice.test_cases if case.query.id == "knee")
    assert case.metrics["recall@10"] == 1.0
    good = sum(label > 0 for label in case.relevance_labels)
    assert case.metrics["span_recall@5"] == pytest.approx(good / len(PARTS), abs=0.02)
    few = [query for query in golden().model_dump(mode="json")["queries"] if query["id"] == "knee"]
    few[0]["labels"] = few[0]["labels"][:3]
    assert judged(GoldenSet.model_validate({"queries": few}), together=False).golden.ceiling == 0.0


def test_a_golden_set_with_half_a_character_is_refused(tmp_path: Path) -> None:
    (tmp_path / "golden.json").write_text('{"queries": [{"id": "x", "text": "\\ud800"}]}')
    with pytest.raises(InvalidInput, match="surrogate"):
        load(tmp_path / "golden.json")


def test_judges_of_a_passage_outvote_the_label_of_its_whole_section(judged: Judge) -> None:
    """Each passage has the lower median of its judges, whatever place each of them pointed at."""
    section = {"page": "docs/knee.md", "anchor": "the-hinge", "grade": 2}
    words = {"page": "docs/knee.md", "quote": "The hinge of the knee belongs to the knee alone", "grade": 0}
    votes = [section, {**words, "judge": "ann"}, {**words, "judge": "ben"}]
    report = judged(changed(golden(), "knee", labels=votes, paraphrase_group=None))
    (case,) = (case for case in report.test_cases if case.query.id == "knee")
    assert case.relevant == 0
    assert case.judged[0]
    assert case.relevance_labels[0] == 0
