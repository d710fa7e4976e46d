"""`--rerank` and `--no-rerank`, the explanation of a reranked list, the reranker in doctor and reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pertinent.types import NO_RERANKER
from pertinent.validation.report_files import load_report

from ..rerankers.rerank_server import VLLM, RerankServer
from .conftest import Run

GOLDEN = """
name: nodes
queries:
  - id: nodes
    text: Which nodes publish messages?
    labels: [{page: docs/nodes.md, anchor: topics, grade: 2}]
  - id: joints
    text: Which joint has limits?
    labels: [{page: docs/joints.md, anchor: limits, grade: 2}]
"""


@pytest.fixture
def reranker(monkeypatch: pytest.MonkeyPatch) -> Iterator[RerankServer]:
    with RerankServer() as server:
        monkeypatch.setenv("PERTINENT_RERANKER", f"http:{server.url}{VLLM}")
        yield server


@pytest.fixture
def indexed(run: Run, docs: Path) -> None:
    run("index", docs, exits=0)


@pytest.mark.usefixtures("indexed")
def test_explanation_has_the_parts_the_formula_and_the_stage(run: Run, reranker: RerankServer) -> None:
    text = " ".join(run("search", "nodes", "--explain", exits=0).output.split())
    assert "reranked" in text
    assert "= 0.6 × base + 0.4 × rerank, where base = 1 / (1 + exp(" in text
    assert "base 0." in text
    body = json.loads(run("search", "nodes", "--explain", "--json", exits=0).stdout)
    assert body["metadata"]["rerank_share"] == 0.4
    assert "reranked" in body["explain"]["stages_ms"]
    for result in body["results"]:
        scores = result["scores"]
        assert result["similarity_score"] == pytest.approx(0.6 * scores["base"] + 0.4 * scores["rerank"])


@pytest.mark.usefixtures("indexed")
def test_flags_decide_about_reranking(run: Run, reranker: RerankServer) -> None:
    run("search", "nodes", "--no-rerank", exits=0)
    run("search", "nodes", "--ranking", "dense", exits=0)
    assert not reranker.requests
    run("search", "nodes", "--ranking", "dense", "--rerank", exits=0)
    assert len(reranker.requests) == 1


@pytest.mark.usefixtures("indexed")
def test_rerank_without_a_reranker_is_bad_input(run: Run) -> None:
    result = run("search", "nodes", "--rerank", exits=2)
    assert "no reranker is set: set `reranker`" in " ".join(result.stderr.split())


@pytest.mark.usefixtures("indexed")
def test_search_says_that_the_reranker_is_down(run: Run, reranker: RerankServer) -> None:
    reranker.always = "404"
    result = run("search", "nodes", exits=0)
    assert "Nodes" in result.stdout
    assert NO_RERANKER in " ".join(result.stderr.split())


@pytest.mark.usefixtures("indexed")
def test_doctor_asks_the_reranker(run: Run, reranker: RerankServer) -> None:
    checks = json.loads(run("doctor", "--json", exits=0).stdout)["checks"]
    (check,) = [check for check in checks if check["name"] == "reranker"]
    assert check["seen"] == f"http:{reranker.url}{VLLM} depth=10 share=0.4"
    reranker.always = "logits"
    checks = json.loads(run("doctor", "--json", exits=3).stdout)["checks"]
    (check,) = [check for check in checks if check["name"] == "reranker"]
    (finding,) = check["findings"]
    assert "the score -8.25, not one from 0 to 1" in finding["problem"]
    assert "unset `reranker`" in finding["run"]
    assert all(other["sound"] for other in checks if other is not check)


@pytest.mark.usefixtures("indexed")
def test_doctor_has_no_check_without_a_reranker(run: Run) -> None:
    checks = json.loads(run("doctor", "--json", exits=0).stdout)["checks"]
    assert "reranker" not in [check["name"] for check in checks]


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "golden.yaml"
    path.write_text(GOLDEN, encoding="utf-8")
    return path


@pytest.mark.usefixtures("indexed")
def test_validate_and_compare_tell_whether_it_helps(
    run: Run, reranker: RerankServer, golden: Path, tmp_path: Path
) -> None:
    # The reranker puts the page on launch files first, which answers neither question.
    reranker.relevances = {"Launch files": 1.0, "": 0.0}
    reports = []
    for flag in ("--no-rerank", "--rerank"):
        run("validate", golden, flag, "--output", tmp_path / flag, "--json")
        (path,) = (tmp_path / flag).glob("*.json")
        reports.append(path)
    plain, reranked = map(load_report, reports)
    assert "reranker" not in plain.fingerprints
    assert reranked.fingerprints["reranker"] == f"http:{reranker.url}{VLLM} depth=10 share=0.4"
    comparison = json.loads(run("compare", *reports, "--json").stdout)
    assert "reranker" in [difference["name"] for difference in comparison["differences"]]


@pytest.mark.usefixtures("indexed")
def test_report_says_how_many_searches_came_without_the_reranker(
    run: Run, reranker: RerankServer, golden: Path, tmp_path: Path
) -> None:
    # After three searches to warm up, the first of the two questions fails.
    reranker.faults.extend([None, None, None, "404"])
    result = run("validate", golden, "--output", tmp_path, "--json")
    assert json.loads(result.stdout)["fingerprints"]["reranker"].endswith(" (in 1 of 2 searches)")


@pytest.mark.usefixtures("indexed")
def test_validate_has_no_verdict_if_the_reranker_is_down(
    run: Run, reranker: RerankServer, golden: Path, tmp_path: Path
) -> None:
    reranker.always = "404"
    required = ("--require", "queries_reaching=0", "--require", "mrr=0.1")
    result = run("validate", golden, *required, "--output", tmp_path, "--json", exits=2)
    report = json.loads(result.stdout)
    assert report["verdict"] == "INVALID"
    assert "the reranker did not answer in 2 of 2 searches" in report["summary"]
    without = "the reranker did not answer; results are ranked without it: 2 searches"
    assert any(issue.startswith(without) for issue in report["issues"])
    run("validate", golden, *required, "--no-rerank", "--output", tmp_path, "--json", exits=0)
