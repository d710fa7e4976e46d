"""Verdicts: what is judged, what can't be, and what to do next (rules 13 and 25 in docs/seeds.md)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, get_args
from xml.etree import ElementTree as ET

import pytest
import yaml

from pertinent.errors import InvalidInput
from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.types import Answer, SearchOptions
from pertinent.validation.criteria import Criteria, merge_criteria
from pertinent.validation.diagnosis import NEXT_STEPS, FailureKind
from pertinent.validation.golden.golden_set import GoldenSet
from pertinent.validation.rendering import display_names, render_html, render_junit, render_markdown
from pertinent.validation.report import ValidationReport
from pertinent.validation.validate import validate

from .conftest import (
    LOST,
    PARTS,
    SUBJECTS,
    FailingPipeline,
    Judge,
    change_query,
    find_case,
    find_diagnosis,
    golden,
    labels_on,
)


def few_labels(count: int = 1, queries: int = 8, **changes: Any) -> GoldenSet:
    """The golden set with so many labels for each of the first so many answerable queries."""
    data = golden(**changes).model_dump(mode="json", exclude_unset=True)
    for query in data["queries"][:queries]:
        query["labels"] = query["labels"][:count]
    return GoldenSet.model_validate(data)


def criterion(report: ValidationReport, name: str) -> Any:
    return next(criterion for criterion in report.criteria if criterion.name.startswith(name))


def proposed_criteria(summary: str) -> dict[str, Any]:
    """The criteria that a summary proposes for a golden set."""
    (text,) = re.findall(r"`(criteria: [^`]+)`", summary)
    criteria: dict[str, Any] = yaml.safe_load(text)["criteria"]
    return criteria


def proposed_flags(summary: str) -> dict[str, float]:
    """The criteria that a summary proposes for the command."""
    pairs = re.findall(r"--require ([^= ]+)=([\d.]+)", summary)
    return {name: float(value) for name, value in pairs}


class TestUnreachableCriteria:
    """Rule 25 in docs/seeds.md."""

    def test_seed_000_unreachable_criteria_are_invalid_and_name_the_setting(self, judged: Judge) -> None:
        report = judged(few_labels())
        assert report.verdict == "INVALID"
        assert report.summary.startswith(
            "INVALID: precision@5 can't be judged with these labels: at most 0/8 answerable queries (0%) can "
            "reach 0.80, and 80% must. What can be judged: success@5 1.00, MRR (answerable) 1.00."
        )
        assert proposed_flags(report.summary) == {"queries_reaching": 0, "success@5": 0.8, "mrr": 0.7}
        proposed = {"queries_reaching": 0, "mrr": 0.7, "at_least": {"success@5": 0.8}}
        assert proposed_criteria(report.summary) == proposed

    def test_proposed_criteria_give_a_verdict(self, judged: Judge) -> None:
        summary = judged(few_labels()).summary
        by_file = judged(few_labels(criteria=proposed_criteria(summary)))
        assert by_file.summary == (
            "PASS: MRR (answerable) 1.00 reaches the target 0.70. "
            "success@5 (answerable) 1.00 reaches the target 0.80."
        )
        by_flag = merge_criteria({}, Criteria(), proposed_flags(summary))
        assert by_flag == Criteria.model_validate(proposed_criteria(summary))

    @pytest.mark.parametrize(("able", "verdict"), [(6, "INVALID"), (7, "PASS")])
    def test_unreachable_depends_on_the_required_share(self, judged: Judge, able: int, verdict: str) -> None:
        """Six of eight are 75 %, seven are 87.5 %, and 80 % are wanted."""
        report = judged(few_labels(3, queries=8 - able))
        assert report.golden.ceiling == able / 8
        assert report.verdict == verdict, report.summary

    def test_top_k_below_four_makes_precision_unreachable(self, judged: Judge) -> None:
        data = golden().model_dump(mode="json")
        for query in data["queries"]:
            query["top_k"] = 3
        report = judged(GoldenSet.model_validate(data))
        assert (report.verdict, report.golden.ceiling) == ("INVALID", 0.0)

    def test_unreachable_criterion_is_not_judged_per_query(self, judged: Judge) -> None:
        report = judged(change_query("knee", few_labels(), labels=labels_on("camera", "motor", grade=2)))
        share = criterion(report, "queries with P@5")
        assert (share.passed, share.value) == (None, 0.0)
        assert "the labels allow at most 0%" in share.detail
        failed = [case for case in report.test_cases if case.status == "failed"]
        assert [case.query.id for case in failed] == ["knee"]
        assert failed[0].complaints == ["none of the first 5 results is relevant"]
        assert "success@5 0.88" in report.summary

    def test_further_means_that_were_set_are_kept_in_the_proposal(self, judged: Judge) -> None:
        report = judged(few_labels(criteria={"at_least": {"recall@5": 0.9}, "mrr": 0}))
        assert report.verdict == "INVALID"
        assert proposed_flags(report.summary) == {"queries_reaching": 0, "recall@5": 0.9}

    def test_labels_that_do_allow_it_can_fail(self, judged: Judge) -> None:
        data = golden().model_dump(mode="json")
        for query in data["queries"][:4]:
            query["text"] = "the motor of the battery" if query["id"] != "battery" else "camera"
        report = judged(GoldenSet.model_validate(data))
        assert report.golden.ceiling == 1.0
        assert report.verdict == "FAIL"


class TestHeadline:
    def test_headline_names_the_criteria_of_seed_000_over_answerable_queries(self, judged: Judge) -> None:
        assert judged().summary == (
            "PASS: 8/8 answerable queries (100%) achieved precision@5 >= 0.80. "
            "MRR (answerable) 1.00 reaches the target 0.70."
        )

    @pytest.mark.parametrize(
        "criteria", [{"queries_reaching": 0}, {"precision_at_5": 0}, {"queries_reaching": 0, "mrr": 0}]
    )
    def test_headline_leaves_out_unjudged_criteria(self, judged: Judge, criteria: dict[str, Any]) -> None:
        report = judged(golden(criteria={"at_least": {"success@5": 0.5}, **criteria}))
        assert report.verdict == "PASS"
        assert "precision@5" not in report.summary
        assert ("MRR" in report.summary) == ("mrr" not in criteria)
        assert "success@5 (answerable) 1.00 reaches the target 0.50." in report.summary
        assert not any(criterion.name.startswith("queries with P@5") for criterion in report.criteria)

    def test_headline_does_not_round_onto_a_missed_target(self, judged: Judge) -> None:
        report = judged(golden(criteria={"at_least": {"recall@5": 0.834}}))
        assert report.verdict == "FAIL"
        assert "recall@5 (answerable) 0.833 misses the target 0.834." in report.summary


NUMBERS = ("precision_at_5", "queries_reaching", "mrr", "metadata_completeness", "hash_validation")


class TestEmptyCriteria:
    @pytest.mark.parametrize(
        "criteria",
        [
            {"precision_at_5": 0, "mrr": 0},
            {"queries_reaching": 0, "mrr": 0, "at_least": {"success@5": 0}},
            {**dict.fromkeys(NUMBERS, 0), "p95_latency_ms": 1e9},
            {"queries_reaching": 1e-300, "mrr": 1e-10, "at_least": {"success@5": 1e-12}},
            {"precision_at_5": 1e-300, "mrr": 0},
            {"queries_reaching": 0, "mrr": 0, "at_least": {"judged@5": 0.5}},
        ],
    )
    def test_empty_criteria_are_invalid_with_a_reason(self, judged: Judge, criteria: dict[str, Any]) -> None:
        report = judged(golden(criteria=criteria))
        assert report.verdict == "INVALID"
        assert report.summary.startswith("INVALID: no criterion depends on the ranking")
        proposal = {**criteria, **proposed_criteria(report.summary)}
        assert judged(golden(criteria=proposal)).verdict == "PASS"

    @pytest.mark.parametrize(("allowed", "verdict"), [(4, "PASS"), (5, "INVALID"), (1000, "INVALID")])
    def test_lost_labels_must_not_allow_most_queries(self, judged: Judge, allowed: int, verdict: str) -> None:
        """Eight queries with a label each: five lost labels are most of them, though none is lost."""
        report = judged(few_labels(criteria={"lost_labels": allowed, "queries_reaching": 0}))
        assert report.verdict == verdict
        if verdict == "INVALID":
            assert f"`lost_labels: {allowed}` allows most of the 8 answerable queries" in report.summary
            assert "set it below 5" in report.summary

    def test_lost_labels_of_most_queries_are_invalid(self, judged: Judge) -> None:
        """A label that several queries share is lost once."""
        data = golden(criteria={"lost_labels": 1, "queries_reaching": 0}).model_dump(mode="json")
        for query in data["queries"][:5]:
            query["labels"] = LOST
        report = judged(GoldenSet.model_validate(data))
        assert len(report.label_faults) == 1
        assert report.summary.startswith("INVALID: 5 of 8 answerable queries have no valid label")

    @pytest.mark.parametrize(("queries", "verdict"), [(1, "PASS"), (2, "INVALID")])
    def test_a_shared_lost_label_excludes_no_more_queries_than_allowed(
        self, judged: Judge, queries: int, verdict: str
    ) -> None:
        data = golden(criteria={"lost_labels": 1, "queries_reaching": 0}).model_dump(mode="json")
        for query in data["queries"][:queries]:
            query["labels"] = LOST
        assert judged(GoldenSet.model_validate(data)).verdict == verdict

    def test_a_query_whose_judges_leave_no_relevant_passage_is_invalid(self, judged: Judge) -> None:
        """Otherwise the query would leave the means, and a PASS would say nothing of it."""
        words = {"page": "docs/knee.md", "quote": "The hinge of the knee belongs to the knee alone"}
        votes = [{**words, "grade": 2, "judge": "ann"}, {**words, "grade": 0, "judge": "ben"}]
        report = judged(change_query("knee", golden(criteria={"queries_reaching": 0}), labels=votes))
        assert report.summary.startswith("INVALID: 1 of 8 answerable queries have no valid label")


class DegradedPipeline(FailingPipeline):
    """A pipeline whose answers to some queries say that the catalog was down."""

    def search(self, text: str, options: SearchOptions) -> Answer:
        answer = self._inner.search(text, options)
        return replace(answer, notes=("the catalog did not answer",)) if text in self._texts else answer


def test_degraded_answers_are_an_issue(pipeline: LocalPipeline) -> None:
    query = golden().queries[0]
    report = validate(DegradedPipeline(pipeline, query.text), golden())
    assert f"the catalog did not answer: 1 search ({query.id})" in report.issues


class OnePassagePipeline(FailingPipeline):
    """A pipeline that lists its best passage again and again, more often than it is asked to."""

    def search(self, text: str, options: SearchOptions) -> Answer:
        answer = self._inner.search(text, options)
        return replace(answer, hits=answer.hits[:1] * 200)


def test_a_passage_that_is_listed_five_times_counts_once(pipeline: LocalPipeline) -> None:
    report = validate(OnePassagePipeline(pipeline), golden())
    assert report.verdict == "FAIL"
    assert criterion(report, "queries with P@5").value == 0
    assert report.avg_precision_at_5_answerable == pytest.approx(0.2)


class TestRequire:
    def test_require_sets_a_criterion_and_adds_a_measure(self) -> None:
        criteria = merge_criteria({"mrr": 0.9}, Criteria(queries_reaching=0.5), {"mrr": 0.2, "p@3": 0.4})
        assert (criteria.mrr, criteria.queries_reaching, criteria.at_least) == (0.2, 0.5, {"p@3": 0.4})

    def test_means_of_settings_golden_set_and_require_are_merged_one_by_one(self) -> None:
        settings = {"at_least": {"success@5": 0.9, "ndcg@10": 0.5, "rr": 0.3}}
        golden_set = Criteria(at_least={"ndcg@10": 0.4, "success@1": 0.2, "rr": 0})
        criteria = merge_criteria(settings, golden_set, {"success@1": 0.1})
        assert criteria.required_means == {"success@5": 0.9, "ndcg@10": 0.4, "success@1": 0.1}

    @pytest.mark.parametrize(
        ("settings", "field"),
        [({"at_least": 5}, "at_least"), ({"p95_latency_ms": float("inf")}, "p95_latency_ms")],
    )
    def test_settings_are_checked_before_requirements_are_added(
        self, settings: dict[str, Any], field: str
    ) -> None:
        with pytest.raises(InvalidInput, match=rf"^criteria\.{field}: must be"):
            merge_criteria(settings, Criteria(), {"ndcg@10": 0.5})

    def test_require_refuses_a_value_out_of_range_by_name(self) -> None:
        with pytest.raises(InvalidInput, match=r"criteria\.mrr"):
            merge_criteria({}, Criteria(), {"mrr": 2})


class TestNothingToCheck:
    """What there is nothing to check of is never shown as met."""

    @pytest.fixture
    def report(self, judged: Judge) -> ValidationReport:
        return judged(few_labels(), together=False)

    def test_rate_without_results_is_none_in_the_report(self, report: ValidationReport) -> None:
        checks = {check.name: check for check in report.checks}
        assert (checks["broad queries"].value, checks["broad queries"].passed) == (None, None)
        assert checks["specific queries"].passed is True

    def test_rate_of_no_results_is_1_and_not_judged(self, judged: Judge) -> None:
        """Seed 000's formulas give 1.0 for no results."""
        report = judged(threshold=1.0, together=False)
        assert not any(case.actual_results for case in report.test_cases)
        for name in ("metadata completeness", "hash validation"):
            assert (criterion(report, name).value, criterion(report, name).passed) == (1.0, None)

    def test_rate_without_results_is_named_in_every_format(self, report: ValidationReport) -> None:
        rows = re.findall(r'<tr role="row" class="(\w+)">\s*<th[^>]*><bdi>([^<]+)</bdi>', render_html(report))
        states = {name: state for state, name in rows}
        assert (states["broad queries"], states["specific queries"]) == ("unjudged", "met")
        assert states["queries with P@5 ≥ 0.80"] == "unjudged"
        lines = {line.split(" | ")[0].strip("| "): line for line in render_markdown(report).splitlines()}
        for name in ("broad queries", "queries with P@5 ≥ 0.80"):
            assert lines[name].endswith("| – not judged |")
            assert "met" not in lines[name]
        root = ET.fromstring(render_junit(report).encode())  # noqa: S314 - it is our own
        cases = {case.get("name"): case for case in root.iter("testcase")}
        for name in ("broad queries", "queries with P@5 ≥ 0.80"):
            assert cases[name].find("skipped") is not None
            assert cases[name].find("failure") is None

    def test_rate_without_results_does_not_fail_a_strict_run(self, judged: Judge) -> None:
        assert judged(golden(criteria={"strict": True})).verdict == "PASS"


class TestNextSteps:
    def test_every_reason_has_a_next_step(self) -> None:
        assert NEXT_STEPS.keys() == display_names.REASONS.keys() == set(get_args(FailureKind))

    def test_failed_query_has_a_next_step(self, judged: Judge) -> None:
        report = judged(change_query("knee", labels=labels_on("knee", *PARTS[:2])), together=False)
        assert [case.query.id for case in report.test_cases if case.status == "failed"] == ["knee"]
        step = NEXT_STEPS[find_diagnosis(report, "knee").kind]
        (row,) = (line for line in render_markdown(report).splitlines() if line.startswith("| knee |"))
        assert step.replace("`", "&#96;") in row
        html = step.replace("`pertinent label`", "<code>pertinent label</code>")
        assert f'<span class="meta"><b>Next:</b> {html}</span>' in render_html(report)
        assert f"next: {step}" in render_junit(report)

    def test_too_few_labels_are_a_reason_of_their_own(self, judged: Judge) -> None:
        labels = [*labels_on("knee", *PARTS[:2]), *labels_on("knee", *PARTS[2:], grade=0)]
        for name in SUBJECTS:
            labels += labels_on(name, grade=0) if name != "knee" else []
        report = judged(change_query("knee", labels=labels), together=False)
        diagnosis = find_diagnosis(report, "knee")
        assert diagnosis.kind == "few_labels"
        assert diagnosis.detail == "2 passages are labelled as relevant, and 4 are needed"

    def test_unjudged_results_give_the_rank_of_the_labelled_passage(self, judged: Judge) -> None:
        golden_set = change_query("knee", few_labels(), labels=labels_on("camera", "motor", grade=2))
        diagnosis = find_diagnosis(judged(golden_set, together=False), "knee")
        rank = diagnosis.misses[0].rank
        assert diagnosis.detail == (
            f"5 of the first 5 results are unjudged; the next relevant passage is at rank {rank}"
        )


@pytest.mark.parametrize("top_k", [1, 2, 3, 5])
def test_measures_of_the_first_five_end_with_the_results(judged: Judge, top_k: int) -> None:
    """A relevant passage beyond `top_k` is no success: the caller does not get it."""
    few = change_query("knee", labels=labels_on("knee", *PARTS[1:]), top_k=top_k)
    case = find_case(judged(few, together=False), "knee")
    relevant = sum(label > 0 for label in case.relevance_labels)
    assert relevant == top_k - 1
    expected = {
        "success@1": 0.0, "success@5": float(relevant > 0), "p@3": min(relevant, 2) / 3, "p@5": relevant / 5,
        "recall@5": relevant / 5, "rcap@5": relevant / 5, "success@10": 1.0,
    }  # fmt: skip
    assert {name: case.metrics[name] for name in expected} == pytest.approx(expected)


def test_success_beyond_top_k_is_no_pass(judged: Judge) -> None:
    criteria = {"queries_reaching": 0, "mrr": 0, "at_least": {"success@5": 0.8}}
    labels = labels_on("knee", *PARTS[1:])
    query = {"id": "knee", "text": "the hinge of the knee", "labels": labels, "top_k": 1}
    report = judged(GoldenSet.model_validate({"queries": [query], "criteria": criteria}), together=False)
    assert report.test_cases[0].complaints == ["none of the first 5 results is relevant"]
    assert report.verdict == "FAIL"
