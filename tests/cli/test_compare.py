"""`pertinent compare`: what it prints, when it exits with 1, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pertinent import Pertinent
from pertinent.validation.report import ValidationReport
from pertinent.validation.report_files import save_report

from ..validation.comparison.test_compare import case, report
from .conftest import Run

GOLDEN = """
name: robots
queries:
  - {id: joints, text: limits of a revolute joint, labels: [{page: docs/joints.md, anchor: limits, grade: 2}]}
  - {id: nodes, text: what is a node, labels: [{page: docs/nodes.md, anchor: topics, grade: 1}]}
  - {id: pizza, text: pizza with cheese, answerable: false}
"""


def written(source: ValidationReport, name: str) -> Path:
    path = Path(name)
    path.write_text(source.model_dump_json(), encoding="utf-8")
    return path


@pytest.fixture
def good() -> Path:
    return written(report([case(f"q{position}", 0.8) for position in range(10)]), "good.json")


@pytest.fixture
def bad() -> Path:
    cases = [case(f"q{position}", 0.4) for position in range(1, 10)]
    failing = case("q0", 0.4, status="failed", detail="it stands at rank 7")
    return written(report([failing, *cases], fingerprints={"golden": "g", "corpus": "d" * 64}), "bad.json")


def test_compare_prints_a_loss_with_its_queries_and_reasons(run: Run, good: Path, bad: Path) -> None:
    result = run("compare", good, bad, exits=0)
    assert result.stderr == ""
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["p@5", "0.800", "0.400", "−0.400", "−0.400", "−0.400", "0/0/10", "0.002", "worse"] in lines
    assert "1 query newly failing" in result.stdout
    assert "q0  about q0" in result.stdout
    assert "passed → failed: it stands at rank 7" in result.stdout
    assert "dddddddddddd…" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_compare_prints_a_gain(run: Run, good: Path, bad: Path) -> None:
    result = run("compare", bad, good, "--max-regression", "0", exits=0)
    assert "better" in result.stdout
    assert "1 query newly passing: q0" in result.stdout


def test_compare_of_a_report_with_itself_shows_no_change(run: Run, good: Path) -> None:
    result = run("compare", good, good, "--max-regression", "0", exits=0)
    assert result.stdout.count("no change") == 3
    assert "newly" not in result.stdout


def test_compare_exits_with_1_if_a_loss_exceeds_max_regression(run: Run, good: Path, bad: Path) -> None:
    result = run("compare", good, bad, "--max-regression", "0.1", exits=1)
    assert "worse" in result.stdout
    assert result.stderr.count("\n") == 3
    assert "p@5 fell by 0.400, from 0.800 to 0.400" in result.stderr
    assert run("compare", good, bad, "--max-regression", "0.5").exit_code == 0


def test_compare_with_too_few_queries_is_not_judged(run: Run) -> None:
    before, after = (
        written(report([case(f"q{position}", value) for position in range(5)]), f"{value}.json")
        for value in (0.8, 0.0)
    )
    result = run("compare", before, after, exits=0)
    assert result.stdout.count("not judged") == 4
    assert "4 of 5 trials" not in result.stdout
    limited = run("compare", before, after, "--max-regression", "0.01", exits=2)
    assert "not judged: at least 6 queries are needed" in limited.stderr
    output = run("compare", before, after, "--max-regression", "0.01", "--json", exits=2).stdout
    assert {change["verdict"] for change in json.loads(output)["changes"]} == {"not judged"}
    assert run("compare", before, before, "--max-regression", "0").exit_code == 0


def test_compare_json_is_the_comparison_alone(run: Run, good: Path, bad: Path) -> None:
    result = run("compare", good, bad, "--json", "--max-regression", "0.1", exits=1)
    comparison = json.loads(result.stdout)
    assert [change["measure"] for change in comparison["changes"]] == ["p@5", "rr_best", "ndcg@10"]
    assert comparison["newly_failing"][0]["query"] == "q0"
    assert comparison["max_regression"] == 0.1
    assert len(comparison["regressions"]) == 3
    assert json.loads(run("compare", good, bad, "--json").stdout)["max_regression"] is None


def test_compare_accepts_reports_of_real_runs(run: Run, indexed: Path) -> None:
    Path("golden.yaml").write_text(GOLDEN, encoding="utf-8")
    with Pertinent.open(indexed) as opened:
        paths = [
            save_report(opened.validate("golden.yaml", ranking=side), "out") for side in ("hybrid", "dense")
        ]
    comparison = json.loads(run("compare", *paths, "--json").stdout)
    assert comparison["n"] == 2
    assert {"name": "ranking", "baseline": "hybrid", "current": "dense"} in comparison["differences"]
    assert "robots" in run("compare", *paths).stdout


def test_compare_reports_a_new_label_first(run: Run, indexed: Path) -> None:
    Path("golden.yaml").write_text(GOLDEN, encoding="utf-8")
    relabelled = GOLDEN.replace("grade: 2}]", "grade: 2}, {page: docs/nodes.md, anchor: topics, grade: 1}]")
    Path("more.yaml").write_text(relabelled, encoding="utf-8")
    with Pertinent.open(indexed) as opened:
        paths = [save_report(opened.validate(name), "out") for name in ("golden.yaml", "more.yaml")]
    result = run("compare", *paths, "--max-regression", "0", exits=0)
    first, second, *_ = result.stdout.splitlines()
    message = "Scored with the labels of AFTER (golden set changed: 1 label added)."
    assert f"{first} {second}".strip() == message
    assert result.stdout.count("no change") == 3
    comparison = json.loads(run("compare", *paths, "--json").stdout)
    assert list(comparison)[:2] == ["golden", "scored_with"]
    assert comparison["golden_change"]["labels"] == [
        {"query": "joints", "location": "docs/nodes.md#topics", "baseline": None, "current": 1}
    ]


def test_golden_sets_without_a_common_query_are_refused(run: Run, good: Path) -> None:
    unrelated = written(report([case("x")], fingerprints={"golden": "h"}), "other.json")
    result = run("compare", good, unrelated, exits=2)
    assert result.stdout == ""
    assert "no answerable query in common" in result.stderr
    assert "queries added: x" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is not JSON"), ("[]", "is not a report"), ('{"schema_version": 9}', "another version")],
)
def test_compare_refuses_a_file_that_is_not_a_report(run: Run, good: Path, text: str, message: str) -> None:
    Path("broken.json").write_text(text, encoding="utf-8")
    result = run("compare", good, "broken.json", exits=2)
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_compare_refuses_a_missing_report(run: Run, good: Path) -> None:
    result = run("compare", good, "nowhere.json", exits=2)
    assert "nowhere.json can't be read" in result.stderr


def test_compare_removes_terminal_escapes(run: Run) -> None:
    evil = "\x1b]0;owned\x07\x1b[31mred"
    before = written(report([case("a", text=evil)]), "before.json")
    after = written(report([case("a", text=evil, status="failed", detail=evil)]), "after.json")
    output = run("compare", before, after).stdout
    assert "red" in output
    assert "\x1b" not in output
    assert "\x07" not in output


def test_compare_shortens_long_queries(run: Run) -> None:
    before = written(report([case("a", text="word " * 300)]), "before.json")
    after = written(report([case("a", text="word " * 300, status="failed")]), "after.json")
    assert run("compare", before, after).stdout.count("word") < 30
