"""Seed 000: every aggregate of a report can be recomputed from its own test cases.

These are the rules 12 and 13 in docs/seeds.md.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.validation.golden.golden_set import GoldenSet
from pertinent.validation.report_builder import SEED
from pertinent.validation.statistics import intervals, wilson_interval
from pertinent.validation.validate import ValidationOptions, validate

from .conftest import (
    LOST,
    PARTS,
    SUBJECTS,
    FailingPipeline,
    Judge,
    change_query,
    find_case,
    golden,
    labels_on,
)

AGGREGATES = {
    "total_queries", "avg_precision_at_5", "avg_precision_at_5_answerable", "mrr", "mrr_answerable",
    "mrr_first_relevant", "mrr_first_relevant_answerable", "avg_latency_ms", "p95_latency_ms",
    "p99_latency_ms", "metadata_completeness_rate", "hash_validation_pass_rate",
}  # fmt: skip
"""The numbers at the top level of a report."""

OF_TEST_CASES = ("specific queries", "broad queries", "false positives among queries without an answer")
"""The acceptance checks that count test cases."""


def compute_precision_at_k(labels: list[int], k: int) -> float:
    """Seed 000's formula."""
    return sum(1 for label in labels[:k] if label >= 1) / k


def compute_rank_of_best(labels: list[int]) -> int | None:
    """Rule 12 in docs/seeds.md: the first result with the highest label among the query's own results."""
    best = max(labels, default=0)
    return labels.index(best) + 1 if best >= 1 else None


def compute_mrr(ranks: list[int | None]) -> float:
    """Seed 000's formula."""
    return sum(1.0 / rank if rank else 0.0 for rank in ranks) / len(ranks) if ranks else 0.0


def is_answerable(case: dict[str, Any]) -> bool:
    """Rule 13 in docs/seeds.md: whether the case counts in the verdict's means."""
    query = case["query"]
    return bool(query["answerable"] and query["query_type"] != "edge" and case["relevant"] > 0)


def compute_aggregates(cases: list[dict[str, Any]]) -> dict[str, float]:
    """Every number at the top level of a report."""
    results = [result for case in cases for result in case["actual_results"]]
    fields = ("url", "title", "content", "timestamp", "content_hash")
    complete = [all(hit[field] for field in fields) and hit["chunk_index"] is not None for hit in results]
    intact = [
        hashlib.sha256(result["content"].encode("utf-8")).hexdigest() == result["content_hash"]
        for result in results
    ]
    times = [case["latency_ms"] for case in cases]
    figures: dict[str, float] = {
        "total_queries": len(cases),
        "avg_latency_ms": float(np.mean(times)),
        "p95_latency_ms": float(np.percentile(times, 95)),
        "p99_latency_ms": float(np.percentile(times, 99)),
        "metadata_completeness_rate": sum(complete) / len(results) if results else 1.0,
        "hash_validation_pass_rate": sum(intact) / len(results) if results else 1.0,
    }
    for suffix, group in (("", cases), ("_answerable", [case for case in cases if is_answerable(case)])):
        labels = [case["relevance_labels"] for case in group]
        precisions = [compute_precision_at_k(row, 5) for row in labels]
        first = [next((rank for rank, label in enumerate(row, start=1) if label), None) for row in labels]
        figures |= {
            f"avg_precision_at_5{suffix}": sum(precisions) / len(group) if group else 0.0,
            f"mrr{suffix}": compute_mrr([compute_rank_of_best(row) for row in labels]),
            f"mrr_first_relevant{suffix}": compute_mrr(first),
        }
    return figures


def compute_metrics(cases: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The means by group, with their intervals."""
    groups: dict[str, list[dict[str, float]]] = defaultdict(list)
    for case in cases:
        if is_answerable(case):
            kind, category = case["query"]["query_type"], case["query"]["category"]
            names = ["all", f"type:{kind}"]
            if category:
                names += [f"category:{category}", f"type:{kind}/category:{category}"]
            for name in names:
                groups[name].append(case["metrics"])
    return {
        group: intervals({name: [row[name] for row in rows] for name in rows[0]}, seed=SEED)
        for group, rows in groups.items()
    }


def check_aggregates(report: dict[str, Any]) -> None:
    """Compare every aggregate of the report with what its test cases give."""
    cases = report["test_cases"]
    figures = compute_aggregates(cases)
    numbers = {name for name, value in report.items() if isinstance(value, int | float)}
    assert numbers - {"schema_version"} == AGGREGATES == figures.keys()
    assert {name: report[name] for name in AGGREGATES} == pytest.approx(figures)
    for case in cases:
        labels = case["relevance_labels"]
        assert case["rank_of_best"] == compute_rank_of_best(labels)
        assert case["precision_at_k"] == compute_precision_at_k(labels, case["query"]["top_k"])
        assert case["metrics"]["p@5"] == compute_precision_at_k(labels, 5)
        assert case["metrics"]["rr_best"] == compute_mrr([case["rank_of_best"]])

    answerable = [case for case in cases if is_answerable(case)]
    assert report["golden"]["scored"] == len(answerable)
    times = [case["latency_ms"] for case in cases]
    latency = report["latency"]
    assert latency["n"] == len(times)
    assert [latency[name] for name in ("mean", "p50", "p95", "p99", "max")] == pytest.approx(
        [np.mean(times), *np.percentile(times, [50, 95, 99]), max(times)]
    )

    metrics = compute_metrics(cases)
    assert report["metrics"].keys() == metrics.keys()
    for group, means in metrics.items():
        assert report["metrics"][group].keys() == means.keys()
        for name, mean in means.items():
            stored = report["metrics"][group][name]
            assert [stored["mean"], stored["low"], stored["high"], stored["n"]] == pytest.approx(
                [mean.mean, mean.low, mean.high, mean.n]
            )
    check_criteria(report, answerable, figures)
    check_counts_of_test_cases(report)


def check_criteria(
    report: dict[str, Any], answerable: list[dict[str, Any]], figures: dict[str, float]
) -> None:
    criteria = {criterion["name"]: criterion for criterion in report["criteria"]}
    target = report["options"]["criteria"]["precision_at_5"]
    reaching = sum(case["metrics"]["p@5"] >= target for case in answerable)
    n = len(answerable)
    share = criteria.pop(f"queries with P@5 ≥ {target:.2f}")
    interval = wilson_interval(reaching, n)
    expected = [reaching / n, interval.low, interval.high]
    assert [share["value"], share["low"], share["high"]] == pytest.approx(expected)
    results = sum(len(case["actual_results"]) for case in report["test_cases"])
    values = {
        "MRR (answerable)": (figures["mrr_answerable"], n),
        "metadata completeness": (figures["metadata_completeness_rate"], results),
        "hash validation": (figures["hash_validation_pass_rate"], results),
        "p95 latency (ms)": (figures["p95_latency_ms"], figures["total_queries"]),
        **{
            name: (sum(case["metrics"][name] for case in answerable) / n, n)
            for name in report["options"]["criteria"]["at_least"]
        },
    }
    assert criteria.keys() == values.keys()
    for name, (value, count) in values.items():
        assert (criteria[name]["value"], criteria[name]["n"]) == (pytest.approx(value), count)


def check_counts_of_test_cases(report: dict[str, Any]) -> None:
    checks = {check["name"]: check for check in report["checks"]}
    threshold = report["golden"]["answer_threshold"]
    good: dict[str, list[bool]] = {name: [] for name in OF_TEST_CASES}
    for case in report["test_cases"]:
        query, results = case["query"], case["actual_results"]
        scored = query["answerable"] and query["query_type"] != "edge"
        topic = case["expected_criteria"]["expected_topic"]
        if scored and query["query_type"] == "specific" and topic:
            texts = [f"{hit['title']} {hit['section']} {hit['content']}".lower() for hit in results[:5]]
            good["specific queries"].append(sum(topic in text for text in texts) >= 3)
        if scored and query["query_type"] == "broad":
            good["broad queries"].append(case["metrics"]["p@3"] >= 2 / 3 - 1e-9)
        if not query["answerable"]:
            above = any(result["similarity_score"] >= threshold for result in results)
            good["false positives among queries without an answer"].append(above)
    for name, flags in good.items():
        assert checks[name]["n"] == len(flags)
        assert checks[name]["value"] == (pytest.approx(np.mean(flags)) if flags else None)


def every_kind_of_query() -> GoldenSet:
    """Edge queries with labels, few labels, other cut-offs, a lost query, and further measures."""
    data = golden(
        criteria={"lost_labels": 1, "at_least": {"p@7": 0.1, "success@5": 0.5, "rr_best@3": 0.1}}
    ).model_dump(mode="json")
    queries = {query["id"]: query for query in data["queries"]}
    queries["knee"] |= {"top_k": 2, "query_type": "broad"}
    queries["camera"] |= {"top_k": 10}
    queries["camera-again"]["labels"] = queries["camera"]["labels"][3:5]
    queries["battery"]["labels"] = LOST
    queries["empty"] |= {"text": "gripper hinge", "answerable": True, "labels": queries["gripper"]["labels"]}
    return GoldenSet.model_validate({**data, "queries": list(queries.values())})


def test_seed_000_every_aggregate_can_be_recomputed_from_the_test_cases(pipeline: LocalPipeline) -> None:
    target = FailingPipeline(pipeline, "knee hinge")
    report = validate(target, every_kind_of_query(), ValidationOptions(together=False))
    assert find_case(report, "knee-again").status == "error"
    assert report.golden.scored == 7
    check_aggregates(json.loads(report.model_dump_json()))


GRADES = st.dictionaries(
    st.tuples(st.sampled_from(sorted(SUBJECTS)), st.sampled_from(PARTS)), st.integers(0, 2), max_size=9
)
QUERIES = st.lists(
    st.tuples(
        st.sampled_from(["specific", "broad", "paraphrase", "edge"]), st.sampled_from(sorted(SUBJECTS)),
        st.booleans(), st.integers(1, 12), GRADES,
    ),
    min_size=1,
    max_size=5,
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(QUERIES)
def test_seed_000_aggregates_of_any_golden_set_can_be_recomputed(
    pipeline: LocalPipeline, drawn: list[tuple[Any, ...]]
) -> None:
    queries = [
        {
            "id": f"q{number}",
            "text": f"the {PARTS[number]} of the {name}",
            "query_type": kind,
            "answerable": answerable,
            "top_k": top_k,
            "labels": [
                {"page": f"docs/{page}.md", "anchor": f"the-{part}", "grade": grade if answerable else 0}
                for (page, part), grade in {**grades, (name, "hinge"): 2}.items()
            ],
        }
        for number, (kind, name, answerable, top_k, grades) in enumerate(drawn)
    ]
    golden_set = GoldenSet.model_validate({"queries": queries})
    report = validate(pipeline, golden_set, ValidationOptions(together=False, diagnose=False))
    data = json.loads(report.model_dump_json())
    if report.golden.scored:
        check_aggregates(data)
    else:
        figures = compute_aggregates(data["test_cases"])
        assert {name: data[name] for name in AGGREGATES} == pytest.approx(figures)


def test_seed_000_mrr_and_avg_precision_at_5_are_means_over_all_test_cases(judged: Judge) -> None:
    """Eight answerable queries at rank 1 with P@5 1.0, one without an answer and an edge query."""
    report = judged()
    assert report.total_queries == 10
    assert [report.mrr_answerable, report.mrr] == pytest.approx([1.0, 0.8])
    assert [report.avg_precision_at_5_answerable, report.avg_precision_at_5] == pytest.approx([1.0, 0.8])
    assert [report.mrr_first_relevant_answerable, report.mrr_first_relevant] == pytest.approx([1.0, 0.8])


def test_seed_000_rank_of_best_is_taken_among_the_querys_own_results(judged: Judge) -> None:
    """[0, 1, 1, 0, 0] has rank 2, though a passage with label 2 exists elsewhere."""
    results = find_case(judged(), "knee").actual_results
    grades = [0, 1, 1, 0, 0]
    labels = labels_on("camera", "motor", grade=2)
    labels += [
        {"page": "docs/knee.md", "anchor": result.anchor, "grade": grade}
        for result, grade in zip(results, grades, strict=True)
    ]
    case = find_case(judged(change_query("knee", labels=labels)), "knee")
    assert case.relevance_labels == grades
    assert case.rank_of_best == 2
    assert case.metrics["rr_best"] == 0.5
